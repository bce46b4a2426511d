/** Experiments drawn by fast-check, which shrinks any difference from onnxruntime. */
import { expect } from "chai";
import fc from "fast-check";
import { compile } from "../../src/compiler/compile.ts";
import { RefuteError } from "../../src/base/errors.ts";
import type { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { expectAgreement, modelOf, type Experiment } from "../onnx/agreement.ts";
import { Prng } from "../random/prng.ts";
import { runOnnxruntime } from "../onnx/onnxruntime.ts";
import type { Make } from "../operators/makers.ts";
import { RandomTensors } from "../random/tensors.ts";

/**
 * Tensors whose shape decisions come from fast-check and shrink. The elements of each tensor come from a separate seed.
 */
class GeneratedTensors extends RandomTensors {
  readonly #gen: fc.GeneratorValue;

  constructor(gen: fc.GeneratorValue) {
    const prng = new Prng(0);
    prng.below = (bound) => gen(fc.nat, bound - 1);
    prng.pick = (choices) => choices[gen(fc.nat, choices.length - 1)]!;
    super(prng);
    this.#gen = gen;
  }

  #elements(): RandomTensors {
    return new RandomTensors(new Prng(this.#gen(fc.nat, 0xffff)));
  }

  override float(shape: readonly number[], low = -4, high = 4): TensorData {
    return this.#elements().float(shape, low, high);
  }

  override integer(dtype: DType, shape: readonly number[], low: number, high: number): TensorData {
    return this.#elements().integer(dtype, shape, low, high);
  }
}

/** How many experiments ended how; why some were refused, and where onnxruntime does not run them. */
type Tally = { agreed: number; refused: Map<string, number>; notRun: Map<string, number> };

const count = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1);

/** One experiment. What either side refuses by name is counted; anything else must agree. */
async function judge(experiment: Experiment, tally: Tally): Promise<void> {
  const bytes = modelOf(experiment);
  const what = JSON.stringify({
    opset: experiment.opset,
    nodes: experiment.nodes,
    shapes: Object.entries({ ...experiment.operands, ...experiment.initializers }).map(
      ([name, { dtype, shape }]) => `${name}:${dtype}[${shape.join()}]`,
    ),
  });
  try {
    await runOnnxruntime(bytes, new Map(Object.entries(experiment.operands)));
  } catch (error) {
    return count(tally.notRun, `${experiment.nodes[0]?.op}: ${(error as Error).message.slice(0, 160)}`);
  }
  try {
    compile(readModel(bytes), { shapes: {} });
  } catch (error) {
    if (!(error instanceof RefuteError)) throw new Error(`${what}: ${(error as Error).stack}`, { cause: error });
    return count(tally.refused, error.message.replaceAll(/\d+/g, "N"));
  }
  await expectAgreement(experiment, what);
  tally.agreed++;
}

/** Runs random experiments of a maker. @throws the shrunk experiment on which the results differ */
export async function fuzz(make: Make, numRuns: number, seed?: number): Promise<Tally> {
  const tally: Tally = { agreed: 0, refused: new Map(), notRun: new Map() };
  const property = fc.asyncProperty(fc.gen(), (gen) => judge(make(new GeneratedTensors(gen)), tally));
  await fc.assert(property, { numRuns, endOnFailure: false, ...(seed === undefined ? {} : { seed }) });
  expect(tally.agreed + tally.refused.size + tally.notRun.size).to.be.above(0);
  return tally;
}
