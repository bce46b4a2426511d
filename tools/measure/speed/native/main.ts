/** Compares native answers with plain onnxruntime, in turns. */
import { tensorRoot } from "../../../../src/program/merkle/tensor.ts";
import { drawInputs } from "../../../../src/native/drawnInputs.ts";
import { bytesOfNumbers } from "../../../../src/native/elements.ts";
import { measureErrors } from "../../../../src/native/measureErrors.ts";
import { nativeAnswer, type NativeProgram } from "../../../../src/native/nativeAnswer.ts";
import { Prng } from "../../../../src/base/prng.ts";
import { calibrationOf } from "../../../../testkit/native/nativePrograms.ts";
import { chosen, decimal, file, list, readOptions } from "../../../options.ts";
import { keepFigures } from "../../keepFigures.ts";
import { median } from "../median.ts";
import { NATIVE_SUBJECTS, type NativeSubject } from "./subjects.ts";

/** The exact share checked by a worker by default. */
const EXACT_SHARE = 0.05;
const FACTOR = 16;

/** Medians in milliseconds, from the inputs' bytes to the decision. */
type NativeRow = {
  model: string;
  plain: number;
  native: number;
  exact: number;
  /**
   * The processor time of all native answers, divided by all plain runs' processor time: the ratio on an otherwise idle
   * machine.
   */
  processorRatio: number;
  /** The way from the inputs' bytes to their roots. */
  hash: number;
  /** Shares of random inputs: executed exactly because of a margin; decided otherwise than by exact execution. */
  thin: number;
  differing: number;
  /** Native, with the exact execution of thin decisions and of a random share, by plain onnxruntime. */
  total: number;
  runs: number;
};

const values = readOptions({
  models: list("models to measure", Object.keys(NATIVE_SUBJECTS)),
  seconds: decimal("how long each model is measured", 8),
  json: file("a file for the figures"),
});
const rows: NativeRow[] = [];
for (const [model, open] of chosen(values.models, NATIVE_SUBJECTS, "model"))
  rows.push(await measured(model, await open(), values.seconds));
const digits = (value: number, places = 3): number => Number(value.toFixed(places));
console.table(
  rows.map(({ model, plain, native, exact, processorRatio, hash, thin, differing, total, runs }) => ({
    model,
    "plain ms": digits(plain),
    "native ms": digits(native),
    native: digits(native / plain),
    "native, cpu": digits(processorRatio),
    "exact ms": digits(exact),
    "hash inputs ms": digits(hash),
    "thin %": digits(100 * thin),
    "random exact %": 100 * EXACT_SHARE,
    "native differs %": digits(100 * differing),
    total: digits(total / plain),
    runs,
  })),
);
keepFigures(values.json, { native: rows });

async function measured(model: string, subject: NativeSubject, seconds: number): Promise<NativeRow> {
  const { opened, given } = subject;
  const { calibration, differing } = await calibrated(subject);
  const program: NativeProgram = { runtime: opened.native, calibration, outputs: opened.outputs, factor: FACTOR };
  const times: Record<"plain" | "native" | "exact" | "hash", number[]> = { plain: [], native: [], exact: [], hash: [] };
  const processor = { plain: 0, native: 0, exact: 0, hash: 0 };
  const timed = async (kind: keyof typeof times, action: () => unknown): Promise<void> => {
    const [start, before] = [performance.now(), process.cpuUsage()];
    await action();
    times[kind].push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    processor[kind] += user + system;
  };
  const end = performance.now() + 1_000 * seconds;
  const pair = [() => timed("plain", subject.plain), () => timed("native", () => nativeAnswer(program, given))];
  while (performance.now() < end) {
    // A run after exact execution finds other caches: both kinds go first in turn.
    for (const each of pair.reverse()) await each();
    await timed("exact", subject.exact);
    await timed("hash", () => given.forEach(tensorRoot));
  }
  const thin = await thinShare(program, subject);
  await subject.close();
  const [native, exact] = [median(times.native), median(times.exact)];
  const total = native + (thin + EXACT_SHARE) * exact;
  const medians = { plain: median(times.plain), native, exact, hash: median(times.hash) };
  const processorRatio = processor.native / processor.plain;
  return { model, ...medians, processorRatio, thin, differing, total, runs: times.native.length };
}

/**
 * Returns a calibration on random and searched inputs, and the share of inputs with a native decision unlike the exact
 * decision.
 */
async function calibrated({ opened, box, calibrated: { random, search } }: NativeSubject) {
  const { native, exact, signature, outputs, aligned } = opened;
  const measuring = { native, exact: exact.run, signature, outputs, box, ...(aligned && { aligned }) };
  const found = await measureErrors(measuring, { given: [], random, search, seed: 1 });
  const calibration = { ...calibrationOf(opened, box), tensors: found.tensors };
  return { calibration, differing: found.differing / (random + search) };
}

async function thinShare(
  program: NativeProgram,
  { opened: { signature }, box, drawn, isUsual }: NativeSubject,
): Promise<number> {
  const prng = new Prng(2);
  const { inputs } = signature;
  let thin = 0;
  for (let n = 0; n < drawn;) {
    const numbers = drawInputs(inputs, box, prng);
    if (!isUsual(numbers)) continue;
    const bytes = numbers.map((each, i) => bytesOfNumbers(each, inputs[i]!.dtype));
    if ((await nativeAnswer(program, bytes)).kind === "thin") thin++;
    n++;
  }
  return thin / drawn;
}
