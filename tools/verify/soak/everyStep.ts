/**
 * One lie in each step of the demonstration's model, each refuted on an embedded chain by the real worker and watcher
 * loops: about 3 s a step.
 */
import { Trace } from "../../../src/program/trace/trace.ts";
import { jobMarketAbi } from "../../../src/chain/abi/jobMarket.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { followMarket } from "../../../src/chain/market/session.ts";
import { cheatingExecute } from "../../../src/deploy/demo/cheat.ts";
import { gameGas } from "../../../src/deploy/demo/figures.ts";
import { PICTURE, textDirectionProgram } from "../../../src/deploy/demo/model.ts";
import { drawText } from "../../../src/deploy/demo/picture.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { estimateStepProofGas } from "../../../src/program/gas.ts";
import { first, Players } from "../../../testkit/players/players.ts";
import { readOptions } from "../../options.ts";

const program = textDirectionProgram();
const { steps } = program.model.program;
const [from = 0, to = steps.length - 1] = readOptions({}, "[FIRST [LAST]]").words.map(Number);
const inputs = [drawText("REFUTE", PICTURE.width, PICTURE.height, 4).pixels];
const executors = new FastExecutors();
const rootOf = async (execute: typeof executors.execute) =>
  new Trace(program.model.program, await execute(program.model, inputs)).root;
const honest = await rootOf(executors.execute);
const players = await Players.create();
const watcher = await players.startWatcher(await players.watcherKey(), program, executors.execute);

const tally = { refuted: 0, withoutEffect: 0, wrong: 0 };
for (let step = from; step <= to; step++) {
  const { count, dtype } = steps[step]!;
  const lie = { step, element: Math.floor(count * 0.63) };
  const execute = cheatingExecute(executors, lie);
  if (dtype !== DType.float32 || (await rootOf(execute)) === honest) {
    tally.withoutEffect++;
    continue;
  }
  const { requester, jobId, job } = await players.post(program, inputs);
  const cheat = await players.startWorker(await players.workerKey(), program, execute);
  const { claimId } = await first(watcher, "differs", (e) => e.jobId === jobId);
  await first(watcher, "moved", (e) => e.move === "prove" && e.claimId === claimId);
  await cheat.stop();
  const { market } = requester.deployment;
  await requester.sender.send({ address: market, abi: jobMarketAbi, functionName: "cancel", args: [job] });

  const game = (await followMarket(requester)()).history.claims.get(claimId)!.games[0]!;
  const found = game.proved?.step === step && Number(game.proved.element) === lie.element;
  tally[found ? "refuted" : "wrong"]++;
  const gas = await gameGas(requester, game);
  const total = gas.reduce((sum, move) => sum + move.gas, 0);
  const estimate = estimateStepProofGas(steps[step]!);
  const { operator } = program.model.origins[step]!;
  console.log(
    `step ${step} ${operator}, ${count} elements: ${found ? "refuted" : "WRONG ELEMENT"} ` +
      `in ${gas.length} transactions, ` +
      `${total} gas; proof ${gas.at(-1)!.gas}, estimated ${estimate}`,
  );
}
console.log(tally);
await watcher.stop();
await executors.close();
await players.chain.close();
process.exitCode = tally.wrong === 0 ? 0 : 1;
