import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { NodeInputError } from "../../../src/compiler/errors.ts";
import { firstDifference } from "../../../src/examine/conform/tolerance.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType, dtypeBytes, readWord } from "../../../src/numerics/dtype.ts";
import { wordNumber } from "../../../src/numerics/numbers.ts";
import { elementCount, type TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor, numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { executeBoth } from "../../../testkit/models/executeBoth.ts";
import { expectAgreement, modelOf, single, type Experiment } from "../../../testkit/onnx/agreement.ts";
import type { AttributeValue } from "../../../testkit/onnx/onnxBuilder.ts";
import { derivativesOf } from "../../../testkit/operators/derivatives.ts";
import { ML_CASES } from "../../../testkit/operators/mlCases.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

const F = DType.float32;
const D = DType.float64;
type Attributes = Readonly<Record<string, AttributeValue>>;

const compiled = (experiment: Experiment) => compile(readModel(modelOf(experiment)), { shapes: {} });

/** The outputs of an experiment. */
function outputsOf(experiment: Experiment): TensorData[] {
  const model = compiled(experiment);
  const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
  const tensors = executeReference(model, inputs);
  return model.outputs.map(({ dtype, shape }, k) => {
    const bytes = tensors[model.program.checkpoints[model.program.outputs[k]!]!.step]!;
    return { dtype, shape, bytes };
  });
}

const numbersOf = ({ bytes, dtype }: TensorData): number[] =>
  Array.from({ length: bytes.length / dtypeBytes(dtype) }, (_, i) => wordNumber(readWord(bytes, i, dtype), dtype));

describe("queries without keys", () => {
  const random = new RandomTensors(new Prng(3));
  const bool = (values: readonly number[], shape: readonly number[]): TensorData => ({
    dtype: DType.bool,
    shape,
    bytes: Uint8Array.from(values),
  });
  const [q, k, v] = [random.float([2, 2, 2, 4]), random.float([2, 2, 3, 4]), random.float([2, 2, 3, 4])];
  const attention = (
    more: Readonly<Record<string, TensorData>>,
    inputs: readonly string[],
    attributes: Attributes,
    opset = 24,
  ): Experiment => ({
    opset,
    operands: { q, k, v, ...more },
    nodes: [{ op: "Attention", inputs, outputs: ["y", "", "", "s"], attributes }],
    outputs: { y: F, s: F },
    atol: 1e-5,
  });

  for (const opset of [23, 24])
    for (const [kind, mask] of Object.entries({
      bool: bool([1, 0, 1, 0, 0, 0], [2, 3]),
      numbers: floatTensor([0.5, 0, -Infinity, -Infinity, -Infinity, -Infinity], [2, 3]),
    }))
      for (const qk_matmul_output_mode of [0, 3])
        it(`maskOf_${kind}_inOperatorSet${opset}_withOutputOfMode${qk_matmul_output_mode}_gives0`, async () => {
          const experiment = attention({ m: mask }, ["q", "k", "v", "m"], { qk_matmul_output_mode }, opset);
          await expectAgreement(experiment, "Attention");
          const [y] = outputsOf(experiment);
          const rows = numbersOf(y!);
          for (let head = 0; head < 4; head++)
            expect(rows.slice(8 * head + 4, 8 * head + 8)).to.deep.equal([0, 0, 0, 0]);
          const model = compiled(experiment);
          await executeBoth(
            model,
            model.inputs.map(({ name }) => experiment.operands[name]!.bytes),
          );
        });

  it("aScoreThatIsNoNumber_staysOne", () => {
    const broken = floatTensor(
      numbersOf(q).map((value, i) => (i === 0 ? NaN : value)),
      q.shape,
    );
    const [y] = outputsOf({
      ...attention({ q: broken, m: bool([0, 1, 1, 1, 1, 1], [2, 3]) }, ["q", "k", "v", "m"], {}),
    });
    expect(numbersOf(y!).slice(0, 4).every(Number.isNaN)).to.equal(true);
  });

  for (const [what, counts] of Object.entries({ some: [3, 2], fewerThanQueries: [1, 2], none: [0, 3] }))
    for (const is_causal of [0, 1])
      for (const masked of [false, true])
        it(`keyCounts_${what}_causal${is_causal}${masked ? "_masked" : ""}_agree`, async () => {
          const m = bool([1, 1, 0, 1, 1, 1], [2, 3]);
          const more = { n: int64Tensor(counts), ...(masked && { m }) };
          const names = ["q", "k", "v", masked ? "m" : "", "", "", "n"];
          await expectAgreement(attention(more, names, { is_causal, qk_matmul_output_mode: 3 }), "Attention");
        });
});

describe("gradients at these edges", () => {
  const near = (experiment: Experiment, what: string): void => {
    const found = derivativesOf(experiment, new RandomTensors(new Prng(4)));
    if (typeof found === "string") return expect.fail(`${what}: ${found}`);
    expect(found.byRule, what).to.be.closeTo(found.byDifferences, 1e-5 * (1 + Math.abs(found.byDifferences)));
  };

  it("ofQueriesWithoutKeys_areNumbers", () => {
    const random = new RandomTensors(new Prng(6));
    const operands = { q: random.float([2, 1, 2, 3]), k: random.float([2, 1, 3, 3]), v: random.float([2, 1, 3, 3]) };
    const of = (inputs: string[], initializers: Record<string, TensorData>, is_causal: number): Experiment => ({
      opset: 24,
      operands,
      initializers,
      nodes: [{ op: "Attention", inputs, outputs: ["y"], attributes: { is_causal } }],
      outputs: { y: F },
    });
    const m = { dtype: DType.bool, shape: [2, 3], bytes: Uint8Array.of(1, 0, 1, 0, 0, 0) };
    near(of(["q", "k", "v", "m"], { m }, 0), "mask");
    near(of(["q", "k", "v", "m"], { m }, 1), "mask and causal");
    for (const is_causal of [0, 1])
      near(of(["q", "k", "v", "", "", "", "n"], { n: int64Tensor([1, 3]) }, is_causal), `counts, causal ${is_causal}`);
  });

  it("ofPadsThatCut_areThoseOfWhatIsLeft", () => {
    const x = floatTensor([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]);
    for (const mode of ["constant", "edge", "reflect", "wrap"])
      near(single("Pad", [x], [int64Tensor([-1, 1, 1, -1])], { mode }, F, 19), mode);
    near(single("Pad", [floatTensor([1, 2, 3, 4])], [int64Tensor([-1, 2])], { mode: "wrap" }, F, 19), "wrap of one");
  });
});

describe("pads that cut", () => {
  const pad = (mode: string, pads: readonly number[], x: TensorData, opset = 19): Experiment =>
    single("Pad", [x], [int64Tensor(pads)], { mode }, F, opset);
  const x = floatTensor([1, 2, 3, 4]);

  it("isCutFirst_andThenPadded", async () => {
    await expectAgreement(pad("wrap", [-1, 2], x), "wrap");
    expect(numbersOf(outputsOf(pad("wrap", [-1, 2], x))[0]!)).to.deep.equal([2, 3, 4, 2, 3]);
    expect(numbersOf(outputsOf(pad("reflect", [2, -1], x))[0]!)).to.deep.equal([3, 2, 1, 2, 3]);
    expect(numbersOf(outputsOf(pad("edge", [2, -2], x))[0]!)).to.deep.equal([1, 1, 1, 2]);
    expect(numbersOf(outputsOf(pad("constant", [2, -1], x))[0]!)).to.deep.equal([0, 0, 1, 2, 3]);
    expect(numbersOf(outputsOf(pad("constant", [-4, 2], x))[0]!)).to.deep.equal([0, 0]);
    const square = floatTensor([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]);
    for (const mode of ["constant", "edge", "reflect", "wrap"])
      await expectAgreement(pad(mode, [-1, 1, 1, -1], square), mode);
  });

  it("reflectionBeyondWhatIsLeft_isRefused", () => {
    expect(() => compiled(pad("reflect", [-3, 1], x))).to.throw(NodeInputError, "leave 1 of the 4 elements");
    expect(() => compiled(pad("wrap", [-5, 4], x))).to.throw(NodeInputError);
    expect(() => compiled(pad("edge", [-4, 2], x))).to.throw(NodeInputError);
  });
});

describe("float64 in ai.onnx.ml", () => {
  const ml = (op: string, x: TensorData, attributes: Attributes, outputs: readonly DType[] = [F]): Experiment => ({
    imports: { "ai.onnx.ml": 3 },
    operands: { x },
    nodes: [{ op, domain: "ai.onnx.ml", inputs: ["x"], outputs: outputs.map((_, k) => `y${k}`), attributes }],
    outputs: Object.fromEntries(outputs.map((dtype, k) => [`y${k}`, dtype])),
  });
  const big = numberTensor(D, [16777217, 1], [1, 2]);
  // Without the last bit of float64 each result is 0.
  const row = { floats: [1, -16777216] };

  it("isNotRounded_beforeTheOperatorHasComputed", async () => {
    const scaler = ml("Scaler", big, { offset: { floats: [16777216, 0.5] }, scale: { floats: [1, 1] } });
    expect(numbersOf(outputsOf(scaler)[0]!)).to.deep.equal([1, 0.5]);
    await expectAgreement(scaler, "Scaler");
    const ones = ml("LinearRegressor", big, { coefficients: row, intercepts: { floats: [0] } });
    expect(numbersOf(outputsOf(ones)[0]!)).to.deep.equal([1]);
    const linear = { coefficients: row, rho: { floats: [0] } };
    expect(numbersOf(outputsOf(ml("SVMRegressor", big, linear))[0]!)).to.deep.equal([1]);
    const support = { n_supports: 1, support_vectors: row, coefficients: { floats: [1] }, rho: { floats: [0] } };
    expect(numbersOf(outputsOf(ml("SVMRegressor", big, { ...support, kernel_type: "LINEAR" }))[0]!)).to.deep.equal([1]);
    const rbf = {
      ...support,
      support_vectors: { floats: [16777216, 1] },
      kernel_type: "RBF",
      kernel_params: { floats: [1, 0, 0] },
    };
    expect(numbersOf(outputsOf(ml("SVMRegressor", big, rbf))[0]!)).to.deep.equal([Math.fround(Math.exp(-1))]);
    const labels = { classlabels_ints: [3, 5], coefficients: { floats: [...row.floats, 0, 0] } };
    const [label] = outputsOf(
      ml("LinearClassifier", big, { ...labels, intercepts: { floats: [0, 0.5] } }, [DType.int64, F]),
    );
    expect([...new BigInt64Array(Uint8Array.from(label!.bytes).buffer)]).to.deep.equal([3n]);
    const norm = numberTensor(D, [16777217, 16777216], [1, 2]);
    expect(numbersOf(outputsOf(ml("Normalizer", norm, { norm: "MAX" }))[0]!)[1]).to.equal(
      Math.fround(16777216 / 16777217),
    );
  });

  it("linearClassifier_agrees", () =>
    expectAgreement(
      ml(
        "LinearClassifier",
        numberTensor(D, [1, 2, 3, -4], [2, 2]),
        {
          classlabels_ints: [0, 1],
          coefficients: { floats: [-1, 1, 1, -1] },
          intercepts: { floats: [0, 0] },
          post_transform: "LOGISTIC",
        },
        [DType.int64, F],
      ),
      "LinearClassifier",
    ));

  it("everyOperator_givesWhatItGivesForFloat32", () => {
    const random = new RandomTensors(new Prng(9));
    const keepsType = new Set(["ArrayFeatureExtractor", "Binarizer", "Imputer"]);
    let count = 0;
    for (const [operator, makers] of Object.entries(ML_CASES)) {
      // Types of LabelEncoder and TreeEnsemble are those of their tensors.
      if (operator === "LabelEncoder" || operator === "TreeEnsemble") continue;
      for (const make of makers)
        for (let round = 0; round < 3; round++) {
          const experiment = make(random);
          const wide = (tensor: TensorData): TensorData =>
            tensor.dtype === F ? numberTensor(D, numbersOf(tensor), tensor.shape) : tensor;
          const operands = Object.fromEntries(
            Object.entries(experiment.operands).map(([name, tensor]) => [name, wide(tensor)]),
          );
          const own = outputsOf(experiment);
          outputsOf({ ...experiment, operands }).forEach((output, k) => {
            const narrow = output.dtype === D ? numberTensor(F, numbersOf(output), output.shape) : output;
            expect(output.dtype === D, operator).to.equal(keepsType.has(operator) && own[k]!.dtype === F);
            expect(elementCount(output.shape)).to.equal(elementCount(own[k]!.shape));
            expect(firstDifference(narrow, own[k]!, { rtol: 1e-4, atol: 1e-5 }), operator).to.equal(undefined);
            count++;
          });
        }
    }
    expect(count).to.be.above(30);
  });

  it("factorsOfTwoTypes_areNamed", () => {
    const product = single("MatMul", [big, floatTensor([1, 2], [2, 1])], [], {}, D);
    expect(() => compiled(product)).to.throw(NodeInputError, "factors are of float64 and float32");
  });
});
