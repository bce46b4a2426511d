import { expect } from "chai";
import { compileCircuit, type ProgramCircuit } from "../../src/circuits/compileCircuit.ts";
import { CircuitRefusalError } from "../../src/circuits/errors.ts";
import { witnessOf } from "../../src/circuits/witness.ts";
import type { Domain } from "../../src/circuits/words.ts";
import { compile } from "../../src/compiler/compile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor, numberTensor } from "../../src/model/onnx/tensorData.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { outputsOf } from "../../testkit/circuits/networks.ts";
import { buildModel, type ModelSpec } from "../../testkit/onnx/onnxBuilder.ts";

const { uint8, int64, float32, int32, bool } = DType;

type Both = { model: CompiledModel; circuit: ProgramCircuit };

function both(spec: ModelSpec, domain?: Domain): Both {
  const model = compile(readModel(buildModel(spec)), { shapes: {} });
  return {
    model,
    circuit: compileCircuit(
      model,
      model.inputs.map(() => domain),
    ),
  };
}

/** The circuit has the executor's outputs, and no others. */
function check({ model, circuit }: Both, inputs: readonly Uint8Array[]): void {
  const outputs = outputsOf(model, inputs);
  witnessOf(circuit, inputs, outputs, 77n);
  outputs.forEach((bytes, o) => {
    const others = outputs.map((other, k) => (k === o ? bytes.map((byte) => byte ^ 1) : other));
    expect(() => witnessOf(circuit, inputs, others, 77n)).to.throw("other outputs were given");
  });
}

/** Reads x at an index, and at the same index after some nodes. */
const readsTwice = (nodes: ModelSpec["nodes"], more: ModelSpec["inputs"] = []): ModelSpec => ({
  inputs: [{ name: "c", dtype: bool, shape: [1] }, { name: "x", dtype: uint8, shape: [5] }, ...more],
  outputs: ["y", "z"].map((name) => ({ name, dtype: uint8, shape: [1] })),
  nodes: [
    { op: "Where", inputs: ["c", "four", "zero"], outputs: ["i"] },
    { op: "Gather", inputs: ["x", "i"], outputs: ["y"] },
    ...nodes,
    { op: "Gather", inputs: ["x", "j"], outputs: ["z"] },
  ],
  initializers: { four: int64Tensor([4], [1]), zero: int64Tensor([0], [1]) },
});

/** A function of a byte's table of integers, rounded to a byte. */
const ofTable = (table: readonly number[], nodes: ModelSpec["nodes"]): ModelSpec => ({
  inputs: [{ name: "x", dtype: uint8, shape: [1] }],
  outputs: [{ name: "y", dtype: uint8, shape: [1] }],
  nodes: [
    { op: "Cast", inputs: ["x"], outputs: ["k"], attributes: { to: BigInt(int64) } },
    { op: "Gather", inputs: ["w", "k"], outputs: ["i"] },
    { op: "Cast", inputs: ["i"], outputs: ["f"], attributes: { to: BigInt(float32) } },
    ...nodes,
    { op: "QuantizeLinear", inputs: ["h", "s", "o"], outputs: ["y"] },
  ],
  initializers: {
    w: numberTensor(int32, [...table]),
    tenth: floatTensor([0.1], []),
    two: floatTensor([2], []),
    s: floatTensor([1], []),
    o: numberTensor(uint8, [0], []),
  },
});

