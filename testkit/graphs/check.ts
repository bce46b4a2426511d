import { compile } from "../../src/compiler/compile.ts";
import { StepTooExpensiveError } from "../../src/compiler/errors.ts";
import { createExecutor, type ExecutorOptions } from "../../src/executor/createExecutor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { RefuteError } from "../../src/base/errors.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { modelOf, type Experiment } from "../onnx/agreement.ts";
import type { Graph } from "./graph.ts";

/** An executor's name and options; executors are made anew for each program. */
export type Variant = { name: string; options: ExecutorOptions };

/** A check's counts. */
export type Tally = { graphs: number; refused: Map<string, number>; operators: Set<string>; steps: number };

export const newTally = (): Tally => ({ graphs: 0, refused: new Map(), operators: new Set(), steps: 0 });

type Outputs = ReadonlyMap<string, Uint8Array>;

function outputsOf({ program, outputs }: CompiledModel, tensors: readonly Uint8Array[]): Outputs {
  return new Map(outputs.map(({ name }, k) => [name, tensors[program.checkpoints[program.outputs[k]!]!.step]!]));
}

const compiled = (experiment: Experiment): CompiledModel => compile(readModel(modelOf(experiment)), { shapes: {} });

/** Shares of a program's largest step proof, tried in turn: the steps decide which gas limits are possible. */
const LIMITS = [0.5, 0.7, 0.85, 0.95];

/** Compiles the graph with the largest step split. Returns the original program if no split succeeds. */
function splitFurther(experiment: Experiment, model: CompiledModel): CompiledModel {
  for (const share of LIMITS) {
    try {
      const stepGasLimit = Math.floor(model.program.maxStepGas * share);
      return compile(readModel(modelOf(experiment)), { shapes: {}, stepGasLimit });
    } catch (error) {
      if (!(error instanceof StepTooExpensiveError)) throw error;
    }
  }
  return model;
}

/** Where two tensors differ first, in words for people. */
function difference(a: Uint8Array, b: Uint8Array, bytes: number): string {
  const at = a.findIndex((byte, k) => byte !== b[k]);
  const element = Math.floor(at / bytes);
  const hex = (x: Uint8Array): string =>
    Buffer.from(x.slice(element * bytes, (element + 1) * bytes))
      .reverse()
      .toString("hex");
  return `element ${element}: ${hex(a)} against ${hex(b)} (${a.length / bytes} elements)`;
}

/**
 * Compares every executor with the reference, bit by bit, on every tensor in a graph's program. Neither fusing nor
 * splitting may change an output bit: the check repeats with every value as an output, and under a lower gas limit.
 * @returns the first disagreement, if any
 */
export async function disagreement(
  graph: Graph,
  variants: readonly Variant[],
  tally: Tally,
): Promise<string | undefined> {
  const experiment = graph.experiment((_, isRead) => !isRead);
  let model: CompiledModel;
  let unfused: CompiledModel;
  let split: CompiledModel;
  try {
    model = compiled(experiment);
    split = splitFurther(experiment, model);
    unfused = compiled(graph.experiment(() => true));
  } catch (error) {
    if (!(error instanceof RefuteError)) throw error;
    tally.refused.set(error.message, (tally.refused.get(error.message) ?? 0) + 1);
    return undefined;
  }
  tally.graphs++;
  graph.nodes.forEach(({ op }) => tally.operators.add(op));
  tally.steps += model.program.steps.length;
  const inputsOf = ({ inputs }: CompiledModel): Uint8Array[] =>
    inputs.map(({ name }) => experiment.operands[name]!.bytes);
  const inputs = inputsOf(model);
  const expected = executeReference(model, inputs);

  const inParts = executeReference(split, inputs);
  const others = {
    unfused: outputsOf(unfused, executeReference(unfused, inputsOf(unfused))),
    split: outputsOf(split, inParts),
  };
  for (const [name, bytes] of outputsOf(model, expected))
    for (const [how, other] of Object.entries(others))
      if (Buffer.compare(bytes, other.get(name)!) !== 0)
        return `${name} differs ${how}, byte by byte: ${difference(bytes, other.get(name)!, 1)}`;

  const apart = await executorsDisagree(split, inputs, inParts, variants.slice(0, 1));
  return apart === undefined ? executorsDisagree(model, inputs, expected, variants) : `split: ${apart}`;
}

/**
 * Runs a program on several executors.
 * @param expected The reference's tensors.
 * @returns the first tensor that differs from the reference's, in words, or undefined
 */
export async function executorsDisagree(
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  expected: readonly Uint8Array[],
  variants: readonly Variant[],
): Promise<string | undefined> {
  for (const { name, options } of variants) {
    const executor = await createExecutor(model, options);
    try {
      const { tensors } = await executor.run(inputs);
      for (const [s, bytes] of expected.entries()) {
        if (Buffer.compare(bytes, tensors[s]!) === 0) continue;
        const size = bytes.length / model.program.steps[s]!.count;
        return `${name}, step ${s} (${model.origins[s]!.operator}): ${difference(bytes, tensors[s]!, size)}`;
      }
    } finally {
      await executor.close();
    }
  }
  return undefined;
}
