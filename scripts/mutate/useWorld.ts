/** Stands in for test-support/protocol/useWorld.ts in the copy: a world is made once for all mutants that its making does not pass. */
import { createWorld, type World } from "../../test-support/protocol/world.ts";
import { alive } from "./alive.ts";

export function useWorld(make: () => Promise<World> = createWorld): () => World {
  let kept: World | undefined;
  let takeBack: () => Promise<void>;
  let world: World;
  let restore: () => Promise<void>;
  before(async () => {
    if (alive.fresh) world = await make();
    else if (kept === undefined) {
      alive.keep = true;
      world = kept = await make();
      alive.keep = false;
    } else {
      world = kept;
      await takeBack();
    }
    if (!alive.fresh) {
      const made = await world.networkHelpers.takeSnapshot();
      takeBack = () => made.restore();
    }
    // Calls see the coinbase of the last block.
    await world.networkHelpers.setCoinbase(alive.coinbase());
    await world.networkHelpers.mine();
    const ready = await world.networkHelpers.takeSnapshot();
    restore = () => ready.restore();
  });
  afterEach(() => restore());
  return () => world;
}
