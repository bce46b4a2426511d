/** Models that nobody honest writes: experiments with single operators, changed in ways that exporters never do. */
import { compile } from "../../src/compiler/compile.ts";
import type { CompileLimits } from "../../src/compiler/budget.ts";
import { survey } from "../../src/compiler/survey.ts";
import { RefuteError } from "../../src/base/errors.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType, dtypeBytes, writeWord } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { programTerms } from "../../src/program/work.ts";
import { modelOf, type Experiment } from "../onnx/agreement.ts";
import type { AttributeValue, NodeSpec } from "../onnx/onnxBuilder.ts";
import { CASES } from "../operators/cases.ts";
import type { Make } from "../operators/makers.ts";
import { MICROSOFT_ATTENTION_CASES } from "../operators/microsoftAttentionCases.ts";
import { ML_CASES } from "../operators/mlCases.ts";
import { MICROSOFT_CASES } from "../operators/microsoftCases.ts";
import { MICROSOFT_QUANTISED_CASES } from "../operators/microsoftQuantisedCases.ts";
import { Prng } from "../random/prng.ts";
import { RandomTensors } from "../random/tensors.ts";

/** Far above what the experiments need unchanged, and reached within a second or two. */
const LIMITS: CompileLimits = { seconds: 20, mib: 64, nodes: 2000, foldElements: 2 ** 22 };

const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "", "x0", "y", "\u0000", "a".repeat(10_000)];
const DIMS = [0, 0, 0, 1, 2, 3, 7, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 40];
const INTEGERS = [0n, 1n, -1n, 2n, 3n, 64n, 4097n, 1n << 31n, -(1n << 31n), 1n << 40n, (1n << 63n) - 1n, -(1n << 63n)];
const FLOATS = [0, -0, 1, -1, 0.5, 1e-38, 3e38, NaN, Infinity, -Infinity];
const MAX_BYTES = 2 ** 16;

type Change = (experiment: Experiment, prng: Prng) => Experiment;

const changeOne = <T>(all: Readonly<Record<string, T>>, prng: Prng, change: (one: T) => T): Record<string, T> => {
  const entries = Object.entries(all);
  if (entries.length === 0) return { ...all };
  const [name, one] = prng.pick(entries);
  return Object.fromEntries([...entries, [name, change(one)]]);
};

const changedNode = (experiment: Experiment, prng: Prng, change: (node: NodeSpec) => NodeSpec): Experiment => {
  const at = prng.below(experiment.nodes.length);
  return { ...experiment, nodes: experiment.nodes.map((node, k) => (k === at ? change(node) : node)) };
};

const changedShape = (shape: readonly number[], prng: Prng): number[] => {
  if (shape.length === 0 || prng.below(8) === 0) return [...shape, prng.pick(DIMS)];
  const at = prng.below(shape.length);
  if (prng.below(8) === 0) return shape.filter((_, d) => d !== at);
  return shape.map((dim, d) => (d === at ? prng.pick(DIMS) : dim));
};

/** Returns a constant with another shape, within the memory limit. The elements repeat the original elements. */
function reshapedConstant({ dtype, shape, bytes }: TensorData, prng: Prng): TensorData {
  const wanted = changedShape(shape, prng);
  const size = elementCount(wanted) * dtypeBytes(dtype);
  const fits = size <= MAX_BYTES;
  return {
    dtype,
    shape: fits ? wanted : [],
    bytes: Uint8Array.from({ length: fits ? size : dtypeBytes(dtype) }, (_, i) => bytes[i % bytes.length] ?? 0),
  };
}

/** Other elements, as many as there are: the shape may say anything. */
function otherElements({ dtype, shape, bytes: given }: TensorData, prng: Prng): TensorData {
  const count = Math.floor(given.length / dtypeBytes(dtype));
  const bytes = new Uint8Array(given.length);
  const mask = (1n << BigInt(8 * dtypeBytes(dtype))) - 1n;
  for (let i = 0; i < count; i++)
    if (dtype === DType.float32) new DataView(bytes.buffer).setFloat32(4 * i, prng.pick(FLOATS), true);
    else writeWord(bytes, i, dtype, prng.pick(INTEGERS) & mask);
  return { dtype, shape, bytes };
}

