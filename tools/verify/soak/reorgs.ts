import { DEEPEST, KEPT_NAMES, pointsOf, ReorgTotals } from "../../../testkit/disturbances/reorgs.ts";
import { Setup } from "../../../testkit/disturbances/setup.ts";
import { AFTER_END } from "../../../testkit/disturbances/playthrough.ts";

/** Playthroughs on one chain: a new chain keeps memory low. */
const PLAYTHROUGHS_PER_CHAIN = 200;

/** Called now and then with the results so far. */
type Progress = (totals: ReorgTotals) => void;

/**
 * Plays every scenario with reorganisations after each transaction and after the end. The node treats the removed
 * transactions in each possible way, in turn.
 * @param depths How many depths from 1 to 20 are tried at each point; the next point tries others.
 */
export async function soakReorgs(depths = DEEPEST, progress?: Progress): Promise<ReorgTotals> {
  let setup = await Setup.create();
  const totals = new ReorgTotals();
  let number = 0;
  for (const { scenario, calls } of await pointsOf(setup)) {
    for (const point of [...calls.keys(), AFTER_END]) {
      for (let k = 0; k < depths; k++) {
        // 7 shares no factor with the 20 depths, so that neighbouring points get different ones.
        const depth = 1 + ((7 * number + k) % DEEPEST);
        const kept = KEPT_NAMES[(number + k) % KEPT_NAMES.length]!;
        await totals.play(setup, { scenario, point, depth, kept }, calls[point] ?? "the end");
        if (totals.playthroughs % PLAYTHROUGHS_PER_CHAIN > 0) continue;
        progress?.(totals);
        await setup.close();
        setup = await Setup.create();
      }
      number++;
    }
  }
  await setup.close();
  return totals;
}
