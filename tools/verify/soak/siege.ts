import { Arena } from "../../../testkit/adversaries/arena.ts";
import { besiege, type SiegeTerms } from "../../../testkit/adversaries/watcherSiege.ts";

/**
 * Plays sieges: many wrong claims at once against a watcher with little money. The liar concedes at once, or defends
 * each claim to the end.
 * @returns Whether all claims were refuted, by one game each, and the watcher lost nothing.
 */
export async function soakSiege(claims: number, bonds: bigint): Promise<boolean> {
  let passed = true;
  for (const liar of ["concedes", "defends"] as const) passed = (await play({ claims, bonds, liar })) && passed;
  return passed;
}

async function play(terms: SiegeTerms): Promise<boolean> {
  const arena = await Arena.create();
  const start = performance.now();
  const { refuted, items, opened, lost, executions, held, gain, purse } = await besiege(arena, terms);
  const disorder = Math.max(...opened.map((place, k) => Math.abs(place - k)));
  const seconds = Math.round((performance.now() - start) / 1_000);
  await arena.close();
  console.log(
    [
      `${terms.claims} wrong claims at once, a purse of ${terms.bonds} bonds, the liar ${terms.liar}`,
      `  refuted             ${refuted}, in ${opened.length} games, ${lost} lost`,
      `  order               at most ${disorder} places from that of the windows; the purse was ${purse} bonds at last`,
      `  executions          ${executions} of ${items} items, at most ${held} in memory at once`,
      `  the watcher gained  ${(Number(gain) / 1e18).toFixed(6)} ether, gas paid`,
      `  time                ${seconds} s, ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB with the chain`,
    ].join("\n"),
  );
  return refuted === terms.claims && opened.length === terms.claims && lost === 0 && gain >= 0n;
}
