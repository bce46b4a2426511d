/**
 * Random tests that run for as long as wanted.
 * - `npm run soak -- [--minutes N] [--seed S]`: random steps, programs and ONNX graphs. The definition, the executors
 *   and the on-chain verifier must agree.
 * - `npm run soak -- --games N [--seed S]`: random disputes on an embedded chain. Every verdict must be right, and no
 *   honest party may lose money.
 * - `npm run soak -- --market N [--seed S]`: at least N jobs on a market on which anybody may lie: with terms and
 *   without, panels, answers with tickets. No wrong result may become final where somebody honest looks, and no honest
 *   party may lose money.
 * - `npm run soak -- --reorgs`: reorganisations of 1 to 20 blocks after each transaction of a game; with `--depths N`,
 *   N of the 20 depths after each.
 * - `npm run soak -- --siege N [--bonds B]`: N wrong claims at once against one watcher with money for B bonds.
 * - `npm run soak -- --trainers N [--seed S]`: N rounds of the six dishonest workers of training runs.
 * - `npm run soak -- --kills`: the processes of a worker and a watcher are killed after each transaction, then
 *   restarted.
 * - `npm run soak -- --nodes [--seeds N] [--seed S] [--only NAMES]`: worker, watcher and liar as processes, against
 *   anvil behind faulty nodes: every scenario, with N seeds.
 * - `npm run soak -- --day [--seed S]`: 10,000 blocks and 500 jobs for the processes of a worker and a watcher, and
 *   their memory on the way.
 * - `npm run soak -- --operators N [--seed S]`: N random experiments of each family of operators, against onnxruntime.
 * - `npm run soak -- --hostile N [--seed S]`: N models that nobody honest writes: each must end in a refusal, or in a
 *   program that the definition and the fast executor execute with the same bits.
 * - `npm run soak -- --models`: the models of the catalogue in full size are examined; then all of them must have the
 *   same bits on every executor.
 * - `npm run soak -- --function NAME [--stride N]`: an elementary kernel on all float32 (every N-th), against another
 *   library and the definition.
 */
import { parseArgs } from "node:util";
import { LARGE } from "../../../testkit/models/catalogue.ts";
import { printModels } from "../../measure/models/print.ts";
import { soakDay } from "./day.ts";
import { soakFunction } from "./functions.ts";
import { soakGames } from "./games.ts";
import { soakHostile } from "./hostile.ts";
import { soakKills } from "./kills.ts";
import { soakMarket } from "./market.ts";
import { soakModels } from "./models.ts";
import { soakNodes } from "./nodes.ts";
import { soakOperators } from "./operators.ts";
import { soakReorgs } from "./reorgs.ts";
import { soakSiege } from "./siege.ts";
import { soakSteps } from "./steps.ts";
import { soakTrainers } from "./trainers.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    games: { type: "string" },
    operators: { type: "string" },
    hostile: { type: "string" },
    function: { type: "string" },
    stride: { type: "string", default: "1" },
    models: { type: "boolean", default: false },
    kills: { type: "boolean", default: false },
    nodes: { type: "boolean", default: false },
    day: { type: "boolean", default: false },
    seeds: { type: "string", default: "10" },
    only: { type: "string" },
    reorgs: { type: "boolean", default: false },
    siege: { type: "string" },
    market: { type: "string" },
    trainers: { type: "string" },
    bonds: { type: "string", default: "3" },
    depths: { type: "string", default: "20" },
    seed: { type: "string" },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
if (values.models) {
  const { clean } = await printModels(LARGE, 32);
  process.exit((await soakModels()) && clean ? 0 : 1);
}
// Always the same seeds, so that a campaign that was stopped goes on.
if (values.nodes) process.exit((await soakNodes(Number(values.seeds), Number(values.seed ?? 1), values.only)) ? 0 : 1);
if (values.day) process.exit((await soakDay(Number(values.seed ?? 1))) ? 0 : 1);
if (values.kills) process.exit((await soakKills()) ? 0 : 1);
if (values.reorgs) {
  const totals = await soakReorgs(Number(values.depths), ({ playthroughs, wrong }) =>
    console.log(`${playthroughs} reorganisations, ${wrong.length} wrong`),
  );
  console.log(totals.report());
  process.exit(totals.wrong.length === 0 ? 0 : 1);
}
if (values.siege !== undefined) process.exit((await soakSiege(Number(values.siege), BigInt(values.bonds))) ? 0 : 1);
if (values.trainers !== undefined) {
  console.log(`seed ${seed}`);
  process.exit((await soakTrainers(Number(values.trainers), seed)) ? 0 : 1);
}
if (values.market !== undefined) {
  console.log(`seed ${seed}`);
  const totals = await soakMarket(Number(values.market), seed, ({ jobs, wrong }) =>
    console.log(`${jobs} jobs, ${wrong.length} faults`),
  );
  console.log(totals.report());
  process.exit(totals.passed ? 0 : 1);
}
if (values.function !== undefined) process.exit(soakFunction(values.function, Number(values.stride)) ? 0 : 1);
if (values.operators !== undefined) {
  console.log(`seed ${seed}`);
  process.exit((await soakOperators(Number(values.operators), seed)) ? 0 : 1);
}
if (values.hostile !== undefined) {
  console.log(`seed ${seed}`);
  process.exit((await soakHostile(Number(values.hostile), seed)) ? 0 : 1);
}
if (values.games === undefined) process.exit((await soakSteps(Number(values.minutes), seed)) ? 0 : 1);
console.log(`seed ${seed}`);
const totals = await soakGames(Number(values.games), seed, ({ games, wrong }) =>
  console.log(`${games} games, ${wrong.length} wrong`),
);
console.log(totals.report());
process.exit(totals.passed ? 0 : 1);
