import { surveyDraft, type NodeRefusal, type Survey } from "../../src/compiler/survey.ts";
import type { RefuteError } from "../../src/base/errors.ts";
import { checkReport } from "../../src/examine/check/report.ts";
import {
  dtypeBytes,
  dtypeName,
  isElementType,
  isFloat,
  readWord,
  writeWord,
  type DType,
} from "../../src/numerics/dtype.ts";
import { numberWord, wordNumber } from "../../src/numerics/numbers.ts";
import { nodeLabel, type Model } from "../../src/model/onnx/model.ts";
import { readDraft } from "../../src/model/onnx/readModel.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { isDot } from "../../src/program/reduction.ts";
import { estimateStepProofGas } from "../../src/program/gas.ts";
import { Prng } from "../../src/base/prng.ts";
import { bitsText, numberOf, valueText } from "../value.ts";
import type { Exactly } from "./execute.ts";
import type { GivenInputs } from "./inputs.ts";
import type { ElementView, GraphNode, OpenedModel, OutputView, StepView, Worth } from "./messages.ts";

export type Progress = (what: string, done: number, total: number) => void;

/** A model that was read, and compiled unless it is refused. */
export type Opened = { model: Model; compiled: CompiledModel | undefined; view: OpenedModel };

/** Elements of an output that are shown. */
const SHOWN = 64;

/**
 * Reads and compiles a model.
 * @param shapes Of inputs whose shape the model leaves open.
 * @throws ModelFormatError if the bytes are no model; what is refused is in the report
 */
export function openModel(
  name: string,
  bytes: Uint8Array,
  shapes: Readonly<Record<string, readonly number[]>>,
  progress: Progress,
): Opened {
  const refused: RefuteError[] = [];
  const lost: string[] = [];
  progress("reading", 0, 1);
  const draft = readDraft(bytes, (error, names) => {
    refused.push(error);
    lost.push(...names);
  });
  const model = { ...draft, source: name };
  const survey = surveyDraft(
    model,
    {
      shapes,
      progress: ({ done, total, proofs }) =>
        proofs === undefined
          ? progress("compiling nodes", done, total)
          : progress("fitting proofs", proofs.done, proofs.total),
    },
    refused,
    lost,
  );
  return { model, compiled: survey.model, view: viewOf(model, survey) };
}

function viewOf(model: Model, survey: Survey): OpenedModel {
  const { inputs } = model.graph;
  return {
    report: checkReport(
      model,
      survey,
      () => ({ outputs: [] }),
      () => undefined,
    ),
    inputs: inputs.map(({ name, dtype, shape }) => ({
      name,
      dtype: dtypeName(dtype),
      shape: shape === undefined ? "?" : shape.map((dim) => (typeof dim === "number" ? dim : (dim ?? "?"))).join(", "),
    })),
    graph: graphOf(model, survey.refusals),
    steps: survey.model === undefined ? [] : stepsOf(survey.model),
    taken: (survey.model?.inputs ?? []).map(({ name, dtype, shape }) => ({
      name,
      dtype: dtypeName(dtype),
      shape: shape.join(", "),
    })),
    outputs: survey.model?.outputs ?? [],
  };
}

/** The nodes of a graph, without constants, and what they read of each other. */
function graphOf({ graph }: Model, refusals: readonly NodeRefusal[]): GraphNode[] {
  const reasons = new Map(refusals.map(({ node, reason }) => [node, reason]));
  const nodes = graph.nodes.filter((node) => node.operator !== "Constant" || reasons.has(nodeLabel(node)));
  const makers = new Map(nodes.flatMap(({ outputs }, k) => outputs.map((output): [string, number] => [output, k])));
  return nodes.map((node, k) => {
    const reads = node.inputs.flatMap((input) => makers.get(input) ?? []).filter((maker) => maker < k);
    const operator = node.domain === "" ? node.operator : `${node.domain}.${node.operator}`;
    return { name: nodeLabel(node), operator, reads: [...new Set(reads)], refusal: reasons.get(nodeLabel(node)) };
  });
}

function stepsOf({ program, origins }: CompiledModel): StepView[] {
  const checkpoints = new Set(program.checkpoints.map(({ step }) => step));
  return program.steps.map((step, s) => ({
    ...origins[s]!,
    dtype: dtypeName(step.dtype),
    count: step.count,
    bytes: step.count * dtypeBytes(step.dtype),
    gas: estimateStepProofGas(step),
    isCheckpoint: checkpoints.has(s),
  }));
}

/** Inputs: those that are given, and others from a seed, floats from -1 to 1, integers and truth values of 0 and 1. */
export function drawInputs({ program, inputs }: CompiledModel, given: GivenInputs, seed: number): Uint8Array[] {
  const prng = new Prng(seed);
  return program.inputs.map(({ dtype, count }, k) => {
    const own = given.get(inputs[k]!.name);
    if (own !== undefined) return own;
    const bytes = new Uint8Array(count * dtypeBytes(dtype));
    for (let k = 0; k < count; k++) writeWord(bytes, k, dtype, drawWord(prng, dtype));
    return bytes;
  });
}

