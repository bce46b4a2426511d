import { makeProvable } from "../../src/compiler/passes/provable/makeProvable.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { Op } from "../../src/program/operations.ts";
import { estimateStepProofGas } from "../../src/program/gas.ts";
import { MAX_STEP_BYTES } from "../../src/program/limits.ts";
import { commitProgram, type ProgramCommitment } from "../../src/program/root.ts";
import type { Checkpoint, Program, Step, TensorRef } from "../../src/program/types.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { int32Words } from "../programs/int32Words.ts";
import { axis, NO_REDUCTION, rowSumStep, stepModel } from "../programs/stepModel.ts";

/** A program for games, with commitments and one input. */
export type GameProgram = {
  model: CompiledModel;
  program: Program;
  commitment: ProgramCommitment;
  input: Uint8Array;
  inputsList: MerkleList;
};

/**
 * Returns a chain of steps `s_i = s_(i-1) + x + c` (s_(-1) = x), all with `count` int32 elements, and a checkpoint at
 * each range's end. The steps read every kind of reference: job input, constant, step inside the range, checkpoint
 * before the range.
 * @param rangeLengths Steps in each range.
 */
export function chainProgram(count: number, rangeLengths: readonly number[], outputs?: readonly number[]): GameProgram {
  const constant = int32Words(count, (i) => 7 * i + 1);
  const root = tensorRoot(constant);
  const steps: Step[] = [];
  const checkpoints: Checkpoint[] = [];
  for (const length of rangeLengths) {
    const first = steps.length;
    for (let k = 0; k < length; k++) steps.push(addition(count, steps.length, root));
    checkpoints.push({ first, step: steps.length - 1 });
  }
  const program: Program = {
    inputs: [{ dtype: DType.int32, count }],
    steps,
    checkpoints,
    outputs: outputs ?? [checkpoints.length - 1],
    maxStepGas: 1_000_000,
    maxStepBytes: 90_000,
  };
  return int32Program(
    program,
    new Map([[root, constant]]),
    int32Words(count, (i) => i * i + 3),
  );
}

/** Returns a program of int32 tensors. All tensors have the same number of elements, given by the only input. */
export function int32Program(program: Program, constants: CompiledModel["constants"], input: Uint8Array): GameProgram {
  const commitment = commitProgram(program);
  const shape = [input.length / 4];
  const model: CompiledModel = {
    program,
    programRoot: commitment.programRoot,
    constants,
    inputs: [{ name: "x", dtype: DType.int32, shape }],
    outputs: program.outputs.map((_, i) => ({ name: `y${i}`, dtype: DType.int32, shape })),
    origins: program.steps.map((_, i) => ({ node: `sum${i}`, operator: "Sum" })),
  };
  return { model, program, commitment, input, inputsList: MerkleList.fromHashes([tensorRoot(input)]) };
}

/** A long sum of each of 4 rows, split: the first step holds words of exact sums, 32 bytes each. */
export function limbProgram(): GameProgram {
  const [rows, inner] = [4, 1600];
  const whole = rowSumStep(rows, inner);
  const limit = { gas: estimateStepProofGas(whole) - 1, bytes: MAX_STEP_BYTES };
  const model = stepModel(makeProvable([whole], limit).steps);
  model.program.maxStepGas = 2_000_000;
  const commitment = commitProgram(model.program);
  const input = new Uint8Array(Float32Array.from({ length: rows * inner }, (_, i) => Math.sin(i)).buffer);
  return {
    model: { ...model, programRoot: commitment.programRoot },
    program: model.program,
    commitment,
    input,
    inputsList: MerkleList.fromHashes([tensorRoot(input)]),
  };
}

/** An honest execution. */
export const honestTrace = (subject: GameProgram): Trace =>
  new Trace(subject.program, executeReference(subject.model, [subject.input]));

/**
 * Returns an execution with a single wrong element, off by one, in the given step. Everything later is consistent with
 * the wrong element.
 */
export function lyingTrace(subject: GameProgram, lieStep: number, element: number): Trace {
  const tensors = executeReference(subject.model, [subject.input], {
    onStep: (step, tensor) => {
      if (step === lieStep) tensor[4 * element] = (tensor[4 * element]! + 1) & 0xff;
    },
  });
  return new Trace(subject.program, tensors);
}

function addition(count: number, index: number, root: `0x${string}`): Step {
  const dtype = DType.int32;
  const previous: TensorRef =
    index === 0 ? { kind: "input", index: 0, dtype, count } : { kind: "step", index: index - 1, dtype, count };
  return {
    dtype,
    count,
    inputs: [previous, { kind: "input", index: 0, dtype, count }, { kind: "constant", root, dtype, count }],
    outDigits: [count],
    ...NO_REDUCTION,
    epilogueReads: [0, 1, 2].map((input) => ({ input, fill: 0n, axes: [axis(0, count, 1)] })),
    epilogue: {
      code: [
        { op: Op.add, dtype, a: 0, b: 1, c: 0 },
        { op: Op.add, dtype, a: 3, b: 2, c: 0 },
      ],
      out: 4,
    },
  };
}

/**
 * Returns the nodes in a trace's tree at which a game can be opened, from the root down: levels below the root, index.
 */
export function traceNodes({ list }: Trace): readonly (readonly [levels: number, index: number])[] {
  return Array.from({ length: list.depth + 1 }, (_, levels) =>
    Array.from({ length: Math.ceil(list.width / 2 ** (list.depth - levels)) }, (_, index) => [levels, index] as const),
  ).flat();
}
