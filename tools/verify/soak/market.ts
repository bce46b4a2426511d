import { Prng } from "../../../testkit/random/prng.ts";
import { playDeals } from "../../../testkit/soak/deals/play.ts";
import { Town } from "../../../testkit/soak/deals/town.ts";
import { Totals } from "../../../testkit/soak/totals.ts";

/** Deals on one chain. */
const DEALS_A_CHAIN = 250;

/**
 * Makes deals of every kind on embedded chains, until there were so many. The same seed gives the same deals.
 * @param progress Called after each chain.
 */
export async function soakMarket(deals: number, seed: number, progress?: (totals: Totals) => void): Promise<Totals> {
  const totals = new Totals();
  for (let chain = seed; totals.jobs < deals; chain++) {
    const town = await Town.create(new Prng(chain), totals, `--seed ${chain} --market ${DEALS_A_CHAIN}`);
    await playDeals(town, Math.min(DEALS_A_CHAIN, deals - totals.jobs));
    progress?.(totals);
  }
  return totals;
}
