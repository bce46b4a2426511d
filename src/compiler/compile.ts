import { CHUNK_BYTES } from "../merkle/sizes.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import type { CompiledModel, TensorInfo } from "../program/compiled.ts";
import { estimateStepProof, type ProofSize } from "../program/gas.ts";
import { DEFAULT_STEP_BYTES, MAX_LEVELS, MAX_STEP_BYTES, MAX_STEP_GAS } from "../program/limits.ts";
import { programRoot } from "../program/root.ts";
import type { Program, Step } from "../program/types.ts";
import { validateProgram, validateStep } from "../program/validate.ts";
import { elementCount, type Model } from "../onnx/model.ts";
import { bindShapes } from "./graph/bindShapes.ts";
import { Budget, type CompileLimits } from "./budget.ts";
import { ProgramBuilder } from "./steps/builder.ts";
import { chooseCheckpoints } from "./program/checkpoints.ts";
import { ModelOutputError, StepLimitError, StepTooExpensiveError, type ExpensiveStep } from "./errors.ts";
import { keepLiveSteps } from "./program/liveSteps.ts";
import { lowerGraph } from "./graph/lowerGraph.ts";
import { locateValues } from "./program/valueLocations.ts";
import { makeProvable } from "./program/provable/makeProvable.ts";

export type CompileOptions = {
  /** Concrete shapes by input name; an input whose shape the model fixes may be left out. */
  shapes: Readonly<Record<string, readonly number[]>>;
  /** The seed of random operators, 64 bits. Without it they are refused. */
  seed?: bigint;
  /** Called as nodes are compiled, those of loops' bodies included, and as the proofs of steps are made to fit. */
  progress?: (progress: CompileProgress) => void;
  /**
   * The maximum gas that the proof of one element may cost: lower than {@link MAX_STEP_GAS} for a chain with smaller
   * blocks.
   */
  stepGasLimit?: number;
  /**
   * The maximum bytes of the transaction that proves one element, {@link DEFAULT_STEP_BYTES} if left out: what the
   * transaction pools of the network let through, never above {@link MAX_STEP_BYTES}. A deployment takes programs up to
   * its own `maxStepBytes`.
   */
  stepByteLimit?: number | undefined;
  /** What compiling may take; what is left out is as in `defaultLimits`. It decides whether, never what. */
  limits?: Partial<CompileLimits> | undefined;
};

/** How far a compilation is. */
export type CompileProgress = {
  /** Nodes of the graph itself that are done, of how many. */
  done: number;
  total: number;
  /** Nodes begun, each iteration of a loop counted, and the steps that came of them. */
  nodes: number;
  steps: number;
  /** Once all nodes are done: steps whose proofs have been made to fit, of how many. */
  proofs?: { done: number; total: number };
};

type Origin = CompiledModel["origins"][number];

const MAX_TENSOR_BYTES = CHUNK_BYTES * 2 ** MAX_LEVELS.tensor;

/**
 * Checks that every step fits the encoding and that its tensor fits the size that bonds pay for; if one does not, the
 * error names its node.
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

/** The gas and the bytes that no step's proof exceeds. @throws StepTooExpensiveError if one exceeds the limits */
function largestProof(steps: readonly Step[], origins: readonly Origin[], limit: ProofSize): ProofSize {
  const largest = { gas: 0, bytes: 0 };
  const expensive: ExpensiveStep[] = [];
  steps.forEach((step, s) => {
    const { gas, bytes } = estimateStepProof(step);
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
 * @throws UnsupportedOperatorError, NodeInputError, InputShapeError, ModelOutputError, StepTooExpensiveError,
 *   StepLimitError, CompileBudgetError
 */
export const compile = (model: Model, options: CompileOptions): CompiledModel =>
  compileWithin(model, options, new Budget(options.limits));

/** The same within a budget of which part may be spent already. */
export function compileWithin(model: Model, options: CompileOptions, budget: Budget): CompiledModel {
  const { graph } = model;
  const limit = {
    gas: Math.min(options.stepGasLimit ?? MAX_STEP_GAS, MAX_STEP_GAS),
    bytes: Math.min(options.stepByteLimit ?? DEFAULT_STEP_BYTES, MAX_STEP_BYTES),
  };
  const shapes = bindShapes(model, options.shapes);
  const builder = new ProgramBuilder(budget, options.seed);
  // An input without elements is a constant and no input of the job: past keys and values before the first token.
  const inputs: TensorInfo[] = [];
  const operands = graph.inputs.map(({ name, dtype }, i) => {
    const shape = shapes[i]!;
    if (elementCount(shape) === 0) return builder.filled(dtype, shape, 0n);
    return builder.input(inputs.push({ name, dtype, shape }) - 1, dtype, shape);
  });
  let top = { done: 0, total: graph.nodes.length };
  let nodes = 0;
  const report = (proofs?: CompileProgress["proofs"]): void =>
    options.progress?.({ ...top, nodes, steps: builder.steps.length, ...(proofs && { proofs }) });
  budget.onNode = (begun) => {
    nodes = begun;
    report();
  };
  const values = lowerGraph(builder, model, operands, (done, total) => (top = { done, total }));
  const outputs = graph.outputs.map((output): TensorInfo & { step: number } => {
    const tensor = values.get(output.name)!;
    if (elementCount(tensor.shape) === 0)
      throw new ModelOutputError(
        `${model.source}: the output "${output.name}" [${tensor.shape.join(", ")}] has no elements`,
      );
    return { name: output.name, dtype: tensor.dtype, shape: tensor.shape, step: builder.outputStep(tensor) };
  });

  budget.place = { node: "", operator: "" };
  const live = keepLiveSteps(
    builder.steps,
    outputs.map((output) => output.step),
  );
  const liveOrigins = builder.origins
    .filter((_, s) => live.renumber[s] !== undefined)
    .map(({ node, operators }) => ({ node, operator: [...operators.values()].join("+") }));
  checkSteps(live.steps, liveOrigins);
  const { steps, renumber, origin } = makeProvable(live.steps, limit, (done) => {
    budget.checkTime();
    report({ done, total: live.steps.length });
  });
  const origins = origin.map((s) => liveOrigins[s]!);
  const numberOf = live.renumber.map((step) => (step === undefined ? undefined : renumber[step]));
  const outputSteps = outputs.map((output) => numberOf[output.step]!);
  budget.checkTime();
  const checkpoints = chooseCheckpoints(steps, outputSteps);
  const largest = largestProof(steps, origins, limit);
  const program: Program = {
    inputs: inputs.map(({ dtype, shape }) => ({ dtype, count: shape.reduce((product, dim) => product * dim, 1) })),
    steps,
    checkpoints,
    outputs: outputSteps.map((step) => checkpoints.findIndex((checkpoint) => checkpoint.step === step)),
    maxStepGas: largest.gas,
    maxStepBytes: largest.bytes,
  };
  validateProgram(program);
  return {
    program,
    programRoot: programRoot(program),
    constants: builder.constantsOf(steps),
    inputs,
    outputs: outputs.map(({ name, dtype, shape }) => ({ name, dtype, shape })),
    origins,
    valueLocations: locateValues(values, numberOf),
  };
}
