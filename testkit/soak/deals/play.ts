import { JobDeal } from "./jobDeal.ts";
import { PanelDeal } from "./panelDeal.ts";
import { TicketDeal } from "./ticketDeal.ts";
import type { Town } from "./town.ts";

/** Deals that are made at the same time. */
const PARALLEL = 8;

/** Makes so many deals in a town, lets everything end, judges what everybody has, and closes the chain. */
export async function playDeals(town: Town, deals: number): Promise<void> {
  const { market } = town;
  const { chain, agenda, prng } = market;
  let [running, begun] = [0, 0];
  const start = (): void => {
    running++;
    begun++;
    dealOf(town, begun).begin(chain.now + prng.below(5_000), () => running--);
  };
  for (;;) {
    while (running < PARALLEL && begun < deals) start();
    const entry = agenda.next();
    if (entry === undefined) break;
    chain.at(entry.time);
    // Read-only calls see the latest block's time.
    await chain.mine(1);
    await entry.run();
  }
  if (running > 0) market.fault(`${running} deals never ended`);
  await town.close();
}

/** A deal of any kind: most are single jobs. The first few are of each kind. @param number From 1 on */
function dealOf(town: Town, number: number): JobDeal | PanelDeal | TicketDeal {
  const { prng } = town.market;
  if (number === 1 || prng.below(12) === 0) return new TicketDeal(town);
  return number === 2 || prng.below(8) === 0 ? new PanelDeal(town) : new JobDeal(town);
}
