import { CHUNK_BYTES } from "../program/merkle/sizes.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import type { CompiledModel, TensorInfo } from "../program/compiled.ts";
import { estimateStepProof, type ProofSize } from "../program/gas.ts";
import { DEFAULT_STEP_BYTES, MAX_LEVELS, MAX_STEP_BYTES, MAX_STEP_GAS } from "../program/limits.ts";
import { maxRunProofBytes, runProofBytes } from "../program/proofBytes.ts";
import { programRoot } from "../program/root.ts";
import type { InputSource, Program, Step } from "../program/types.ts";
import { validateProgram, validateStep } from "../program/validate.ts";
import { elementCount, type Model } from "../model/onnx/model.ts";
import { bindShapes } from "./graph/bindShapes.ts";
import { expandTraining } from "./training/expandTraining.ts";
import { withinBits } from "./operators/narrow.ts";
import { Budget, type CompileLimits } from "./budget.ts";
import type { LazyTensor } from "./expressions/tensor.ts";
import { ProgramBuilder, type JobSeed } from "./steps/builder.ts";
import { chooseCheckpoints } from "./passes/checkpoints.ts";
import {
  EmptyOutputsError,
  RunWiringError,
  SeedInputError,
  StepLimitError,
  StepTooExpensiveError,
  type ExpensiveStep,
} from "./errors.ts";
import { countName, lowerGraph } from "./graph/lowerGraph.ts";
import { cutBatch } from "./passes/shares/cutBatch.ts";
import { keptSteps, liveSteps, type Draft } from "./passes/shares/draft.ts";
import { locateValues } from "./passes/valueLocations.ts";
import { makeProvable } from "./passes/provable/makeProvable.ts";
import { checkSource, wire, type RunWiring } from "./runWiring.ts";

export type CompileOptions = {
  /** Concrete shapes by input name; an input whose shape the model fixes may be left out. */
  shapes: Readonly<Record<string, readonly number[]>>;
  /** How the items of a run hang together. Without it, all inputs are shared and all outputs the last item's. */
  run?: RunWiring | undefined;
  /** The seed of random operators, 64 bits. Without it they are refused. */
  seed?: bigint;
  /** Called while nodes compile, also in loop bodies, and while the steps' proofs are made to fit. */
  progress?: (progress: CompileProgress) => void;
  /** Maximum gas for proving an element: lower than {@link MAX_STEP_GAS} for a chain with smaller blocks. */
  stepGasLimit?: number;
  /**
   * Maximum bytes of the transaction proving an element: the size admitted by the network's transaction pools, never
   * above {@link MAX_STEP_BYTES}. {@link DEFAULT_STEP_BYTES} if left out. A deployment takes programs up to its own
   * `maxStepBytes`.
   */
  stepByteLimit?: number | undefined;
  /**
   * The compilation's limits; `defaultLimits` gives missing limits. The limits decide whether a model compiles, never
   * the result.
   */
  limits?: Partial<CompileLimits> | undefined;
};

const tensorInfo = ({ name, dtype, shape, narrow, bounded }: TensorInfo): TensorInfo => ({
  name,
  dtype,
  shape,
  ...(narrow && { narrow }),
  ...(bounded && { bounded }),
});

/** Name, type and shape of a value of the graph. */
const infoOf = (name: string, { dtype, shape, narrow, bounded }: LazyTensor): TensorInfo =>
  tensorInfo({
    ...{ name, dtype, shape },
    ...(narrow && { narrow }),
    ...(bounded && { bounded: { axis: bounded.axis, count: countName(name) } }),
  });

/** How far a compilation is. */
export type CompileProgress = {
  /** Finished nodes of the graph itself, and the total. */
  done: number;
  total: number;
  /** Nodes begun, counted in each loop iteration, and the resulting steps. */
  nodes: number;
  steps: number;
  /** After all nodes: the number of steps with fitted proofs, and the total. */
  proofs?: { done: number; total: number };
};

type Origin = CompiledModel["origins"][number];

const MAX_TENSOR_BYTES = CHUNK_BYTES * 2 ** MAX_LEVELS.tensor;

/**
 * Checks that every step fits the encoding, and that every step's tensor fits the size paid by bonds. The error names
 * the node.
 */