describe("numbers of a circuit with several readers", function () {
  this.timeout(60_000);
  const x = Uint8Array.of(10, 11, 12, 13, 14);

  for (const op of ["Add", "Sub"])
    it(`indexPlusZero_hasTheNumbersOfTheIndex (${op})`, () => {
      const one = both(readsTwice([{ op, inputs: ["i", "zero"], outputs: ["j"] }]));
      for (const c of [0, 1]) check(one, [Uint8Array.of(c), x]);
    });

  it("indexPlusAVaryingZero_hasTheNumbersOfTheIndex", () => {
    const nodes: ModelSpec["nodes"] = [
      { op: "Cast", inputs: ["f"], outputs: ["n"], attributes: { to: BigInt(int64) } },
      { op: "Add", inputs: ["i", "n"], outputs: ["j"] },
    ];
    const spec = readsTwice(nodes, [{ name: "f", dtype: float32, shape: [1] }]);
    const one = both(spec, { lowest: -8, highest: 0, signed: true });
    for (const c of [0, 1]) check(one, [Uint8Array.of(c), x, new Uint8Array(Float32Array.of(0.5).buffer)]);
  });

  for (const [name, op, test] of [
    ["Sqrt", "Sub", "IsNaN"],
    ["Exp", "Add", "IsInf"],
  ] as const)
    it(`functionThatIsTheSameEverywhere_mayBeNaNOrInfinite (${test})`, () => {
      const one = both({
        inputs: [{ name: "x", dtype: uint8, shape: [2] }],
        outputs: [{ name: "y", dtype: bool, shape: [2] }],
        nodes: [
          { op: "Cast", inputs: ["x"], outputs: ["f"], attributes: { to: BigInt(float32) } },
          { op, inputs: ["m", "f"], outputs: ["g"] },
          { op: name, inputs: ["g"], outputs: ["h"] },
          { op: test, inputs: ["h"], outputs: ["y"] },
        ],
        initializers: { m: floatTensor([op === "Sub" ? -1 : 1_000], []) },
      });
      check(one, [Uint8Array.of(3, 200)]);
      expect([...outputsOf(one.model, [Uint8Array.of(3, 200)])[0]!]).to.deep.equal([1, 1]);
    });

  for (const [first, name, factor] of [
    [1_000, "Log", "two"],
    [2_000, "Sqrt", "tenth"],
  ] as const)
    it(`functionOfIntegersFarFromZero_hasAProofForEachByte (${name})`, () => {
      const table = Array.from({ length: 256 }, (_, k) => first + Math.min(2 * k, 500));
      const one = both(
        ofTable(table, [
          { op: name, inputs: ["f"], outputs: ["g"] },
          { op: "Mul", inputs: ["g", factor], outputs: ["h"] },
        ]),
      );
      for (let byte = 0; byte < 256; byte++) check(one, [Uint8Array.of(byte)]);
    });

  it("constantsThatDifferInZerosAtTheirEnd_areReadWhole", () => {
    const one = both({
      inputs: [{ name: "x", dtype: uint8, shape: [5] }],
      outputs: ["y", "z"].map((name, k) => ({ name, dtype: int64, shape: [k === 0 ? 2 : 5] })),
      nodes: [
        { op: "Cast", inputs: ["x"], outputs: ["n"], attributes: { to: BigInt(int64) } },
        { op: "Mul", inputs: ["n", "long"], outputs: ["z"] },
        { op: "Slice", inputs: ["n", "from", "to"], outputs: ["m"] },
        { op: "Mul", inputs: ["m", "short"], outputs: ["y"] },
      ],
      initializers: {
        ...{ from: int64Tensor([0], [1]), to: int64Tensor([2], [1]) },
        ...{ short: int64Tensor([3, 5], [2]), long: int64Tensor([3, 5, 0, 0, 0], [5]) },
      },
    });
    check(one, [x]);
  });

  it("longChainOfSteps_isRefusedByName", () => {
    const spec: ModelSpec = {
      inputs: [{ name: "x", dtype: float32, shape: [2] }],
      outputs: [{ name: "t700", dtype: float32, shape: [2] }],
      nodes: Array.from({ length: 700 }, (_, k) => ({
        op: "CumSum",
        inputs: [k === 0 ? "x" : `t${k}`, "axis"],
        outputs: [`t${k + 1}`],
      })),
      initializers: { axis: int64Tensor([0], []) },
    };
    expect(() => both(spec, { lowest: -2, highest: 0, signed: true })).to.throw(CircuitRefusalError, /steps/);
  });
});