function otherAttribute(value: AttributeValue | undefined, prng: Prng): AttributeValue {
  const kind = prng.below(12);
  if (kind < 7 && typeof value === "object" && "length" in value)
    return value.map((one) => (prng.below(2) === 0 ? prng.pick(INTEGERS) : BigInt(one)));
  if (kind < 7 && typeof value === "object" && "float" in value) return { float: prng.pick(FLOATS) };
  if (kind < 7 && typeof value === "string") return prng.pick([...NAMES, "reflect", "linear", "SAME_UPPER"]);
  if (kind < 8) return prng.pick(NAMES);
  if (kind < 9) return { float: prng.pick(FLOATS) };
  if (kind < 10) return { strings: [prng.pick(NAMES)] };
  if (kind < 11) return Array.from({ length: prng.below(5) }, () => prng.pick(INTEGERS));
  return prng.pick(INTEGERS);
}

const CHANGES: readonly Change[] = [
  (experiment, prng) => ({
    ...experiment,
    operands: changeOne(experiment.operands, prng, (one) => ({ ...one, shape: changedShape(one.shape, prng) })),
  }),
  (experiment, prng) => ({
    ...experiment,
    initializers: changeOne(experiment.initializers ?? {}, prng, (one) => reshapedConstant(one, prng)),
  }),
  (experiment, prng) => ({
    ...experiment,
    initializers: changeOne(experiment.initializers ?? {}, prng, (one) => otherElements(one, prng)),
  }),
  // Inputs known at run time become known at compile time, and the other way round.
  ({ operands, initializers = {}, ...rest }) => ({ ...rest, operands: { ...initializers }, initializers: operands }),
  ({ operands, initializers = {}, ...rest }) => ({
    ...rest,
    operands: {},
    initializers: { ...operands, ...initializers },
  }),
  (experiment, prng) =>
    changedNode(experiment, prng, (node) => {
      const names = Object.keys(node.attributes ?? {});
      const name = names.length > 0 && prng.below(8) > 0 ? prng.pick(names) : prng.pick(NAMES);
      const value = otherAttribute(node.attributes?.[name], prng);
      return { ...node, attributes: Object.fromEntries([...Object.entries(node.attributes ?? {}), [name, value]]) };
    }),
  (experiment, prng) =>
    changedNode(experiment, prng, (node) => {
      const gone = prng.pick([...Object.keys(node.attributes ?? {}), ""]);
      const attributes = Object.fromEntries(Object.entries(node.attributes ?? {}).filter(([name]) => name !== gone));
      return { ...node, attributes };
    }),
  (experiment, prng) =>
    changedNode(experiment, prng, (node) => ({ ...node, inputs: node.inputs.slice(0, prng.below(4)) })),
  (experiment, prng) =>
    changedNode(experiment, prng, (node) => ({
      ...node,
      inputs: node.inputs.map((name) => (prng.below(3) === 0 ? prng.pick([...node.inputs, ""]) : name)),
    })),
  (experiment, prng) =>
    changedNode(experiment, prng, (node) => ({
      ...node,
      outputs: [...node.outputs, ...NAMES.slice(0, prng.below(4))],
    })),
  (experiment, prng) => changedNode(experiment, prng, (node) => ({ ...node, op: prng.pick(Object.keys(CASES)) })),
  (experiment, prng) => changedNode(experiment, prng, (node) => ({ ...node, name: prng.pick(NAMES) })),
  (experiment, prng) => changedNode(experiment, prng, (node) => ({ ...node, domain: prng.pick(NAMES) })),
  (experiment, prng) => ({ ...experiment, opset: 1 + prng.below(27) }),
  (experiment, prng) => {
    const from = prng.pick([...Object.keys(experiment.operands), ...Object.keys(experiment.initializers ?? {}), "y"]);
    return renamed(experiment, from, prng.pick(NAMES));
  },
];

function renamed(experiment: Experiment, from: string, to: string): Experiment {
  const name = (given: string): string => (given === from ? to : given);
  const keys = <T>(all: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(all).map(([key, value]) => [name(key), value]));
  return {
    ...experiment,
    operands: keys(experiment.operands),
    initializers: keys(experiment.initializers ?? {}),
    outputs: keys(experiment.outputs),
    nodes: experiment.nodes.map((node) => ({
      ...node,
      inputs: node.inputs.map(name),
      outputs: node.outputs.map(name),
    })),
  };
}

export const MAKERS: readonly Make[] = [
  CASES,
  ML_CASES,
  MICROSOFT_CASES,
  MICROSOFT_ATTENTION_CASES,
  MICROSOFT_QUANTISED_CASES,
].flatMap((cases) => Object.values(cases).flat());

