/**
 * A worker's endpoint and a payer on an embedded chain: answers with signed claims, some with winning tickets. Prints
 * the gas per answer, and an answer's cost besides the execution.
 */
import type { Execute } from "../../../src/runs/execute.ts";
import { formatEther, type TransactionReceipt } from "viem";
import { compile } from "../../../src/compiler/compile.ts";
import { drawText } from "../../../src/deploy/demo/picture.ts";
import { parseDecideSpec } from "../../../src/model/decision/decideSpec.ts";
import { PADDLE_OCR_LINE } from "../../../src/model/onnx/preprocess.ts";
import { workSeconds } from "../../../src/chain/market/clock.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { prepareModel } from "../../../src/compiler/wraps/modelSpec.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { runWork } from "../../../src/program/run.ts";
import { programWork } from "../../../src/program/work.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";
import { FACE, TicketPlayers } from "../../../testkit/players/ticketPlayers.ts";
import { readOptions, whole } from "../../options.ts";

const { requests, "one-in": oneIn } = readOptions({
  requests: whole("answers", 1_000),
  "one-in": whole("a ticket wins once in so many times", 100),
});
const [WIDTH, HEIGHT] = [320, 48];

// Pictures in, the letters' numbers out: of each place the most probable one.
const own = readModel(catalogued("ppocr4_rec").bytes());
const shapes = { x: [1, HEIGHT, WIDTH, 3] };
const decide = { [own.graph.outputs[0]!.name]: parseDecideSpec("argmax") };
const { model } = prepareModel(own, { bind: {}, uint8: [PADDLE_OCR_LINE], decide, shapes });
const program = knownProgram(compile(model, { shapes }));
const executors = new FastExecutors();

/** This thread's processor time, milliseconds: other programs on the machine do not count. */
const processor = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
let [executed, executedProcessor] = [0, 0];
const timed: Execute = async (...args) => {
  const [start, used] = [performance.now(), processor()];
  const tensors = await executors.execute(...args);
  [executed, executedProcessor] = [performance.now() - start, processor() - used];
  return tensors;
};

/** How long the latest request for an answer was on its way, with all that the worker does for it. */
let asked = 0;
const { fetch } = globalThis;
globalThis.fetch = async (...args) => {
  const start = performance.now();
  const response = await fetch(...args);
  const body = await response.arrayBuffer();
  asked = performance.now() - start;
  return new Response(body, response);
};

const world = await TicketPlayers.create();
const key = await world.workerKey();
await world.setClock();
const serving = await world.serve(key, program, timed, { price: { face: FACE, oneIn } });
const { address } = serving.at.account;
const at = await world.payer(address);
const { payer, ledger } = await world.ask(at, serving.url, { limits: { face: FACE, oneIn } });

/** Claims that are out are bounded: all could be disputed at once. So many are given, then the chain's time goes on. */
const { rate, baseClock } = serving.at.session.deployment.parameters;
const seconds = workSeconds(runWork(1, programWork(program.model.program)), rate);
const batch = Math.max(1, Math.floor(baseClock / 2 / Math.max(seconds, 1)) - 1);
const following = world.follow(serving, program, executors.execute);

const answering: number[] = [];
const execution: number[] = [];
const request: number[] = [];
const beside: number[] = [];
const besideProcessor: number[] = [];
const begin = await at.session.publicClient.getBlockNumber();
for (let k = 0; k < requests; k++) {
  const { pixels } = drawText(`REFUTE ${k}`, WIDTH, HEIGHT, 2.5);
  const inputs = new RunInputs(program.model.program.inputs, { items: 1, firstItem: 0 }, [pixels]);
  const [start, used] = [performance.now(), processor()];
  const { digest } = await payer.ask(program, inputs);
  const took = performance.now() - start;
  answering.push(took);
  execution.push(executed);
  request.push(asked - executed);
  beside.push(took - executed);
  besideProcessor.push(processor() - used - executedProcessor);
  await payer.pay(digest);
  if ((k + 1) % batch === 0 || k === requests - 1) await settle();
}
await following.stop();

/** Cashes winners and lets their windows pass. */
async function settle(): Promise<void> {
  // The embedded chain has no block of now.
  await world.players.chain.advance(1);
  await serving.cashier.round();
  await world.players.chain.advance(2_000);
  await world.setClock();
  for (let round = 0; round < 400 && serving.ledger.winners().length > 0; round++) {
    await serving.cashier.round();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

let [gas, transactions] = [0n, 0];
const { publicClient } = at.session;
const end = await publicClient.getBlockNumber();
for (let number = begin + 1n; number <= end; number++) {
  const block = await publicClient.getBlock({ blockNumber: number });
  for (const hash of block.transactions) {
    const { from, gasUsed }: TransactionReceipt = await publicClient.getTransactionReceipt({ hash });
    if (from.toLowerCase() !== address.toLowerCase()) continue;
    gas += gasUsed;
    transactions++;
  }
}

const median = (all: number[]): string =>
  `${[...all].sort((a, b) => a - b)[Math.floor(all.length / 2)]!.toFixed(1)} ms`;
const earned = await at.tickets.earnings(address);
const winners = Number(earned / FACE);
console.log(`${requests} answers, ${HEIGHT} x ${WIDTH} pixels, ppocr4_rec, tickets win once in ${oneIn} times`);
console.log(
  `  at once      ${batch} answers may be out: ${seconds} s of the slowest execution each, half a clock in all`,
);
console.log(`  winners      ${winners}, ${formatEther(earned)} earned, ${transactions} transactions`);
console.log(`  gas          ${gas} in all, ${(Number(gas) / requests).toFixed(0)} an answer`);
if (winners > 0) console.log(`               ${(Number(gas) / winners).toFixed(0)} a winner`);
console.log(`  latency      ${median(answering)} an answer, of which ${median(execution)} its execution`);
console.log(
  `               beside it ${median(request)} by the worker and HTTP, ${median(beside)} with what the payer does`,
);
console.log(`               ${median(besideProcessor)} of the processor beside it, by both together`);
ledger.end();
await serving.stop();
await executors.close();
await world.close();
