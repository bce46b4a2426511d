/**
 * Replaces testkit/protocol/useWorld.ts in the copy. Suites with the same world maker share one world. The world serves
 * all mutants not executed by the making.
 */
import { createWorld } from "../../../testkit/protocol/world.ts";
import { alive } from "./alive.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";

type OnAChain = Pick<World, "networkHelpers">;
type Shared = { world: OnAChain; takeBack: () => Promise<void> };
const kept = new Map<unknown, Shared>();

export function useWorld(make: () => Promise<OnAChain> = createWorld): () => OnAChain {
  let world: OnAChain;
  let restore: () => Promise<void>;
  before(async function () {
    const fresh = alive.fresh.has(this.test!.parent!.fullTitle());
    const worlds = (fresh ? alive.worlds : kept) as Map<unknown, Shared>;
    let shared = worlds.get(make);
    if (shared === undefined) {
      alive.keep = !fresh;
      const made = await make().finally(() => void (alive.keep = false));
      shared = { world: made, takeBack: () => Promise.resolve() };
      // Without a mutant, the mutants executed by each test are found: each suite's own set-up must report.
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
