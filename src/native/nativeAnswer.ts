import type { DecidedOutput } from "../model/decision/decision.ts";
import type { Calibration } from "./calibration.ts";
import { insideOf } from "./inputRange.ts";
import { judge } from "./calibrationErrors.ts";
import type { NativeResult, NativeRuntime } from "./nativeRuntime.ts";

/** A program as it is answered natively. */
export type NativeProgram = {
  runtime: NativeRuntime;
  calibration: Calibration;
  /** The outputs, all of them decided. */
  outputs: readonly DecidedOutput[];
  /** How many times the calibrated error a margin must exceed. */
  factor: number;
};

/**
 * The answer of native execution to given inputs.
 *
 * - `native`: the outputs' canonical bytes, in the program's order; all margins are thick
 * - `thin`: a decision is too close for native arithmetic
 * - `outside`: the inputs lie outside the calibration
 * - `failed`: the runtime gave no usable answer
 *
 * Without outputs, exact execution answers.
 */
export type NativeAnswer =
  { kind: "native"; outputs: readonly Uint8Array[] } | { kind: "thin" | "outside" | "failed"; reason: string };

/** @param inputs In the program's order: little-endian bytes, row-major. Their lengths are the program's. */
export async function nativeAnswer(
  { runtime, calibration, outputs, factor }: NativeProgram,
  inputs: readonly Uint8Array[],
): Promise<NativeAnswer> {
  const taken = insideOf(calibration.box, inputs);
  if (typeof taken === "string") return { kind: "outside", reason: taken };
  let result: NativeResult;
  try {
    result = await runtime.run(taken);
  } catch (error) {
    // Whatever a runtime's fault is, exact execution answers.
    return { kind: "failed", reason: (error as Error).message };
  }
  const judgement = judge(outputs, calibration.tensors, result.deciding, factor);
  return judgement.kind === "thin" ? judgement : { kind: "native", outputs: result.outputs };
}
