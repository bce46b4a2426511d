/**
 * Random tests for any wanted time. By default random steps, programs and ONNX graphs: the definition, the executors
 * and the on-chain verifier must agree. An option chooses another campaign.
 */
import { LARGE } from "../../../testkit/models/catalogue.ts";
import { printModels } from "../../measure/models/print.ts";
import { decimal, flag, readOptions, text, whole } from "../../options.ts";
import { soakDay } from "./day.ts";
import { soakFunction } from "./functions.ts";
import { soakGames } from "./games.ts";
import { soakGpu } from "./gpu.ts";
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

const values = readOptions({
  minutes: decimal("how long random steps, programs and graphs are tried", 5),
  games: whole("N random disputes on an embedded chain: right verdicts, and nobody honest loses money"),
  market: whole("at least N jobs with terms and without, panels, answers with tickets, on a market full of liars"),
  reorgs: flag("reorganisations of 1 to 20 blocks after each transaction of a game"),
  depths: whole("so many of the 20 depths after each transaction, for --reorgs", 20),
  siege: whole("N wrong claims at once against one watcher with little money"),
  bonds: whole("so many bonds can be paid by the watcher of --siege", 3),
  trainers: whole("N rounds of the six dishonest workers of training runs"),
  kills: flag("processes of a worker and a watcher, killed after each transaction and started again"),
  nodes: flag("worker, watcher and liar as processes, on anvil behind faulty nodes: every scenario"),
  seeds: whole("seeds of each scenario, for --nodes", 10),
  only: text("words of scenarios, separated by semicolons, for --nodes"),
  day: flag("10,000 blocks and 500 jobs: the memory of a worker's and a watcher's process"),
  operators: whole("N random experiments of each family of operators, against onnxruntime"),
  hostile: whole("N models that nobody honest writes: each ends in a refusal, or in a program with one result"),
  after: whole(
    "hostile attributes that --hostile leaves out: those of a campaign that was stopped, with its --seed",
    0,
  ),
  models: flag("the largest models in full; then all models on every executor"),
  function: text("an elementary kernel on all float32, against another library and the definition"),
  stride: whole("one of so many float32, for --function", 1),
  gpu: text(
    "what a GPU computes, with the definition's bits? programs, experiments, points or strided, from number --seed on",
  ),
  count: whole("so many of them, for --gpu", 100),
  seed: whole("seed of all random choices; by default another one each time, 1 for --nodes, --day and --gpu"),
});
// A campaign that was stopped goes on with the same seeds.
const fixedSeed = values.seed ?? 1;
const seed = values.seed ?? Date.now() % 2 ** 31;

process.exit((await soak()) ? 0 : 1);

/** @returns whether nothing was wrong */
async function soak(): Promise<boolean> {
  if (values.models) {
    const { clean } = await printModels(LARGE, 32);
    return (await soakModels()) && clean;
  }
  if (values.nodes) return soakNodes(values.seeds, fixedSeed, values.only);
  if (values.day) return soakDay(fixedSeed);
  if (values.kills) return soakKills();
  if (values.reorgs) return reorgs(values.depths);
  if (values.siege !== undefined) return soakSiege(values.siege, BigInt(values.bonds));
  if (values.gpu !== undefined) return soakGpu(values.gpu, fixedSeed, values.count);
  if (values.function !== undefined) return soakFunction(values.function, values.stride);
  console.log(`seed ${seed}`);
  if (values.trainers !== undefined) return soakTrainers(values.trainers, seed);
  if (values.market !== undefined) return market(values.market);
  if (values.operators !== undefined) return soakOperators(values.operators, seed);
  if (values.hostile !== undefined) return soakHostile(values.hostile, seed, values.after);
  if (values.games !== undefined) return games(values.games);
  return soakSteps(values.minutes, seed);
}

async function reorgs(depths: number): Promise<boolean> {
  const totals = await soakReorgs(depths, ({ playthroughs, wrong }) =>
    console.log(`${playthroughs} reorganisations, ${wrong.length} wrong`),
  );
  console.log(totals.report());
  return totals.wrong.length === 0;
}

async function market(jobs: number): Promise<boolean> {
  const totals = await soakMarket(jobs, seed, (now) => console.log(`${now.jobs} jobs, ${now.wrong.length} faults`));
  console.log(totals.report());
  return totals.passed;
}

async function games(count: number): Promise<boolean> {
  const totals = await soakGames(count, seed, (now) => console.log(`${now.games} games, ${now.wrong.length} wrong`));
  console.log(totals.report());
  return totals.passed;
}