function checkSteps(steps: readonly Step[], origins: readonly Origin[]): void {
  steps.forEach((step, s) => {
    const bytes = step.count * dtypeBytes(step.dtype);
    if (bytes > MAX_TENSOR_BYTES) {
      const { node, operator } = origins[s]!;
      throw new StepLimitError(
        `${operator} (node ${node}): a tensor of ${bytes} bytes, at most ${MAX_TENSOR_BYTES}; ` +
          "compile for smaller shapes",
      );
    }
    try {
      validateStep(step);
    } catch (cause) {
      const { node, operator } = origins[s]!;
      throw new StepLimitError(`${operator} (node ${node}): ${(cause as Error).message}`, { cause });
    }
  });
}

/** Returns the source of random operators: job inputs if the model has them, else the compiler's seed. */
function jobSeed(
  { source, seedInputs }: Model,
  seed: bigint | undefined,
  input: (name: string) => LazyTensor,
): bigint | JobSeed | undefined {
  if (seedInputs === undefined) return seed;
  if (seed !== undefined)
    throw new SeedInputError(`${source}: its seed is an input of the job: give the compiler none (--seed)`);
  const { seed: key, index } = seedInputs;
  return { key: input(key), item: index === undefined ? undefined : input(index) };
}

/** The gas and the bytes that no step's proof exceeds. @throws StepTooExpensiveError if one exceeds the limits */
function largestProof(
  steps: readonly Step[],
  sources: readonly InputSource["kind"][],
  origins: readonly Origin[],
  limit: ProofSize,
): ProofSize {
  const largest = { gas: 0, bytes: 0 };
  const expensive: ExpensiveStep[] = [];
  steps.forEach((step, s) => {
    const { gas, bytes: alone } = estimateStepProof(step);
    const bytes = alone + runProofBytes(step, sources);
    if (gas > limit.gas || bytes > limit.bytes) expensive.push({ ...origins[s]!, gas, bytes });
    largest.gas = Math.max(largest.gas, gas);
    largest.bytes = Math.max(largest.bytes, bytes);
  });
  const [first, ...others] = expensive;
  if (first !== undefined) throw new StepTooExpensiveError([first, ...others], limit);
  return largest;
}

/**
 * Compiles a model for concrete input shapes into the program that a job names. It is deterministic: the same model and
 * shapes give the same program root on every machine.
 * @throws UnsupportedOperatorError, NodeInputError, InputShapeError, ModelOutputError, RunWiringError,
 *   StepTooExpensiveError, StepLimitError, CompileBudgetError
 */
export const compile = (model: Model, options: CompileOptions): CompiledModel =>
  compileWithin(model, options, new Budget(options.limits));