/**
 * Returns a model with an operator, one to four changes, and sometimes a changed byte. The same seed gives the same
 * model.
 */
export function hostileModel(seed: number): Uint8Array {
  const prng = new Prng(seed);
  let experiment = prng.pick(MAKERS)(new RandomTensors(prng));
  for (let changes = 1 + prng.below(4); changes > 0; changes--) experiment = prng.pick(CHANGES)(experiment, prng);
  const bytes = modelOf(experiment);
  if (prng.below(8) === 0) bytes[prng.below(bytes.length)] = prng.below(256);
  return bytes;
}

const STRANGE_SHAPES: readonly (readonly number[])[] = [[], [0], [1], [0, 0], [1, 1, 1], [2, 0, 2], [1, 1, 1, 1, 1, 1]];

/**
 * Yields models for each operator where one input, or each input, becomes a scalar, becomes empty, or has few or many
 * dimensions.
 */
export function* strangelyShapedModels(): Generator<{ what: string; bytes: Uint8Array }> {
  for (const make of MAKERS) {
    const experiment = make(new RandomTensors(new Prng(1)));
    const names = [...Object.keys(experiment.operands), ...Object.keys(experiment.initializers ?? {})];
    for (const which of [...names.map((name) => [name]), names])
      for (const shape of STRANGE_SHAPES) {
        const bytes = modelOf({
          ...experiment,
          operands: reshaped(experiment.operands, which, shape),
          initializers: reshaped(experiment.initializers ?? {}, which, shape),
        });
        yield { what: `${experiment.nodes[0]!.op}, ${which.join()} of [${shape.join()}]`, bytes };
      }
  }
}

const reshaped = (
  all: Readonly<Record<string, TensorData>>,
  which: readonly string[],
  shape: readonly number[],
): Record<string, TensorData> =>
  Object.fromEntries(
    Object.entries(all).map(([name, one]) => {
      const bytes = one.bytes.slice(0, elementCount(shape) * dtypeBytes(one.dtype));
      return [name, which.includes(name) ? { ...one, shape: [...shape], bytes } : one];
    }),
  );

/** A model's ending, and the program if the compiler accepted the model. */
type Ending = { ending: string; model?: CompiledModel };

/**
 * Reads and compiles a model, and surveys a refused model.
 * @returns "program", or the refusal's code
 * @throws any error that is not a refusal
 */
export const endingOf = (bytes: Uint8Array, limits: Partial<CompileLimits> = LIMITS): string =>
  compiledEnding(bytes, limits).ending;

/** The same, with the program. */
export function compiledEnding(bytes: Uint8Array, limits: Partial<CompileLimits> = LIMITS): Ending {
  try {
    const model = readModel(bytes);
    const options = { shapes: {}, seed: 1n, limits };
    try {
      return { ending: "program", model: compile(model, options) };
    } catch (error) {
      if (error instanceof RefuteError) survey(model, options);
      throw error;
    }
  } catch (error) {
    if (error instanceof RefuteError) return { ending: error.code };
    throw error;
  }
}

/** The limits on execution. Programs with more terms, or with more bytes to read, are not executed. */
const MAX_TERMS = 200_000n;
const MAX_INPUT_BYTES = 2 ** 24;

/**
 * Executes a program on any bytes, by the definition and fast.
 * @returns undefined if it is too long or too large
 * @throws where the two differ in a bit
 */
export async function executeBoth(model: CompiledModel, seed: number): Promise<true | undefined> {
  if (programTerms(model.program.steps) > MAX_TERMS) return undefined;
  const bytes = model.program.inputs.reduce((sum, { dtype, count }) => sum + count * dtypeBytes(dtype), 0);
  if (bytes > MAX_INPUT_BYTES) return undefined;
  const prng = new Prng(seed);
  const inputs = model.program.inputs.map(({ dtype, count }) =>
    Uint8Array.from({ length: count * dtypeBytes(dtype) }, () => prng.below(256)),
  );
  const executor = await createExecutor(model);
  try {
    const { tensors } = await executor.run(inputs);
    const defined = executeReference(model, inputs);
    const other = defined.findIndex((tensor, step) => Buffer.compare(tensor, tensors[step]!) !== 0);
    if (other >= 0) throw new Error(`step ${other} of its program differs from the definition`);
  } finally {
    await executor.close();
  }
  return true;
}
