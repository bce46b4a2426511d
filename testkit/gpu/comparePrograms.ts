import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { createExecutor, type Executor } from "../../src/executor/createExecutor.ts";
import { CHUNK, CHUNKS, writeInputs } from "../../src/executor/gpu/allInputs.ts";
import type { Gpu } from "../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../src/executor/gpu/executor.ts";
import type { KernelOptions } from "../../src/executor/gpu/generate/step.ts";
import { FUNCTIONS } from "../../src/executor/gpu/exhaust.ts";
import { reasonForCpu } from "../../src/executor/gpu/onCpu.ts";
import { functionStep, separateModel } from "../../src/executor/gpu/selfTest.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { Op } from "../../src/program/operations.ts";
import { bytesOf } from "../../src/program/trace/runInputs.ts";
import type { Step } from "../../src/program/types.ts";
import { nearPoint, POINTS } from "../numerics/elementaryCases.ts";
import { modelOf } from "../onnx/agreement.ts";
import { ALL_CASES } from "../operators/allCases.ts";
import { randomProgram } from "../programs/randomProgram.ts";
import { Prng } from "../random/prng.ts";
import { RandomTensors } from "../random/tensors.ts";
import { shrunkenGpu } from "./softwareGpu.ts";

/** The steps of a random program. */
export const STEPS = 12;

/** The steps of a program by their device. */
type Compared = { onGpu: number; onCpu: number };

/** Every experiment of every operator, by number from 1 on. */
export const EXPERIMENTS = Object.entries(ALL_CASES).flatMap(([operator, makers]) =>
  makers.map((make) => ({ operator, make })),
);

/**
 * Compares each tensor of a program on a GPU with the definition. All products are computed by residues, kernels are
 * cut, and dispatches come in an order that is drawn.
 * @throws AssertionError that names the program and the step with other bits
 */
async function compareProgram(
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  gpu: Gpu,
  what: string,
  kernels: KernelOptions,
): Promise<Compared> {
  const products = { least: { terms: 1, rows: 1, columns: 1 }, mostBytes: 10_000 };
  const cutting = { mostOperations: 2 ** 16, order: new Prng(2) };
  const executor = await createGpuExecutor(model, gpu, { seed: 1, products, kernels, cutting });
  const { tensors } = await executor.run(inputs).finally(() => executor.close());
  executeReference(model, inputs).forEach((tensor, s) => {
    expect(Buffer.from(tensors[s]!).toString("hex"), `${what}, step ${s}`).to.equal(
      Buffer.from(tensor).toString("hex"),
    );
  });
  const onCpu = executor.cpuSteps.length;
  return { onGpu: tensors.length - onCpu, onCpu };
}

/** Lanes share the terms of all reductions. */
const SHARED: KernelOptions = { leastShared: 1 };

/** A step for the CPU is drawn anew, but for one in so many. */
const FOR_THE_CPU = 8;

/** Compares the random program of a seed; even seeds on an adapter that binds little and has no products of bytes. */
export async function compareRandomProgram(seed: number, gpu: Gpu): Promise<Compared> {
  const prng = new Prng(seed);
  const isWanted = (step: Step): boolean => reasonForCpu(step) === undefined || prng.below(FOR_THE_CPU) === 0;
  const { model, inputs } = randomProgram(prng, STEPS, isWanted);
  const { steps, inputs: given } = model.program;
  const all = [...steps, ...given, ...steps.flatMap((step) => step.inputs)];
  const bytes = all.reduce((sum, each) => sum + bytesOf(each) + 256, 2_048);
  const small = { pageBytes: 256 * Math.ceil(bytes / 1_024), pages: 8, hasDot4: false };
  const on = seed % 2 === 0 ? shrunkenGpu(gpu, small) : gpu;
  return compareProgram(model, inputs, on, `program ${seed}`, seed % 3 === 0 ? {} : SHARED);
}

/** @param number From 1 on; the seed of the experiment's tensors. */
export async function compareExperiment(number: number, gpu: Gpu): Promise<Compared> {
  const { operator, make } = EXPERIMENTS[number - 1]!;
  const experiment = make(new RandomTensors(new Prng(number)));
  const model = compile(readModel(modelOf(experiment)), { shapes: {} });
  const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
  const kernels = number % 2 === 0 ? {} : SHARED;
  return compareProgram(model, inputs, gpu, `experiment ${number}, ${operator}`, kernels);
}

/** How many comparisons a function has near a point, and in a 256th of all inputs. */
export const [NEAR_POINTS, STRIDED] = [POINTS.length * FUNCTIONS.length, CHUNKS * FUNCTIONS.length];

/** One input of so many, for strided inputs: 2^24 for each function. */
const STRIDE = 256;

/**
 * Compares a function near a point.
 * @param number From 1 to {@link NEAR_POINTS}: all functions near the first point come first.
 * @returns how many inputs were compared
 */
export function compareNearPoint(number: number, gpu: Gpu): Promise<number> {
  const words = nearPoint(POINTS[Math.floor((number - 1) / FUNCTIONS.length)]!);
  return compareFunction(number, Uint32Array.from(words, Number), gpu);
}

/**
 * Compares a function on strided inputs with the same first eight bits.
 * @param number From 1 to {@link STRIDED}.
 * @returns how many inputs were compared
 */
export function compareStrided(number: number, gpu: Gpu): Promise<number> {
  const inputs = new Uint32Array(CHUNK / STRIDE);
  // The first eight bits in an order that mixes large and small exponents, and both signs.
  const chunk = (Math.floor((number - 1) / FUNCTIONS.length) * 101 + 63) % CHUNKS;
  writeInputs(inputs, chunk, 0, STRIDE);
  return compareFunction(number, inputs, gpu);
}

/** Compares with the executor of the CPU, whose results on all inputs are the definition's (docs/numerics.md). */
async function compareFunction(number: number, words: Uint32Array<ArrayBuffer>, gpu: Gpu): Promise<number> {
  const name = FUNCTIONS[(number - 1) % FUNCTIONS.length]!;
  const model = separateModel([functionStep(Op[name], words.length)]);
  const computed = async (executor: Pick<Executor, "run" | "close">): Promise<Uint32Array> => {
    const { tensors } = await executor.run([new Uint8Array(words.buffer)]).finally(() => executor.close());
    return new Uint32Array(Uint8Array.from(tensors[0]!).buffer);
  };
  const expected = await computed(await createExecutor(model, { threads: 1 }));
  const found = await computed(await createGpuExecutor(model, gpu, { seed: 1 }));
  const wrong = Array.from(
    words.filter((_, k) => found[k] !== expected[k]),
    (word) => word.toString(16),
  );
  expect(wrong, name).to.deep.equal([]);
  return words.length;
}
