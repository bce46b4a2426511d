/**
 * Dispatches a batch of pictures to four workers: one lies, one is slow and one dies. `refute job dispatch` runs in a
 * process killed now and then; on ppocr2_cls and an embedded chain. `npm run measure -- market dispatch [--items N
 * --part-items N --kills N]`
 */
import { formatEther, parseEther } from "viem";
import { cheatingExecute, chooseAlteration } from "../../../src/deploy/demo/cheat.ts";
import type { ClaimRecord, History } from "../../../src/chain/market/history.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { table } from "../../../src/base/text.ts";
import { faultsOf, playDispatch, type DispatchStory } from "../../../testkit/dispatch/story.ts";
import { Players } from "../../../testkit/players/players.ts";
import { readOptions, whole } from "../../options.ts";
import { HEIGHT, modelBytes, pictureProgram, picturesOf, WIDTH } from "./pictures.ts";

const values = readOptions({
  items: whole("pictures of the batch", 1_000),
  "part-items": whole("pictures of a part", 50),
  kills: whole("how often the dispatcher is killed", 4),
});
const { items, kills, "part-items": partItems } = values;
const LIMIT_MS = 7_200_000;
/** All read the chain in one process, with all inputs in its latest blocks: more often takes more than the rest. */
const INTERVAL_MS = 1_000;
const TOLD_MS = 60_000;

let toldAt = 0;
/** Says once a minute how far it is. */
function tell({ jobs, claims }: History): void {
  const now = performance.now();
  if (now < toldAt + TOLD_MS) return;
  toldAt = now;
  const of = (is: (claim: ClaimRecord) => boolean): number => [...claims.values()].filter(is).length;
  const seconds = `${Math.round(now / 1_000)} s, ${Math.round(process.cpuUsage().user / 1e6)} s of processor time`;
  const ends = `${of(({ finalised }) => finalised)} final, ${of(({ refuted }) => refuted)} refuted`;
  console.error(`${seconds}: ${jobs.size} jobs, ${claims.size} claims, ${ends}`);
}

const program = pictureProgram();
const inputs = picturesOf(items);
const executors = new FastExecutors();
const alteration = await chooseAlteration(executors, program, [inputs[0]!]);
const story: DispatchStory = {
  ...{ program, model: modelBytes(), inputs, partItems, openJobs: 8, fee: parseEther("0.02"), check: 0.1 },
  modelFlags: ["--shape", `x=1,${HEIGHT},${WIDTH},3`, "--uint8", "x,layout=NHWC,mean=0.5,std=0.5"],
  honest: executors.execute,
  lying: cheatingExecute(executors, alteration),
  kills: { post: Math.ceil(kills / 2), publishInput: Math.floor(kills / 2) },
  limitMs: LIMIT_MS,
  intervalMs: INTERVAL_MS,
  onLook: tell,
};
const players = await Players.create({ maxWork: 10n ** 12n });
const start = performance.now();
const result = await playDispatch(players, story);
const seconds = (performance.now() - start) / 1_000;
const { outputs, checkpoints, steps } = program.model.program;
const step = checkpoints[outputs[0]!]!.step;
const right: Uint8Array[] = [];
for (const input of inputs)
  right.push((await executors.execute(program.model, [input], (s) => s === step))[step]!.slice());
const faults = faultsOf(result, story, Buffer.concat(right));
const names = new Map(Object.entries(result.workers).map(([name, address]) => [address, name]));
const { parts, gas, checks } = result.answer;
console.log(`${items} pictures of ${steps.length} steps in parts of ${partItems}, ${seconds.toFixed(0)} s`);
const rows = parts.map((part) => [
  `${part.first} to ${part.first + part.items - 1}`,
  ...[names.get(part.worker)!, String(part.attempts), formatEther(BigInt(part.fee)), String(part.gas), part.source],
]);
console.log(table([["items", "worker", "jobs", "fee", "own gas", "bytes from"], ...rows]).join("\n"));
const claims = [...result.history.claims.values()];
const late = [...result.history.jobs.values()].reduce((sum, job) => sum + job.late.size, 0);
console.log(
  `${parts.length} parts, ${result.lives} processes of the dispatcher, ${claims.length} claims, ` +
    `${claims.filter(({ refuted }) => refuted).length} refuted, ${late} workers late; ` +
    `${checks.right! + checks.wrong!} claims checked, ${checks.wrong} wrong`,
);
console.log(`own gas ${gas}, ${Math.round(gas / items)} a picture`);
console.log(faults.length === 0 ? "all outputs are right, in order, paid once" : `WRONG: ${faults.join("; ")}`);
await executors.close();
await players.chain.close();
process.exitCode = faults.length === 0 ? 0 : 1;