/** Compiles within a budget, possibly spent in part already. */
export function compileWithin(written: Model, options: CompileOptions, budget: Budget): CompiledModel {
  const limit = {
    gas: Math.min(options.stepGasLimit ?? MAX_STEP_GAS, MAX_STEP_GAS),
    bytes: Math.min(options.stepByteLimit ?? DEFAULT_STEP_BYTES, MAX_STEP_BYTES),
  };
  const wired = wire(written, options.run);
  const shapes = bindShapes(written, options.shapes);
  const model = expandTraining(written, shapes, new Budget(options.limits), options.seed);
  const { graph } = model;
  const builder = new ProgramBuilder(budget, options.seed);
  // An input without elements is a constant and no input of the job: past keys and values before the first token.
  const inputs: (TensorInfo & { of: number })[] = [];
  const operands = graph.inputs.map(({ name, dtype, narrow }, i) => {
    const shape = shapes[i]!;
    const kind = wired.sources.get(i)?.kind ?? "shared";
    checkSource(model.source, { name, dtype, shape }, options.run?.batch === true ? "shared" : kind);
    if (elementCount(shape) === 0) return { ...builder.filled(dtype, shape, 0n), ...(narrow && { narrow }) };
    const index = inputs.push({ name, dtype, shape, ...(narrow && { narrow }), of: i }) - 1;
    const tensor = builder.input(index, dtype, shape);
    return narrow === undefined ? tensor : withinBits(builder, tensor, narrow);
  });
  let top = { done: 0, total: graph.nodes.length };
  let nodes = 0;
  const report = (proofs?: CompileProgress["proofs"]): void =>
    options.progress?.({ ...top, nodes, steps: builder.steps.length, ...(proofs && { proofs }) });
  budget.onNode = (begun) => {
    nodes = begun;
    report();
  };
  builder.seed = jobSeed(model, options.seed, (name) =>
    builder.reshape(operands[graph.inputs.findIndex((input) => input.name === name)]!, [1]),
  );
  const lowered = lowerGraph(builder, model, operands, (done, total) => (top = { done, total }));
  if (model.seedInputs !== undefined && builder.randomNodes === 0)
    throw new SeedInputError(`${model.source}: no node of it draws random numbers: leave --seed-input out`);
  const { values } = lowered;
  const stepOf = (name: string): TensorInfo & { step: number } => {
    const tensor = values.get(name)!;
    return { ...infoOf(name, tensor), step: builder.outputStep(tensor) };
  };
  const all = wired.outputs.flatMap(({ output, each }) => lowered.outputs[output]!.map((name) => ({ name, each })));
  // An output without elements is known now, and does not belong to the job.
  const isEmpty = ({ name }: { name: string }): boolean => elementCount(values.get(name)!.shape) === 0;
  const emptyOutputs = all.filter(isEmpty).map(({ name }) => infoOf(name, values.get(name)!));
  const computed = all.filter((each) => !isEmpty(each));
  if (computed.length === 0) throw new EmptyOutputsError(model.source, emptyOutputs);
  const outputs = computed.map(({ name }) => stepOf(name));
  /** For each carried input, the source step; else undefined. */
  const carried = inputs.map((input) => {
    const source = wired.sources.get(input.of);
    if (source?.kind !== "carried") return undefined;
    const [name, ...others] = lowered.outputs[source.output]!;
    if (name === undefined || others.length > 0)
      throw new RunWiringError(
        `${model.source}: "${input.name}" cannot be carried from a list of tensors or a bounded one`,
      );
    const from = stepOf(name);
    checkSource(model.source, input, "carried", from);
    return from.step;
  });
  budget.place = { node: "", operator: "" };
  const whole: Draft = {
    steps: builder.steps,
    origins: builder.origins.map(({ node, operators }) => ({ node, operator: [...operators.values()].join("+") })),
    inputs: inputs.map((input, k) => ({
      ...tensorInfo(input),
      source: wired.sources.get(input.of)?.kind ?? "shared",
      carried: carried[k],
    })),
    outputs: outputs.map((output, k) => ({ ...output, each: computed[k]!.each })),
  };
  const { draft, renumber } = liveSteps(whole);
  const { share, each: rowInputs = [] } = options.run ?? {};
  const shared = share === undefined ? draft : cutBatch(draft, rowInputs, share, model.source);
  const { compiled, numbers } = finish(shared, limit, builder, (done) => {
    budget.checkTime();
    report({ done, total: shared.steps.length });
  });
  budget.checkTime();
  if (share !== undefined) return compiled;
  const numberOf = renumber.map((step) => (step === undefined ? undefined : numbers[step]));
  return {
    ...compiled,
    ...(emptyOutputs.length > 0 && { emptyOutputs }),
    valueLocations: locateValues(values, numberOf),
  };
}

/** Makes a draft's steps provable, and commits to the program. @returns the program, and each step's new number */
function finish(
  { steps: drafted, origins: own, inputs, outputs }: Draft,
  limit: ProofSize,
  builder: ProgramBuilder,
  beforeStep: (done: number) => void,
): { compiled: CompiledModel; numbers: readonly number[] } {
  checkSteps(drafted, own);
  // Proof paths of per-item and carried inputs are longer than the paths in a step's estimate.
  const kinds = inputs.map(({ source }) => source);
  const paths = maxRunProofBytes(kinds);
  const provable = { ...limit, bytes: Math.max(1, limit.bytes - paths) };
  const { steps, renumber: numbers, origin } = makeProvable(drafted, provable, beforeStep);
  const origins = origin.map((s) => own[s]!);
  const checkpoints = chooseCheckpoints(
    steps,
    keptSteps({ steps, origins, inputs, outputs }).map((step) => numbers[step]!),
  );
  const checkpointOf = (step: number): number => checkpoints.findIndex((each) => each.step === numbers[step]);
  const each = outputs.flatMap((output, k) => (output.each ? [k] : []));
  const largest = largestProof(steps, kinds, origins, limit);
  const program: Program = {
    inputs: inputs.map(({ dtype, shape, source: kind, carried }) => {
      const source = kind === "carried" ? { kind, checkpoint: checkpointOf(carried!) } : { kind };
      return { dtype, count: elementCount(shape), ...(kind !== "shared" && { source }) };
    }),
    steps,
    checkpoints,
    outputs: outputs.map(({ step }) => checkpointOf(step)),
    ...(each.length > 0 && { each }),
    maxStepGas: largest.gas,
    maxStepBytes: largest.bytes,
  };
  validateProgram(program);
  const compiled = {
    program,
    programRoot: programRoot(program),
    constants: builder.constantsOf(steps),
    inputs: inputs.map(tensorInfo),
    outputs: outputs.map(tensorInfo),
    origins,
  };
  return { compiled, numbers };
}
