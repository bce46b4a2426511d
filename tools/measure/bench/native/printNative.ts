import type * as ort from "onnxruntime-node";
import { decidedFile } from "../../../../src/decision/decidedFile.ts";
import { createExecutor } from "../../../../src/executor/createExecutor.ts";
import { onnxruntime } from "../../../../src/executor/engine/binding.ts";
import { tensorRoot } from "../../../../src/merkle/tensor.ts";
import { usualRange } from "../../../../src/native/box.ts";
import { drawInputs } from "../../../../src/native/drawnInputs.ts";
import { bytesOfNumbers } from "../../../../src/native/elements.ts";
import { measureErrors } from "../../../../src/native/measureErrors.ts";
import { nativeAnswer, type NativeProgram } from "../../../../src/native/nativeAnswer.ts";
import { readModel } from "../../../../src/onnx/readModel.ts";
import { Prng } from "../../../../src/prng.ts";
import { calibrationOf } from "../../../../testkit/native/nativePrograms.ts";
import { openBoth, type OpenedModel } from "../../../../testkit/native/openedModel.ts";
import { median } from "../median.ts";
import { MODELS, type Subject } from "../models.ts";

/** Models whose only output of floats is decided by an argmax over its last axis. */
const DECIDED = ["ppocr2_cls", "ppocr4_rec"] as const;
/** Inputs executed both ways: of them come the calibration, and the share of thin decisions. */
const CALIBRATED = { given: [], random: 40, search: 40, seed: 1 };
const DRAWN = 200;
/** As a worker checks if nothing else is asked for. */
const EXACT_SHARE = 0.05;
const FACTOR = 16;

/** Medians in milliseconds, from the inputs' bytes to the decision. */
export type NativeRow = {
  model: string;
  plain: number;
  native: number;
  exact: number;
  /** Of the inputs' bytes, to their roots. */
  hash: number;
  /** Shares of random inputs: executed exactly because of a margin; decided otherwise than by exact execution. */
  thin: number;
  differing: number;
  /** Native, with the exact execution of thin decisions and of a random share, by plain onnxruntime. */
  total: number;
  runs: number;
};

/** Measures native answers beside plain onnxruntime, one after the other in turns, and prints them. */
export async function printNative(seconds: number): Promise<NativeRow[]> {
  const rows: NativeRow[] = [];
  for (const model of DECIDED) rows.push(await measured(model, MODELS[model]!.load(), seconds));
  const digits = (value: number, places = 3): number => Number(value.toFixed(places));
  console.table(
    rows.map(({ model, plain, native, exact, hash, thin, differing, total, runs }) => ({
      model,
      "plain ms": digits(plain),
      "native ms": digits(native),
      native: digits(native / plain),
      "exact ms": digits(exact),
      "hash inputs ms": digits(hash),
      "thin %": digits(100 * thin),
      "random exact %": 100 * EXACT_SHARE,
      "native differs %": digits(100 * differing),
      total: digits(total / plain),
      runs,
    })),
  );
  return rows;
}

async function measured(model: string, { bytes, inputs }: Subject, seconds: number): Promise<NativeRow> {
  const own = readModel(bytes);
  const output = own.graph.outputs[0]!.name;
  const decide = { [output]: { kind: "argmax" } } as const;
  const shapes = Object.fromEntries([...inputs].map(([name, { shape }]) => [name, shape]));
  const opened = await openBoth(bytes, { decide }, shapes);
  const given = opened.compiled.inputs.map(({ name }) => inputs.get(name)!.bytes);
  const { calibration, differing } = await calibrated(opened);
  const program: NativeProgram = { runtime: opened.native, calibration, outputs: opened.outputs, factor: FACTOR };
  const plain = await openPlain(decidedFile(bytes, own, decide), opened);
  const executor = await createExecutor(opened.compiled, { threads: 1 });
  const times: Record<"plain" | "native" | "exact" | "hash", number[]> = { plain: [], native: [], exact: [], hash: [] };
  const timed = async (kind: keyof typeof times, action: () => unknown): Promise<void> => {
    const start = performance.now();
    await action();
    times[kind].push(performance.now() - start);
  };
  const end = performance.now() + 1_000 * seconds;
  while (performance.now() < end) {
    await timed("plain", () => plain.run(given));
    await timed("native", () => nativeAnswer(program, given));
    await timed("exact", () => executor.run(given, { keep: () => false, trees: new Map() }));
    await timed("hash", () => given.forEach(tensorRoot));
  }
  const thin = await thinShare(program, opened);
  await Promise.all([plain.close(), executor.close(), opened.close()]);
  const [native, exact] = [median(times.native), median(times.exact)];
  const total = native + (thin + EXACT_SHARE) * exact;
  const medians = { plain: median(times.plain), native, exact, hash: median(times.hash) };
  return { model, ...medians, thin, differing, total, runs: times.native.length };
}

/** A calibration of random and searched inputs, and the share of these whose native decision is not the exact one. */
async function calibrated(opened: OpenedModel) {
  const box = opened.compiled.inputs.map(usualRange);
  const { native, exact, signature, outputs } = opened;
  const found = await measureErrors({ native, exact: exact.run, signature, outputs, box }, CALIBRATED);
  const calibration = { ...calibrationOf(opened, box), tensors: found.tensors };
  return { calibration, differing: found.differing / (CALIBRATED.random + CALIBRATED.search) };
}

async function thinShare(program: NativeProgram, { compiled }: OpenedModel): Promise<number> {
  const prng = new Prng(2);
  let thin = 0;
  for (let n = 0; n < DRAWN; n++) {
    const numbers = drawInputs(compiled.inputs, program.calibration.box, prng);
    const bytes = numbers.map((each, i) => bytesOfNumbers(each, compiled.inputs[i]!.dtype));
    if ((await nativeAnswer(program, bytes)).kind === "thin") thin++;
  }
  return thin / DRAWN;
}

/** The decided file in onnxruntime with its default options on one thread, as anybody would run it. */
async function openPlain(file: Uint8Array, { compiled }: OpenedModel) {
  const session = await onnxruntime().InferenceSession.create(file, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const wanted = compiled.outputs.map(({ name }) => name);
  return {
    run: (given: readonly Uint8Array[]) => {
      const feeds = compiled.inputs.map(({ name, shape }, i): [string, ort.Tensor] => {
        const { buffer, byteOffset, byteLength } = Uint8Array.from(given[i]!);
        return [
          name,
          new (onnxruntime().Tensor)("float32", new Float32Array(buffer, byteOffset, byteLength / 4), shape),
        ];
      });
      return session.run(Object.fromEntries(feeds), wanted);
    },
    close: () => session.release(),
  };
}
