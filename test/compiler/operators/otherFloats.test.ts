import { expect } from "chai";
import { differenceOf } from "../../../src/examine/compare/difference.ts";
import { compile } from "../../../src/compiler/compile.ts";
import { RefuteError } from "../../../src/base/errors.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType, dtypeName } from "../../../src/numerics/dtype.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { runOnnxruntime } from "../../../testkit/onnx/onnxruntime.ts";
import { CASES } from "../../../testkit/operators/cases.ts";
import { MICROSOFT_ATTENTION_CASES } from "../../../testkit/operators/microsoftAttentionCases.ts";
import { MICROSOFT_CASES } from "../../../testkit/operators/microsoftCases.ts";
import { experimentIn } from "../../../testkit/operators/otherFloats.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

const ALL = Object.entries({ ...CASES, ...MICROSOFT_CASES, ...MICROSOFT_ATTENTION_CASES });

/** The experiments of an operator that have float32 tensors, in another type. */
function experimentsIn(makers: (typeof ALL)[number][1], dtype: DType): Experiment[] {
  const random = new RandomTensors(new Prng(11));
  const isFloat = ({ dtype: own }: TensorData): boolean => own === DType.float32;
  return makers
    .map((make) => make(random))
    .filter(({ operands, initializers = {} }) =>
      [...Object.values(operands), ...Object.values(initializers)].some(isFloat),
    )
    .map((experiment) => experimentIn(experiment, dtype));
}

/** The outputs of a model; undefined if it is refused. */
async function outputsOf(experiment: Experiment): Promise<Map<string, TensorData> | undefined> {
  let model: CompiledModel;
  try {
    model = compile(readModel(modelOf(experiment)), { shapes: {} });
  } catch (error) {
    if (error instanceof RefuteError) return undefined;
    throw error;
  }
  const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
  const tensors = executeReference(model, inputs);
  const executor = await createExecutor(model);
  const fast = await executor.run(inputs);
  await executor.close();
  tensors.forEach((bytes, s) => expect(Buffer.compare(bytes, fast.tensors[s]!), `step ${s}`).to.equal(0));
  return new Map(
    model.outputs.map(({ name, dtype, shape }, k) => [
      name,
      { dtype, shape, bytes: tensors[model.program.checkpoints[model.program.outputs[k]!]!.step]! },
    ]),
  );
}

/** How many outputs agree with onnxruntime's, where it takes the model. */
async function agreements(operator: string, makers: (typeof ALL)[number][1], dtype: DType): Promise<number> {
  let compared = 0;
  for (const experiment of experimentsIn(makers, dtype)) {
    const own = await outputsOf(experiment);
    const feeds = new Map(Object.entries(experiment.operands));
    const other = await runOnnxruntime(modelOf(experiment), feeds).catch(() => undefined);
    if (own === undefined || other === undefined) continue;
    for (const [name, tensor] of own) {
      const wanted = other.get(name)!;
      const what = `${operator} ${JSON.stringify(experiment.nodes[0]!.attributes)}, ${name}`;
      expect([tensor.dtype, ...tensor.shape], what).to.deep.equal([wanted.dtype, ...wanted.shape]);
      expect(differenceOf(tensor, wanted).first, what).to.equal(undefined);
      compared++;
    }
  }
  return compared;
}

describe("operators on other floats", function () {
  this.timeout(180_000);

  it("float16_agreesWithOnnxruntime", async () => {
    let compared = 0;
    for (const [operator, makers] of ALL) compared += await agreements(operator, makers, DType.float16);
    expect(compared).to.be.greaterThan(200);
  });

  it("float64_agreesWithOnnxruntime", async () => {
    let compared = 0;
    for (const [operator, makers] of ALL) compared += await agreements(operator, makers, DType.float64);
    expect(compared).to.be.greaterThan(100);
  });

  it("bfloat16_isTakenByEveryOperatorThatTakesFloat16", () => {
    for (const [operator, makers] of ALL) {
      const taken = (dtype: DType): boolean[] =>
        experimentsIn(makers, dtype).map((experiment) => {
          try {
            compile(readModel(modelOf(experiment)), { shapes: {} });
            return true;
          } catch (error) {
            if (error instanceof RefuteError) return false;
            throw error;
          }
        });
      expect(taken(DType.bfloat16), `${operator} of ${dtypeName(DType.bfloat16)}`).to.deep.equal(taken(DType.float16));
    }
  });
});
