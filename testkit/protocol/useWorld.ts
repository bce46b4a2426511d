import { createWorld } from "./world.ts";
import type { World } from "./deployWorld.ts";

type OnAChain = Pick<World, "networkHelpers">;

/**
 * Returns a world for a test file. The function makes the world once and restores the world after each test, including
 * the time.
 * @param make Makes the world: the protocol's world, a changed world, or another world on a separate chain.
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