/** Multiples of 1/128: every float type has them. */
const drawWord = (prng: Prng, dtype: DType): bigint =>
  isFloat(dtype) ? numberWord((prng.below(257) - 128) / 128, dtype) : BigInt(prng.below(2));

/** What both players of a dispute hold: the program, the inputs, the exact tensors of all steps, how they were made. */
export type Exact = {
  program: KnownProgram;
  inputs: readonly Uint8Array[];
  tensors: readonly Uint8Array[];
  how: Exactly;
};

/**
 * Executes a model exactly.
 * @param how What executes it.
 * @param inputs In the program's order.
 */
export async function runExactly(
  compiled: CompiledModel,
  how: Exactly,
  inputs: readonly Uint8Array[],
  progress: Progress,
): Promise<Exact> {
  const tensors = await how.run(inputs, { progress: (done, total) => progress("executing steps", done, total) });
  return { program: knownProgram(compiled), inputs, tensors, how };
}

/** Numbers of a step that are looked at. */
const LOOKED_AT = 256;

/** A sum of so many terms can be read. */
const [FEWEST_TERMS, MOST_TERMS] = [3, 256] as const;

/** Chooses numbers worth changing: the largest of each step, and a step in the middle whose sum can be read. */
export function worthChanging({ program, tensors }: Pick<Exact, "program" | "tensors">): Worth {
  const { steps } = program.model.program;
  const elements = steps.map(({ dtype, count }, s) => {
    let [best, size] = [0, -Infinity];
    if (!isElementType(dtype)) return best;
    for (let k = 0; k < Math.min(count, LOOKED_AT); k++) {
      const value = numberOf(readWord(tensors[s]!, k, dtype), dtype);
      if (Number.isFinite(value) && value > size) [best, size] = [k, value];
    }
    return best;
  });
  const middle = Math.floor(steps.length / 2);
  const byDistance = steps.map((_, s) => s).sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  const isReadable = (s: number): boolean => {
    const { dtype, redDigits, reduceType } = steps[s]!;
    const terms = redDigits.reduce((product, radix) => product * radix, 1);
    return isElementType(dtype) && reduceType !== undefined && terms >= FEWEST_TERMS && terms <= MOST_TERMS;
  };
  // A sum of products says more than a sum, and either more than a maximum.
  const step = [isDot, () => true]
    .map((isLiked) => byDistance.find((s) => isReadable(s) && isLiked(steps[s]!.reduce)))
    .find((found) => found !== undefined);
  return { step: step ?? middle, elements };
}

/** How many numbers of a float's type lie between two words; undefined of other types, and of what is no number. */
function lastPlaces(a: bigint, b: bigint, dtype: DType): number | undefined {
  if (!isFloat(dtype) || [a, b].some((word) => Number.isNaN(wordNumber(word, dtype)))) return undefined;
  const bits = 8 * dtypeBytes(dtype);
  const place = (word: bigint): bigint => {
    const size = BigInt.asUintN(bits - 1, word);
    return BigInt.asUintN(bits, word) === size ? size : -size;
  };
  const distance = place(a) - place(b);
  return Number(distance < 0n ? -distance : distance);
}

/**
 * The outputs of an execution, beside those of another one.
 * @param plain Of each output by its name: its bytes.
 */
export function outputViews(
  { program, tensors }: Exact,
  plain: ReadonlyMap<string, Uint8Array> | undefined,
): OutputView[] {
  const { program: steps, outputs } = program.model;
  return outputs.map(({ name, dtype, shape }, k) => {
    const bytes = tensors[steps.checkpoints[steps.outputs[k]!]!.step]!;
    const other = plain?.get(name);
    const count = bytes.length / dtypeBytes(dtype);
    const isOther = (index: number): boolean => readWord(bytes, index, dtype) !== readWord(other!, index, dtype);
    const all = Array.from({ length: count }, (_, index) => index);
    const differing = other?.length === bytes.length ? all.filter(isOther) : undefined;
    const distances = differing?.map((k) => lastPlaces(readWord(bytes, k, dtype), readWord(other!, k, dtype), dtype));
    const furthest = distances?.reduce(
      (max: number | undefined, own) => (own === undefined ? max : Math.max(max ?? 0, own)),
      undefined,
    );
    // What differs is shown first.
    const shown = [...new Set([...(differing ?? []).slice(0, SHOWN / 2), ...all.slice(0, SHOWN)])].slice(0, SHOWN);
    const elements = shown
      .sort((a, b) => a - b)
      .map((index): ElementView => {
        const word = readWord(bytes, index, dtype);
        const own = { index, exact: valueText(word, dtype), bits: bitsText(word, dtype) };
        if (differing === undefined) return own;
        const plainWord = readWord(other!, index, dtype);
        return { ...own, plain: { text: valueText(plainWord, dtype), bits: bitsText(plainWord, dtype) } };
      });
    return { name, dtype: dtypeName(dtype), shape, count, differing: differing?.length, furthest, elements };
  });
}
