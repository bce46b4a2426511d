/**
 * A worker's endpoint and a payer on an embedded chain: answers with signed claims, of which some tickets win. Prints
 * the gas an answer, and what an answer takes beside its execution.
 * `npm run tickets [-- --requests N] [-- --one-in N]`
 */
import { parseArgs } from "node:util";
import { formatEther, type TransactionReceipt } from "viem";
import { compile } from "../../../src/compiler/compile.ts";
import { drawText } from "../../../src/demo/picture.ts";
import { PADDLE_OCR_LINE, withImagePreprocessing } from "../../../src/onnx/preprocess.ts";
import { workSeconds } from "../../../src/market/clock.ts";
import { readModel } from "../../../src/onnx/readModel.ts";
import type { Execute } from "../../../src/player/executeRun.ts";
import { knownProgram } from "../../../src/player/execution.ts";
import { FastExecutors } from "../../../src/player/fastExecutors.ts";
import { runWork } from "../../../src/program/run.ts";
import { programWork } from "../../../src/program/work.ts";
import { RunInputs } from "../../../src/trace/runInputs.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";
import { FACE, TicketPlayers } from "../../../testkit/players/ticketPlayers.ts";

const { values } = parseArgs({ options: { requests: { type: "string" }, "one-in": { type: "string" } } });
const requests = Number(values.requests ?? 1_000);
const oneIn = Number(values["one-in"] ?? 100);
const [WIDTH, HEIGHT] = [320, 48];

const model = withImagePreprocessing(readModel(catalogued("ppocr4_rec").bytes()), PADDLE_OCR_LINE);
const program = knownProgram(compile(model, { shapes: { x: [1, HEIGHT, WIDTH, 3] } }));
const executors = new FastExecutors();
let executed = 0;
const timed: Execute = async (...args) => {
  const start = performance.now();
  const tensors = await executors.execute(...args);
  executed = performance.now() - start;
  return tensors;
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

const [whole, beside]: [number[], number[]] = [[], []];
const begin = await at.session.publicClient.getBlockNumber();
for (let k = 0; k < requests; k++) {
  const { pixels } = drawText(`REFUTE ${k}`, WIDTH, HEIGHT, 2.5);
  const inputs = new RunInputs(program.model.program.inputs, { items: 1, firstItem: 0 }, [pixels]);
  const start = performance.now();
  const { digest } = await payer.ask(program, inputs);
  const took = performance.now() - start;
  whole.push(took);
  beside.push(took - executed);
  await payer.pay(digest);
  if ((k + 1) % batch === 0 || k === requests - 1) await settle();
}
await following.stop();

/** Cashes winners and lets their windows pass. */
async function settle(): Promise<void> {
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

const median = (all: number[]): number => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)]!;
const earned = await at.tickets.earnings(address);
const winners = Number(earned / FACE);
console.log(`${requests} answers, ${HEIGHT} x ${WIDTH} pixels, ppocr4_rec, tickets win once in ${oneIn} times`);
console.log(
  `  at once      ${batch} answers may be out: ${seconds} s of the slowest execution each, half a clock in all`,
);
console.log(`  winners      ${winners}, ${formatEther(earned)} earned, ${transactions} transactions`);
console.log(`  gas          ${gas} in all, ${(Number(gas) / requests).toFixed(0)} an answer`);
if (winners > 0) console.log(`               ${(Number(gas) / winners).toFixed(0)} a winner`);
console.log(
  `  latency      ${median(whole).toFixed(1)} ms a request, ${median(beside).toFixed(1)} ms beside its execution`,
);
ledger.end();
await serving.stop();
await executors.close();
await world.close();
