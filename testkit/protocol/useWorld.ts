import { createWorld } from "./world.ts";
import type { World } from "./deployWorld.ts";

type OnAChain = Pick<World, "networkHelpers">;

/**
 * One world for a test file: made once, put back after each test, with the time.
 * @param make Makes it: the protocol's world, or that with changes, or another on a chain of its own.
 */
export function useWorld(): () => World;
export function useWorld<W extends OnAChain>(make: () => Promise<W>): () => W;
export function useWorld(make: () => Promise<OnAChain> = createWorld): () => OnAChain {
  let world: OnAChain;
  let restore: () => Promise<void>;
  before(async () => {
    world = await make();
    const snapshot = await world.networkHelpers.takeSnapshot();
    restore = () => snapshot.restore();
  });
  afterEach(() => restore());
  return () => world;
}
