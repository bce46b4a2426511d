import { usualRange, type Box } from "../../../src/native/inputRange.ts";
import { drawInputs, type InputNumbers } from "../../../src/native/drawnInputs.ts";
import { bytesOfNumbers } from "../../../src/native/elements.ts";
import type { TensorError } from "../../../src/native/calibrationErrors.ts";
import { measureErrors, type Measuring } from "../../../src/native/measureErrors.ts";
import { nativeAnswer, type NativeProgram } from "../../../src/native/nativeAnswer.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { calibrationOf } from "../../../testkit/native/nativePrograms.ts";
import type { OpenedModel } from "../../../testkit/native/openedModel.ts";
import type { Subject } from "./subjects.ts";
import type { Seen } from "./tally.ts";

/** Inputs like those of jobs, and as many random ones, on which a calibration is made. */
export const CALIBRATED = 32;

/** The box of a model's inputs. */
export const boxOf = (subject: Subject, { inputs }: CompiledModel): Box =>
  inputs.map((input) => ({ ...usualRange(input), ...subject.ranges[input.name] }));

/** Numbers as inputs' bytes, in the program's order. */
export const bytesOf = (numbers: InputNumbers, { inputs }: CompiledModel): Uint8Array[] =>
  numbers.map((each, i) => bytesOfNumbers(each, inputs[i]!.dtype));

/** What errors of an opened model are measured with. */
const measuringOf = ({ native, exact, signature, outputs }: OpenedModel, box: Box): Measuring => ({
  ...{ native, signature, outputs, box },
  exact: exact.run,
});

/** How far the tensors that decide are apart, as `refute model calibrate` finds it. @param search Inputs searched. */
export async function calibratedErrors(subject: Subject, opened: OpenedModel, search: number, seed: number) {
  const prng = new Prng(seed);
  const given = Array.from({ length: CALIBRATED }, () => bytesOf(subject.real(prng), opened.compiled));
  const measuring = measuringOf(opened, boxOf(subject, opened.compiled));
  const { tensors } = await measureErrors(measuring, { given, random: CALIBRATED, search, seed });
  return tensors;
}

/** An opened model as a worker answers it natively. */
export const programOf = (opened: OpenedModel, box: Box, errors: readonly TensorError[], factor: number) =>
  ({
    runtime: opened.native,
    calibration: { ...calibrationOf(opened, box), tensors: errors },
    outputs: opened.outputs,
    factor,
  }) satisfies NativeProgram;

/** The inputs of an answer: in turns random ones of the box, and ones like those of jobs. */
export function inputsOf(subject: Subject, { inputs }: CompiledModel, box: Box, seed: number, answer: number) {
  // Neighbouring seeds of the generator give the same numbers, shifted.
  const prng = new Prng(new Prng(seed ^ Math.imul(answer + 1, 0x9e3779b1)).uint32());
  return answer % 2 === 0 ? drawInputs(inputs, box, prng) : subject.real(prng);
}

/** Answers inputs natively, as a worker does, and exactly. */
export async function seenOf(
  program: NativeProgram,
  { exact }: OpenedModel,
  bytes: readonly Uint8Array[],
): Promise<Seen> {
  const answer = await nativeAnswer(program, bytes);
  if (answer.kind === "outside" || answer.kind === "failed") return { kind: answer.kind, differs: false };
  const outputs = answer.kind === "native" ? answer.outputs : (await program.runtime.run(bytes)).outputs;
  return { kind: answer.kind, differs: areDifferent((await exact.run(bytes)).outputs, outputs) };
}

/** Whether any output differs. */
export const areDifferent = (a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean =>
  a.some((bytes, k) => Buffer.compare(bytes, b[k]!) !== 0);
