import { DEEPEST, KEPT_NAMES, pointsOf, ReorgTotals } from "../../../testkit/disturbances/reorgs.ts";
import { Stage } from "../../../testkit/disturbances/stage.ts";
import { THE_END } from "../../../testkit/disturbances/playthrough.ts";

/** Tellings on one chain: a fresh one keeps memory low. */
const TELLINGS_A_CHAIN = 200;

/**
 * Tells every story with reorganisations after each of its transactions and after its end, and goes through what can become of the
 * transactions taken back.
 * @param depths How many of the depths from 1 to 20 are tried at each point; others at the next one.
 * @param progress Called now and then.
 */
export async function soakReorgs(depths = DEEPEST, progress?: (totals: ReorgTotals) => void): Promise<ReorgTotals> {
  let stage = await Stage.create();
  const totals = new ReorgTotals();
  let number = 0;
  for (const { story, calls } of await pointsOf(stage)) {
    for (const [point, call] of [...calls.entries(), [THE_END, "the end"] as const]) {
      for (let k = 0; k < depths; k++) {
        // 7 shares no factor with the 20 depths, so that neighbouring points have each another one.
        const depth = 1 + ((7 * number + k) % DEEPEST);
        const kept = KEPT_NAMES[(number + k) % KEPT_NAMES.length]!;
        await totals.tell(stage, { story, point, depth, kept }, call);
        if (totals.tellings % TELLINGS_A_CHAIN > 0) continue;
        progress?.(totals);
        await stage.close();
        stage = await Stage.create();
      }
      number++;
    }
  }
  await stage.close();
  return totals;
}
