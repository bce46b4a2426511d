import { Players } from "./players.ts";

/** Players with a chain of their own, for each test of a suite or for the whole suite. */
export function usePlayers(scope: "test" | "suite"): () => Players {
  let players: Players;
  const start = async (): Promise<void> => void (players = await Players.create());
  const stop = (): Promise<void> => players.chain.close();
  if (scope === "test") {
    beforeEach(start);
    afterEach(stop);
  } else {
    before(start);
    after(stop);
  }
  return () => players;
}
