import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { NodeInputError, UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType, dtypeBytes, readWord } from "../../../src/numerics/dtype.ts";
import { numberWord, wordNumber } from "../../../src/numerics/numbers.ts";
import { elementCount, type TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor, numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { expectAgreement, modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import type { AttributeValue, NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { ALL_CASES } from "../../../testkit/operators/allCases.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

type Attributes = Readonly<Record<string, AttributeValue>>;

const F = DType.float32;
const I = DType.int64;
const ML = "ai.onnx.ml";
const [MIN, MAX] = [-(2n ** 63n), 2n ** 63n - 1n];
/** The ends of int64, and neighbours that are one number of 53 bits. */
const EDGES = [MIN, MIN + 1n, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, MAX - 1n, MAX];

const compiled = (experiment: Experiment) => compile(readModel(modelOf(experiment)), { shapes: {} });
const rootOf = (experiment: Experiment): string => compiled(experiment).programRoot;

/** The integers of each output. */
function results(experiment: Experiment): bigint[][] {
  const model = compiled(experiment);
  const tensors = executeReference(
    model,
    model.inputs.map(({ name }) => experiment.operands[name]!.bytes),
  );
  return model.outputs.map(({ dtype, shape }, k) => {
    const bytes = tensors[model.program.checkpoints[model.program.outputs[k]!]!.step]!;
    return Array.from({ length: elementCount(shape) }, (_, i) => readWord(bytes, i, dtype));
  });
}

const wordsOf = ({ bytes, dtype }: TensorData): bigint[] =>
  Array.from({ length: bytes.length / dtypeBytes(dtype) }, (_, i) => readWord(bytes, i, dtype));

const ml = (op: string, x: TensorData, attributes: Attributes, outputs: readonly DType[], version = 3): Experiment => ({
  imports: { [ML]: version },
  operands: { x },
  nodes: [{ op, domain: ML, inputs: ["x"], outputs: outputs.map((_, k) => `y${k}`), attributes }],
  outputs: Object.fromEntries(outputs.map((dtype, k) => [`y${k}`, dtype])),
});

/** The same constants as Constant nodes with integers in an attribute, at the front of the graph. */
function inAttributes(experiment: Experiment): Experiment {
  const all = Object.entries(experiment.initializers ?? {});
  const moved = all.filter(([, { dtype, shape }]) => dtype === I && shape.length <= 1);
  const nodes = moved.map(([name, tensor]): NodeSpec => {
    const words = wordsOf(tensor);
    const attributes: Attributes = tensor.shape.length === 0 ? { value_int: words[0]! } : { value_ints: words };
    return { op: "Constant", inputs: [], outputs: [name], attributes };
  });
  return {
    ...experiment,
    nodes: [...nodes, ...experiment.nodes],
    initializers: Object.fromEntries(all.filter((entry) => !moved.includes(entry))),
  };
}

describe("one constant in several forms", () => {
  it("everyOperator_hasOneProgram_whetherIntegersAreTensorsOrAttributes", () => {
    const random = new RandomTensors(new Prng(5));
    let count = 0;
    for (const [operator, makers] of Object.entries(ALL_CASES))
      for (const make of makers) {
        const experiment = make(random);
        const other = inAttributes(experiment);
        if (other.nodes.length === experiment.nodes.length || (experiment.opset ?? 17) < 12) continue;
        count++;
        expect(rootOf(other), operator).to.equal(rootOf(experiment));
      }
    expect(count).to.be.above(40);
  });

  it("constants_haveAllBits_inEveryForm", () => {
    const add = (nodes: readonly NodeSpec[], c: TensorData, initializers?: Experiment["initializers"]): Experiment => ({
      operands: { x: int64Tensor([0n]) },
      initializers: initializers ?? {},
      nodes: [...nodes, { op: "Add", inputs: ["x", "c"], outputs: ["y"] }],
      outputs: { y: c.dtype },
    });
    const constant = (attributes: Attributes): NodeSpec => ({ op: "Constant", inputs: [], outputs: ["c"], attributes });
    const list = int64Tensor(EDGES);
    const forms = [
      add([constant({ value_ints: EDGES })], list),
      add([constant({ value: { tensor: list } })], list),
      add([], list, { c: list }),
    ];
    expect(new Set(forms.map(rootOf)).size).to.equal(1);
    expect(results(forms[0]!)).to.deep.equal([EDGES]);
    for (const edge of EDGES) {
      const one = int64Tensor([edge], []);
      const scalars = [
        add([constant({ value_int: edge })], one),
        add([constant({ value: { tensor: one } })], one),
        add([], one, { c: one }),
      ];
      expect(new Set(scalars.map(rootOf)).size, String(edge)).to.equal(1);
      expect(results(scalars[0]!)).to.deep.equal([[edge]]);
    }
  });

  it("boundsOfSlice_areCut_inEveryForm", async () => {
    const x = floatTensor([1, 2, 3, 4]);
    for (const [start, end] of [
      [1n, MAX],
      [MIN, 2n],
      [-(2n ** 53n) - 1n, 2n ** 53n + 1n],
      [-3n, MAX - 1n],
    ] as const) {
      const node = { op: "Slice", outputs: ["y"] };
      const old: Experiment = {
        opset: 9,
        operands: { x },
        nodes: [{ ...node, inputs: ["x"], attributes: { starts: [start], ends: [end], axes: [0n] } }],
        outputs: { y: F },
      };
      const initializers = { s: int64Tensor([start]), e: int64Tensor([end]), a: int64Tensor([0]) };
      const tensors: Experiment = {
        operands: { x },
        initializers,
        nodes: [{ ...node, inputs: ["x", "s", "e", "a"] }],
        outputs: { y: F },
      };
      const roots = [old, tensors, inAttributes(tensors)].map(rootOf);
      expect(new Set(roots).size, `${start}:${end}`).to.equal(1);
      await expectAgreement(inAttributes(tensors), `${start}:${end}`);
    }
    const backwards: Experiment = {
      operands: { x },
      initializers: { s: int64Tensor([MAX]), e: int64Tensor([MIN]), a: int64Tensor([0]), t: int64Tensor([MIN]) },
      nodes: [{ op: "Slice", inputs: ["x", "s", "e", "a", "t"], outputs: ["y"] }],
      outputs: { y: F },
    };
    expect(rootOf(inAttributes(backwards))).to.equal(rootOf(backwards));
    expect(results(backwards)).to.deep.equal([wordsOf(floatTensor([4]))]);
  });

  it("attributesOfOlderOperatorSets_haveTheProgramOfLaterInputs", () => {
    type Forms = [op: string, opset: number, own: Record<string, bigint[] | bigint>, later: number, names: string[]];
    const reductions = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"];
    const forms: Forms[] = [
      ...reductions.map((name): Forms => [
        `Reduce${name}`,
        11,
        { axes: [-1n, 0n] },
        name === "Sum" ? 13 : 18,
        ["axes"],
      ]),
      ["Squeeze", 11, { axes: [-2n] }, 13, ["axes"]],
      ["Unsqueeze", 11, { axes: [0n, -1n] }, 13, ["axes"]],
      ["Split", 11, { split: [1n, 1n] }, 13, ["split"]],
      ["Pad", 2, { pads: [1n, 0n, -1n, 2n, 0n, 1n] }, 13, ["pads"]],
      ["TopK", 9, { k: 2n }, 11, ["k"]],
      ["Slice", 9, { starts: [-1n, MIN], ends: [MAX, 1n], axes: [0n, 2n] }, 10, ["starts", "ends", "axes"]],
    ];
    const x = floatTensor([1, 2, 3, 4, 5, 6], [2, 1, 3]);
    for (const [op, opset, attributes, later, names] of forms) {
      const outputs = op === "Split" ? ["y", "z"] : op === "TopK" ? ["y", ""] : ["y"];
      const of = (
        version: number,
        inputs: string[],
        given: Attributes,
        initializers: Experiment["initializers"] = {},
      ) =>
        rootOf({
          opset: version,
          operands: { x },
          initializers,
          nodes: [{ op, inputs: ["x", ...inputs], outputs, attributes: given }],
          outputs: { y: F },
        });
      const tensors = Object.entries(attributes).map(([name, list]) => [name, int64Tensor([list].flat())] as const);
      expect(of(opset, [], attributes), op).to.equal(of(later, names, {}, Object.fromEntries(tensors)));
    }
  });

  it("otherBounds_sayAll", async () => {
    const x = floatTensor([1, 2, 3, 4, 5, 6], [2, 3]);
    for (const k of [MIN, -1n, 2n ** 53n + 1n, MAX])
      for (const upper of [0, 1]) {
        const trilu: Experiment = {
          operands: { x },
          initializers: { k: int64Tensor([k], []) },
          nodes: [{ op: "Trilu", inputs: ["x", "k"], outputs: ["y"], attributes: { upper } }],
          outputs: { y: F },
        };
        // Of the element in row i and column j, j - i against k: no overflow.
        const kept = Array.from({ length: 6 }, (_, at) => {
          const distance = BigInt((at % 3) - Math.floor(at / 3));
          return (upper ? distance >= k : distance <= k) ? at + 1 : 0;
        });
        expect(results(trilu), `${k} ${upper}`).to.deep.equal([wordsOf(floatTensor(kept))]);
      }
    await expectAgreement(
      {
        operands: { x },
        nodes: [
          { op: "Shape", inputs: ["x"], outputs: ["s"], attributes: { start: MIN, end: MAX } },
          { op: "Cast", inputs: ["s"], outputs: ["f"], attributes: { to: F } },
          { op: "ReduceSum", inputs: ["f"], outputs: ["n"], attributes: { keepdims: 0 } },
          { op: "Mul", inputs: ["x", "n"], outputs: ["y"] },
        ],
        outputs: { y: F },
      },
      "Shape",
    );
  });

  it("sizesBeyondAllSizes_areRefusedByName", () => {
    const concat: Experiment = {
      operands: { x: floatTensor([1, 2]) },
      nodes: [{ op: "Concat", inputs: ["x", "x"], outputs: ["y"], attributes: { axis: 2n ** 53n + 1n } }],
      outputs: { y: F },
    };
    expect(() => compiled(concat)).to.throw(UnsupportedOperatorError, "axis: is 9007199254740993");
    const reshape: Experiment = {
      operands: { x: floatTensor([1, 2]) },
      initializers: { s: int64Tensor([MAX]) },
      nodes: [{ op: "Reshape", inputs: ["x", "s"], outputs: ["y"] }],
      outputs: { y: F },
    };
    expect(() => compiled(reshape)).to.throw(UnsupportedOperatorError, `shape: is ${MAX}`);
  });
});

describe("integers of ai.onnx.ml", () => {
  const x = int64Tensor(EDGES);

  it("keysAndValuesOfLabelEncoder_haveAllBits_inEveryForm", () => {
    const values = EDGES.toReversed();
    const lists = ml("LabelEncoder", x, { keys_int64s: EDGES, values_int64s: values, default_int64: MIN }, [I], 4);
    const attributes = {
      keys_tensor: { tensor: x },
      values_tensor: { tensor: int64Tensor(values) },
      default_tensor: { tensor: int64Tensor([MIN]) },
    };
    const tensors = ml("LabelEncoder", x, attributes, [I], 4);
    expect(rootOf(lists)).to.equal(rootOf(tensors));
    expect(results(lists)).to.deep.equal([values]);
    const few = ml("LabelEncoder", x, { keys_int64s: [2n ** 53n], values_int64s: [7n], default_int64: MAX }, [I]);
    expect(results(few)).to.deep.equal([EDGES.map((edge) => (edge === 2n ** 53n ? 7n : MAX))]);
  });

  it("keyNaN_isFound_inEveryVersion", async () => {
    const numbers = floatTensor([1, NaN, 3, 4, -1]);
    const attributes = { keys_floats: { floats: [1, 2, 3, NaN] }, values_int64s: [10, 20, 30, 99], default_int64: -1 };
    for (const version of [2, 3, 4]) {
      const experiment = ml("LabelEncoder", numbers, attributes, [I], version);
      expect(results(experiment)).to.deep.equal([[10n, 99n, 30n, -1n, -1n]]);
      if (version === 4) await expectAgreement(experiment, "NaN");
    }
  });

  it("categoriesOfOneHotEncoder_haveAllBits", () => {
    const experiment = ml("OneHotEncoder", x, { cats_int64s: EDGES }, [F]);
    const [one, zero] = [wordsOf(floatTensor([1]))[0]!, 0n];
    expect(results(experiment)).to.deep.equal([EDGES.flatMap((a) => EDGES.map((b) => (a === b ? one : zero)))]);
  });

  it("valuesOfImputer_haveAllBits", () => {
    const attributes = { imputed_value_int64s: [MAX], replaced_value_int64: 2n ** 53n + 1n };
    const expected = EDGES.map((edge) => (edge === 2n ** 53n + 1n ? MAX : edge));
    expect(results(ml("Imputer", x, attributes, [I]))).to.deep.equal([expected]);
  });

  it("imputerOfIntegers_withBothLists_takesTheIntegers", () => {
    // The floats are too many for the columns, and too large for the type: nothing of them is read.
    const both = {
      imputed_value_floats: { floats: [0.5, 1e30] },
      imputed_value_int64s: [7n],
      replaced_value_int64: 1n,
    };
    expect(results(ml("Imputer", int64Tensor([1, 2]), both, [I]))).to.deep.equal([[7n, 2n]]);
  });

  it("scalerOfFloat16_computesInFloat32_andRoundsOnce", () => {
    const half = (number: number): number => wordNumber(numberWord(number, DType.float16), DType.float16);
    const values = [0.1, 2049, 65504].map(half);
    const [offset, scale] = [-1000.3, 0.7].map(Math.fround) as [number, number];
    const expected = values.map((value) => half(Math.fround(Math.fround(value - offset) * scale)));
    // In float16 the difference of the last has no room.
    expect(half(half(65504 - offset) * scale)).to.equal(Infinity);
    expect(expected[2]).to.be.below(65504);
    const attributes = { offset: { floats: [offset] }, scale: { floats: [scale] } };
    const scaled = results(ml("Scaler", numberTensor(DType.float16, values), attributes, [DType.float16]));
    expect(scaled).to.deep.equal([wordsOf(numberTensor(DType.float16, expected))]);
  });

  it("valuesOfNarrowerIntegers_areThoseOfTheirType", () => {
    const int32 = (values: readonly number[]): TensorData => numberTensor(DType.int32, values);
    const tensors = { keys_tensor: { tensor: int64Tensor([7]) }, values_tensor: { tensor: int32([5]) } };
    const encoder = (more: Attributes) =>
      ml("LabelEncoder", int64Tensor([7, 8]), { ...tensors, ...more }, [DType.int32], 4);
    // The default of values of integers is -1.
    expect(results(encoder({}))).to.deep.equal([[5n, -1n]]);
    expect(() => compiled(encoder({ default_int64: 2n ** 31n }))).to.throw(NodeInputError, "beyond int32");
    expect(() => compiled(encoder({ default_tensor: { tensor: int64Tensor([1]) } }))).to.throw(NodeInputError, "type");
    const imputer = (value: bigint, missing: bigint) =>
      ml("Imputer", int32([0, 1]), { imputed_value_int64s: [value], replaced_value_int64: missing }, [DType.int32]);
    expect(results(imputer(9n, 1n))).to.deep.equal([[0n, 9n]]);
    expect(results(imputer(9n, 2n ** 32n + 1n))).to.deep.equal([[0n, 1n]]);
    expect(() => compiled(imputer(2n ** 32n + 9n, 1n))).to.throw(NodeInputError, "beyond int32");
  });

  it("labelsOfClassifiers_haveAllBits", () => {
    const labels = [2n ** 53n + 1n, MIN, MAX];
    const features = floatTensor([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3]);
    const identity = { floats: [1, 0, 0, 0, 1, 0, 0, 0, 1] };
    const linear = { classlabels_ints: labels, coefficients: identity, intercepts: { floats: [0, 0, 0] } };
    expect(results(ml("LinearClassifier", features, linear, [I, F]))[0]).to.deep.equal(labels);
    const machine = { classlabels_ints: labels, coefficients: identity, rho: { floats: [0] } };
    expect(results(ml("SVMClassifier", features, machine, [I, F]))[0]).to.deep.equal(labels);
    const leaf = (k: number): Attributes => ({
      nodes_treeids: [0, 1, 2],
      nodes_nodeids: [0, 0, 0],
      nodes_featureids: [0, 0, 0],
      nodes_truenodeids: [0, 0, 0],
      nodes_falsenodeids: [0, 0, 0],
      nodes_values: { floats: [0, 0, 0] },
      nodes_modes: { strings: ["LEAF", "LEAF", "LEAF"] },
      class_treeids: [0, 1, 2],
      class_nodeids: [0, 0, 0],
      class_ids: [0, 1, 2],
      class_weights: { floats: [0, 1, 2].map((own) => Number(own === k)) },
      classlabels_int64s: labels,
    });
    labels.forEach((label, k) =>
      expect(results(ml("TreeEnsembleClassifier", features, leaf(k), [I, F]))[0]).to.deep.equal([label, label, label]),
    );
  });
});

describe("integers of other operators", () => {
  it("poolOfTfIdfVectorizer_hasAllBits", () => {
    const experiment: Experiment = {
      operands: { x: int64Tensor([...EDGES, MAX], [1, EDGES.length + 1]) },
      nodes: [
        {
          op: "TfIdfVectorizer",
          inputs: ["x"],
          outputs: ["y"],
          attributes: {
            pool_int64s: EDGES,
            ngram_counts: [0],
            ngram_indexes: EDGES.map((_, k) => k),
            min_gram_length: 1,
            max_gram_length: 1,
            max_skip_count: 0,
            mode: "TF",
          },
        },
      ],
      outputs: { y: F },
    };
    expect(results(experiment)).to.deep.equal([wordsOf(floatTensor(EDGES.map((edge) => (edge === MAX ? 2 : 1))))]);
  });

  it("ignoredClass_hasAllBits", async () => {
    const scores = floatTensor([-1, -2, -3, -4], [2, 2]);
    const loss = (target: TensorData, ignore_index: bigint): Experiment => ({
      operands: { x: scores, t: target },
      nodes: [
        {
          op: "NegativeLogLikelihoodLoss",
          inputs: ["x", "t"],
          outputs: ["y"],
          attributes: { ignore_index, reduction: "none" },
        },
      ],
      outputs: { y: F },
    });
    // 2^32 is not 0, and 2^53 + 1 is not 2^53.
    const int32 = { dtype: DType.int32, shape: [2], bytes: new Uint8Array(Int32Array.of(0, 1).buffer) };
    expect(results(loss(int32, 2n ** 32n))).to.deep.equal([wordsOf(floatTensor([1, 4]))]);
    await expectAgreement(loss(int32, 2n ** 32n), "ignore_index");
    expect(results(loss(int64Tensor([1n, MAX]), MAX))).to.deep.equal([wordsOf(floatTensor([2, 0]))]);
    const far = results(loss(int64Tensor([2n ** 53n, 1n]), 2n ** 53n + 1n));
    expect(far).to.deep.equal(results(loss(int64Tensor([2n ** 53n, 1n]), -7n)));
  });
});
