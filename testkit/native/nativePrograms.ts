import type { Calibration } from "../../src/native/calibration.ts";
import type { NativeResult, NativeRuntime } from "../../src/native/nativeRuntime.ts";
import type { Box } from "../../src/native/inputRange.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import type { NativePrograms } from "../../src/runs/native/nativeJobs.ts";
import type { OpenedModel } from "./openedModel.ts";

/** A calibration that was not measured: errors of a float32 network of some layers. */
export const calibrationOf = ({ compiled, signature, native, box: own }: OpenedModel, box?: Box): Calibration => ({
  programRoot: compiled.programRoot,
  modelSha256: "0".repeat(64),
  runtime: native.name,
  threads: 1,
  box: box ?? own,
  tensors: signature.deciding.map((info) => ({ ...info, relative: 1e-6, absolute: 1e-6 })),
  outputs: [],
  inputs: { given: 0, random: 0, searched: 0 },
  seed: 1,
  differing: { native: 0, thick: 0 },
  thick: 0,
  factor: 16,
});

/** Returns a model in the form that a worker or a watcher gets: a single program, answered by the given runtime. */
export function nativePrograms(
  opened: OpenedModel,
  runtime: NativeRuntime = opened.native,
): { program: KnownProgram; programs: NativePrograms } {
  const program = knownProgram(opened.compiled);
  const known = { ...program, runtime, calibration: calibrationOf(opened), outputs: opened.outputs, factor: 16 };
  const of = (root: string) => Promise.resolve(root === program.model.programRoot ? known : undefined);
  return { program, programs: { of } };
}

/** A runtime whose results are changed. */
export const alteredRuntime = (
  runtime: NativeRuntime,
  alter: (result: NativeResult) => NativeResult,
): NativeRuntime => ({
  name: runtime.name,
  run: async (inputs) => alter(await runtime.run(inputs)),
  close: () => runtime.close(),
});

/**
 * Returns a runtime that answers with garbage. Every output has its lowest bit flipped, and every deciding tensor
 * claims maximum certainty. The same inputs give the same garbage.
 */
export const garbage = (runtime: NativeRuntime): NativeRuntime =>
  alteredRuntime(runtime, ({ outputs, deciding }) => ({
    outputs: outputs.map((bytes) => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte))),
    deciding: new Map(
      [...deciding].map(([name, { dims, data }]) => {
        const row = dims.at(-1)!;
        return [name, { dims, data: data.map((_, i) => Number(i % row === row - 1)) }];
      }),
    ),
  }));
