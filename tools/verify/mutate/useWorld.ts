/**
 * Stands in for testkit/protocol/useWorld.ts in the copy: suites whose worlds are made in one way share one, which
 * serves all mutants that its making does not pass.
 */
import { createWorld, type World } from "../../../testkit/protocol/world.ts";
import { alive } from "./alive.ts";

type Shared = { world: World; takeBack: () => Promise<void> };
const kept = new Map<unknown, Shared>();

export function useWorld(make: () => Promise<World> = createWorld): () => World {
  let world: World;
  let restore: () => Promise<void>;
  before(async function () {
    const fresh = alive.fresh.has(this.test!.parent!.fullTitle());
    const worlds = (fresh ? alive.worlds : kept) as Map<unknown, Shared>;
    let shared = worlds.get(make);
    if (shared === undefined) {
      alive.keep = !fresh;
      const made = await make().finally(() => void (alive.keep = false));
      shared = { world: made, takeBack: () => Promise.resolve() };
      // What passes which mutant is noted without any: each suite's set-up is to be heard.
      if (alive.id !== 0) worlds.set(make, shared);
    } else {
      await shared.takeBack();
    }
    world = shared.world;
    const made = await world.networkHelpers.takeSnapshot();
    shared.takeBack = () => made.restore();
    // Calls see the coinbase of the last block.
    await world.networkHelpers.setCoinbase(alive.coinbase());
    await world.networkHelpers.mine();
    const ready = await world.networkHelpers.takeSnapshot();
    restore = () => ready.restore();
  });
  afterEach(() => restore());
  return () => world;
}
