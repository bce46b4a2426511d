import type { DecidedOutput } from "../model/decision/decision.ts";
import type { DecidingTensor, Margin } from "../model/decision/margin.ts";
import { Prng } from "../base/prng.ts";
import type { Box } from "./inputRange.ts";
import { canonical } from "./canonical.ts";
import { changedInputs, drawInputs, type InputNumbers } from "./drawnInputs.ts";
import { bytesOfNumbers, numbersOf } from "./elements.ts";
import { errorOf, isSettled, marginOf, neededMargin, type TensorError } from "./calibrationErrors.ts";
import { CalibrationError } from "./errors.ts";
import type { NativeResult, NativeRuntime, NativeSignature } from "./nativeRuntime.ts";
import { apart } from "./tensorErrors.ts";

/** The means for measuring errors. */
export type Measuring = {
  native: NativeRuntime;
  /** The same by exact execution. */
  exact: (inputs: readonly Uint8Array[]) => Promise<NativeResult>;
  signature: NativeSignature;
  outputs: readonly DecidedOutput[];
  box: Box;
  /**
   * Returns the comparable parts of an exact and a native result, if a difference changes everything afterwards. If
   * absent, all parts are compared.
   */
  aligned?: (
    inputs: readonly Uint8Array[],
    results: readonly [NativeResult, NativeResult],
  ) => readonly [NativeResult, NativeResult];
};

/** The inputs to measure: given inputs, a number of random inputs, and a number found by climbing from the worst. */
export type MeasuredInputs = {
  given: readonly (readonly Uint8Array[])[];
  random: number;
  search: number;
  seed: number;
};

/** The results of measuring. */
type Measured = {
  tensors: TensorError[];
  inputs: { given: number; random: number; searched: number };
  /** How often outputs differed; how often all margins are thick by a factor; and how often both. */
  differing: number;
  thick: (factor: number) => { all: number; differing: number };
};

/** A climb that found nothing worse for so many steps begins anew, from random inputs. */
const PATIENCE = 48;

/** The worst inputs for a deciding tensor, and the tensor's error there. */
type Climb = { inputs: InputNumbers; relative: number; idle: number };

/**
 * Executes inputs both ways and measures the distance between the deciding tensors. The search climbs: for each tensor
 * in turn, it changes the inputs with the tensor's largest relative error, and continues from worse inputs.
 * @param progress Receives the number of executed inputs, and the total.
 * @throws NativeRuntimeError, CalibrationError, and the errors of exact execution
 */
export async function measureErrors(
  { native, exact, signature, outputs, box, aligned = (_, results) => results }: Measuring,
  { given, random, search, seed }: MeasuredInputs,
  progress: (done: number, total: number) => void = () => undefined,
): Promise<Measured> {
  const { inputs: infos, deciding } = signature;
  const prng = new Prng(seed);
  const decisions = outputs.flatMap((output) => output.decisions);
  const errors = deciding.map((info) => ({ ...info, relative: 0, absolute: 0 }));
  const climbs: (Climb | undefined)[] = deciding.map(() => undefined);
  /** For each input: each decision's margin, and whether an output differed. */
  const seen: { margins: Margin[]; differs: boolean }[] = [];
  /** Tensors whose error was measured, or that were the same to the bit each time. */
  const [finite, unequal] = [new Set<string>(), new Set<string>()];
  const total = given.length + random + search;

  /** @returns the relative error for each deciding tensor */
  const measure = async (bytes: readonly Uint8Array[]): Promise<number[]> => {
    const [own, other] = aligned(bytes, [await exact(bytes), await native.run(bytes)]);
    const differs = own.outputs.some((output, k) => Buffer.compare(output, other.outputs[k]!) !== 0);
    seen.push({ margins: decisions.map((decision) => marginOf(decision, other.deciding)), differs });
    progress(seen.length, total);
    return errors.map((error) => {
      const [a, b] = [other.deciding.get(error.name)!, own.deciding.get(error.name)!] as [
        DecidingTensor,
        DecidingTensor,
      ];
      const found = apart(error.name, a, b);
      if (found !== undefined) finite.add(error.name);
      else if (!isSame(a, b)) unequal.add(error.name);
      const { relative, absolute } = found ?? { relative: 0, absolute: 0 };
      error.relative = Math.max(error.relative, relative);
      error.absolute = Math.max(error.absolute, absolute);
      return relative;
    });
  };
  const bytesOf = (numbers: InputNumbers): Uint8Array[] =>
    numbers.map((each, i) => bytesOfNumbers(each, infos[i]!.dtype));
  /** Begins climbs at inputs with larger errors than before. */
  const note = (numbers: InputNumbers, relative: readonly number[]): void =>
    relative.forEach((error, t) => {
      if (climbs[t] === undefined || error > climbs[t].relative)
        climbs[t] = { inputs: numbers, relative: error, idle: 0 };
    });

  for (const bytes of given)
    note(
      bytes.map((each, i) => numbersOf(each, infos[i]!.dtype)),
      await measure(bytes.map((each, i) => canonical(each, infos[i]!.dtype))),
    );
  for (let n = 0; n < random; n++) {
    const numbers = drawInputs(infos, box, prng);
    note(numbers, await measure(bytesOf(numbers)));
  }
  for (let n = 0; n < search; n++) {
    // Where no tensor decides there is nothing to climb, and outputs are compared all the same.
    const t = n % Math.max(deciding.length, 1);
    const climb = climbs[t];
    const isNew = climb === undefined || climb.idle >= PATIENCE;
    const numbers = isNew ? drawInputs(infos, box, prng) : changedInputs(climb.inputs, box, prng);
    const relative = (await measure(bytesOf(numbers)))[t] ?? 0;
    if (isNew || relative > climb.relative) climbs[t] = { inputs: numbers, relative, idle: 0 };
    // The climb also continues from equally bad inputs: rounding errors have few values.
    else climbs[t] = { ...climb, ...(relative === climb.relative && { inputs: numbers }), idle: climb.idle + 1 };
  }
  const isConstant = (name: string): boolean =>
    decisions.every(({ tensors, constant }) => constant === true || !tensors.includes(name));
  for (const { name } of errors)
    if (!finite.has(name) && (unequal.has(name) || !isConstant(name)))
      throw new CalibrationError(
        `${name} was NaN or infinite on all inputs, so that no error of it is known; calibrate on a smaller range of ` +
          "inputs (--range)",
      );
  const known = new Map(errors.map((error) => [error.name, error]));
  const thick = (factor: number): { all: number; differing: number } => {
    const worst = decisions.map((decision) => errorOf(decision, known));
    const settled = decisions.map((decision) => isSettled(decision, known));
    const isThick = ({ margin, scale }: Margin, k: number): boolean =>
      settled[k]! || margin > neededMargin(worst[k]!, scale, factor);
    const sure = seen.filter(({ margins }) => margins.every(isThick));
    return { all: sure.length, differing: sure.filter(({ differs }) => differs).length };
  };
  return {
    tensors: errors,
    inputs: { given: given.length, random, searched: search },
    differing: seen.filter(({ differs }) => differs).length,
    thick,
  };
}

/** Whether two tensors have the same values, NaN and the sign of zero included. */
const isSame = (a: DecidingTensor, b: DecidingTensor): boolean =>
  a.data.length === b.data.length && a.data.every((value: number, i: number) => Object.is(value, b.data[i]));
