import { createWorld, type World } from "./world.ts";

/** One world for a test file: made once, put back after each test. Give `make` to change it before the first test. */
export function useWorld(): () => World;
export function useWorld<W extends World>(make: () => Promise<W>): () => W;
export function useWorld(make: () => Promise<World> = createWorld): () => World {
  let world: World;
  let restore: () => Promise<void>;
  before(async () => {
    world = await make();
    const snapshot = await world.networkHelpers.takeSnapshot();
    restore = () => snapshot.restore();
  });
  afterEach(() => restore());
  return () => world;
}
