/**
 * A batch of pictures over four workers, of which one lies, one is slow and one dies, by `refute job dispatch` as a
 * process that is killed now and then; on ppocr2_cls and an embedded chain.
 * `npm run dispatch [-- --items N --part-items N --kills N]`
 */
import { parseArgs } from "node:util";
import { formatEther, parseEther } from "viem";
import { compile } from "../../../src/compiler/compile.ts";
import { cheatingExecute, chooseAlteration } from "../../../src/deploy/demo/cheat.ts";
import { drawText, turned } from "../../../src/deploy/demo/picture.ts";
import type { ClaimRecord, History } from "../../../src/chain/market/history.ts";
import { PADDLE_OCR_LINE, withImagePreprocessing } from "../../../src/model/onnx/preprocess.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { table } from "../../../src/base/text.ts";
import { faultsOf, playDispatch, type DispatchStory } from "../../../testkit/dispatch/story.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";
import { Players } from "../../../testkit/players/players.ts";

const { values } = parseArgs({
  options: {
    items: { type: "string", default: "1000" },
    "part-items": { type: "string", default: "50" },
    kills: { type: "string", default: "4" },
  },
});
const [items, partItems, kills] = [values.items, values["part-items"], values.kills].map(Number) as [
  number,
  number,
  number,
];
const [WIDTH, HEIGHT] = [192, 48];
const LIMIT_MS = 7_200_000;
/** All read the chain in one process, with all inputs in its latest blocks: more often takes more than the rest. */
const INTERVAL_MS = 1_000;
const TOLD_MS = 60_000;

/** A word of its own for each item; every third picture is upside down. */
function pixelsOf(item: number): Uint8Array {
  const letter = (place: number): string => String.fromCharCode(65 + (Math.floor(item / 26 ** place) % 26));
  const drawn = drawText(`REFUTE ${[3, 2, 1, 0].map(letter).join("")}`, WIDTH, HEIGHT, 2.5);
  return (item % 3 === 0 ? turned(drawn) : drawn).pixels;
}

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

const bytes = catalogued("ppocr2_cls").bytes();
const model = withImagePreprocessing(readModel(bytes), PADDLE_OCR_LINE);
const program = knownProgram(compile(model, { shapes: { x: [1, HEIGHT, WIDTH, 3] }, run: { batch: true } }));
const inputs = Array.from({ length: items }, (_, item) => pixelsOf(item));
const executors = new FastExecutors();
const alteration = await chooseAlteration(executors, program, [inputs[0]!]);
const story: DispatchStory = {
  ...{ program, model: bytes, inputs, partItems, openJobs: 8, fee: parseEther("0.02"), check: 0.1 },
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
