import type { SoakMarket } from "./market.ts";
import { Round } from "./round.ts";

/** Rounds that are played at the same time. */
const PARALLEL = 4;

/** Plays rounds until at least so many games were opened on a chain, settles everything, and closes the chain. */
export async function playGames(market: SoakMarket, games: number): Promise<void> {
  const { totals, chain, agenda, prng } = market;
  const until = totals.games + games;
  let running = 0;
  const start = (): void => {
    running++;
    totals.jobs++;
    new Round(market).begin(chain.now + prng.below(5_000), () => {
      running--;
    });
  };
  for (;;) {
    while (running < PARALLEL && totals.games < until) start();
    const entry = agenda.next();
    if (entry === undefined) break;
    chain.at(entry.time);
    await entry.run();
  }
  if (running > 0) market.fault(`${running} jobs were never freed`);
  await market.close();
}
