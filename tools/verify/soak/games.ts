import { Prng } from "../../../testkit/random/prng.ts";
import { playGames } from "../../../testkit/soak/games.ts";
import { SoakMarket } from "../../../testkit/soak/market.ts";
import { Totals } from "../../../testkit/soak/totals.ts";

/** Games on one chain: a fresh one keeps memory low, and gives a seed that shows a fault again soon. */
const GAMES_A_CHAIN = 250;

/**
 * Plays random games on embedded chains until there are at least `games`. The same seed gives the same games.
 * @param progress Called after each chain.
 */
export async function soakGames(games: number, seed: number, progress?: (totals: Totals) => void): Promise<Totals> {
  const totals = new Totals();
  for (let chain = seed; totals.games < games; chain++) {
    const market = await SoakMarket.create(new Prng(chain), totals, `--seed ${chain} --games ${GAMES_A_CHAIN}`);
    await playGames(market, Math.min(GAMES_A_CHAIN, games - totals.games));
    progress?.(totals);
  }
  return totals;
}
