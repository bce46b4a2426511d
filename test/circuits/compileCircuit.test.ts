import { expect } from "chai";
import { compileCircuit, type ProgramCircuit } from "../../src/circuits/compileCircuit.ts";
import { residue } from "../../src/circuits/field.ts";
import { witnessOf } from "../../src/circuits/witness.ts";
import type { Domain } from "../../src/circuits/words.ts";
import { compile } from "../../src/compiler/compile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { product } from "../../src/program/sums.ts";
import { AROUND_ONE, network, networkInput, outputsOf } from "../../testkit/circuits/networks.ts";
import { buildModel, type ModelSpec } from "../../testkit/onnx/onnxBuilder.ts";
import { randomProgram } from "../../testkit/programs/randomProgram.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { rejection } from "../../testkit/rejection.ts";

const CONTEXT = 12_345n;

/** Random programs; most have an operation or a type without a circuit. */
const SEEDS = 200;

/** Random float32 of a domain: zeros, powers of two, few bits, all bits. */
function within({ lowest, highest, signed }: Domain, random: Prng, count: number): Uint8Array {
  const number = (): number => {
    const kind = random.below(10);
    const mantissa = kind < 4 ? 1 : 1 + (kind < 6 ? random.below(8) / 8 : random.below(2 ** 23) / 2 ** 23);
    const magnitude = kind === 0 ? 0 : mantissa * 2 ** (lowest + random.below(highest - lowest));
    return signed && random.below(2) === 0 ? -magnitude : magnitude;
  };
  return floatTensor(Array.from({ length: count }, number)).bytes;
}

const compiled = (spec: ModelSpec): CompiledModel => compile(readModel(buildModel(spec)), { shapes: {} });

/** A model of one float32 input x, [1, 4], and one output y. */
const ofFour = (
  nodes: ModelSpec["nodes"],
  output: DType,
  shape: number[],
  others: Partial<ModelSpec> = {},
): ModelSpec => ({
  inputs: [{ name: "x", dtype: DType.float32, shape: [1, 4] }],
  outputs: [{ name: "y", dtype: output, shape }],
  nodes,
  ...others,
});

const four = floatTensor([0.3, -1.7, 0.6, 1.1], [1, 4]);
const square = floatTensor(
  Array.from({ length: 16 }, (_, k) => (k * 7 - 50) / 33),
  [4, 4],
);

/** Programs with every gadget: exact sums, rounding, words, comparisons, choices, products, integers. */
const PROGRAMS: Record<string, ModelSpec> = {
  "sum and bias": ofFour([{ op: "Gemm", inputs: ["x", "w", "b"], outputs: ["y"] }], DType.float32, [1, 4], {
    initializers: { w: square, b: four },
  }),
  "greatest of a window": ofFour(
    [
      { op: "Reshape", inputs: ["x", "shape"], outputs: ["r"] },
      { op: "MaxPool", inputs: ["r"], outputs: ["y"], attributes: { kernel_shape: [3], pads: [1, 1] } },
    ],
    DType.float32,
    [1, 1, 4],
    { initializers: { shape: { dtype: DType.int64, shape: [3], bytes: int64([1, 1, 4]) } } },
  ),
  "place of the greatest": ofFour(
    [{ op: "ArgMax", inputs: ["x"], outputs: ["y"], attributes: { axis: 1 } }],
    DType.int64,
    [1, 1],
  ),
  "last place of the least": ofFour(
    [{ op: "ArgMin", inputs: ["x"], outputs: ["y"], attributes: { axis: 1, select_last_index: 1 } }],
    DType.int64,
    [1, 1],
  ),
  "products of values": ofFour([{ op: "Mul", inputs: ["x", "x"], outputs: ["y"] }], DType.float32, [1, 4]),
  "choice by comparison": ofFour(
    [
      { op: "Greater", inputs: ["x", "w"], outputs: ["g"] },
      { op: "Neg", inputs: ["x"], outputs: ["n"] },
      { op: "Where", inputs: ["g", "x", "n"], outputs: ["y"] },
    ],
    DType.float32,
    [1, 4],
    { initializers: { w: four } },
  ),
  "bools and integers": ofFour(
    [
      { op: "LessOrEqual", inputs: ["x", "w"], outputs: ["a"] },
      { op: "Equal", inputs: ["x", "w"], outputs: ["b"] },
      { op: "Xor", inputs: ["a", "b"], outputs: ["c"] },
      { op: "Cast", inputs: ["c"], outputs: ["d"], attributes: { to: BigInt(DType.int32) } },
      { op: "ReduceSum", inputs: ["d"], outputs: ["y"], attributes: { keepdims: 1 } },
    ],
    DType.int32,
    [1, 1],
    { initializers: { w: four } },
  ),
  "steps and a table": ofFour(
    [
      { op: "QuantizeLinear", inputs: ["x", "s", "z"], outputs: ["q"] },
      { op: "DequantizeLinear", inputs: ["q", "s", "z"], outputs: ["d"] },
      { op: "Sigmoid", inputs: ["d"], outputs: ["y"] },
    ],
    DType.float32,
    [1, 4],
    { initializers: { s: floatTensor([0.011], []), z: { dtype: DType.int8, shape: [], bytes: Uint8Array.of(5) } } },
  ),
  "value at the greatest's place": ofFour(
    [
      { op: "ArgMax", inputs: ["x"], outputs: ["i"], attributes: { axis: 1 } },
      { op: "Gather", inputs: ["w", "i"], outputs: ["g"], attributes: { axis: 1 } },
      { op: "Reshape", inputs: ["g", "shape"], outputs: ["h"] },
      { op: "Div", inputs: ["h", "seven"], outputs: ["y"] },
    ],
    DType.float32,
    [1, 1],
    {
      initializers: {
        w: four,
        seven: floatTensor([7], []),
        shape: { dtype: DType.int64, shape: [2], bytes: int64([1, 1]) },
      },
    },
  ),
  "whole parts": ofFour(
    [
      { op: "Mul", inputs: ["x", "w"], outputs: ["m"] },
      { op: "Floor", inputs: ["m"], outputs: ["f"] },
      { op: "Round", inputs: ["m"], outputs: ["r"] },
      { op: "Sub", inputs: ["f", "r"], outputs: ["y"] },
    ],
    DType.float32,
    [1, 4],
    { initializers: { w: floatTensor([100], []) } },
  ),
  "magnitude and part": ofFour(
    [
      { op: "Abs", inputs: ["x"], outputs: ["a"] },
      { op: "Clip", inputs: ["a", "low", "high"], outputs: ["y"] },
    ],
    DType.float32,
    [1, 4],
    { initializers: { low: floatTensor([0.25], []), high: floatTensor([0.75], []) } },
  ),
};

function int64(values: readonly number[]): Uint8Array {
  return new Uint8Array(new BigInt64Array(values.map(BigInt)).buffer);
}

function witnessAt({ circuit, model }: { circuit: ProgramCircuit; model: CompiledModel }, input: Uint8Array) {
  return witnessOf(circuit, [input], outputsOf(model, [input]), CONTEXT);
}

describe("compileCircuit", () => {
  for (const [name, spec] of Object.entries(PROGRAMS)) {
    it(`${name}_randomInputs_giveTheExecutorsWords`, () => {
      const model = compiled(spec);
      const circuit = compileCircuit(model, [AROUND_ONE]);
      for (let seed = 0; seed < 5; seed++) witnessAt({ model, circuit }, networkInput(4, seed));
      witnessAt({ model, circuit }, new Uint8Array(16));
      witnessAt({ model, circuit }, four.bytes);
    });

    it(`${name}_lieAboutAWire_changesNoOutputUnnoticed`, () => {
      const model = compiled(spec);
      const program = compileCircuit(model, [AROUND_ONE]);
      const { circuit } = program;
      const random = new Prng(3);
      const words = [...new Uint32Array(four.bytes.slice().buffer)].map(BigInt);
      const honest = circuit.solve(words, [CONTEXT]);
      const first = 1 + circuit.publicCount;
      for (let k = 0; k < 300; k++) {
        const wire = first + random.below(circuit.wireCount - first);
        const value = honest[wire]!;
        const lie = [0n, 1n, 1n - value, value + 1n, -value, 2n * value, value + (1n << 23n)][random.below(7)]!;
        const values = circuit.solve(words, [CONTEXT], new Map([[wire, lie]]));
        const isNew = values.slice(1, first).some((publicValue, i) => publicValue !== honest[1 + i]);
        const isSameInput = values[2] === honest[2];
        if (isNew && isSameInput) expect(circuit.violated(values), `wire ${wire} as ${residue(lie)}`).to.not.be.empty;
      }
    });
  }

  it("network_manyInputs_hasTheExecutorsBits", () => {
    const both = network([8, 6, 3]);
    for (let seed = 0; seed < 10; seed++) witnessAt(both, networkInput(8, seed));
  });

  it("threeLayers_assumeAUnit_andHaveTheExecutorsBits", () => {
    const both = network([8, 6, 4, 2]);
    expect(both.circuit.finest).to.be.a("number");
    for (let seed = 0; seed < 10; seed++) witnessAt(both, networkInput(8, seed));
  });

  it("integersAndBoolsAsInputs_areAny_withoutADomain", () => {
    const model = compiled({
      inputs: [
        { name: "x", dtype: DType.uint8, shape: [5] },
        { name: "n", dtype: DType.int32, shape: [5] },
        { name: "c", dtype: DType.bool, shape: [5] },
      ],
      outputs: [
        { name: "y", dtype: DType.float32, shape: [5] },
        { name: "z", dtype: DType.int32, shape: [5] },
      ],
      nodes: [
        { op: "Cast", inputs: ["x"], outputs: ["f"], attributes: { to: BigInt(DType.float32) } },
        { op: "Mul", inputs: ["f", "w"], outputs: ["y"] },
        { op: "Cast", inputs: ["x"], outputs: ["i"], attributes: { to: BigInt(DType.int32) } },
        { op: "Where", inputs: ["c", "i", "n"], outputs: ["z"] },
      ],
      initializers: { w: floatTensor([1 / 255], [1]) },
    });
    const circuit = compileCircuit(model, [AROUND_ONE, AROUND_ONE, AROUND_ONE]);
    expect(circuit.inputs.map(({ domain }) => domain)).to.deep.equal([undefined, undefined, undefined]);
    const numbers = new Uint8Array(new Int32Array([-(2 ** 31), -1, 0, 7, 2 ** 31 - 1]).buffer);
    const inputs = [Uint8Array.of(0, 1, 77, 128, 255), numbers, Uint8Array.of(1, 0, 0, 1, 0)];
    witnessOf(circuit, inputs, outputsOf(model, inputs), CONTEXT);
    const others = inputs.with(2, Uint8Array.of(1, 0, 0, 2, 0));
    expect(() => witnessOf(circuit, others, outputsOf(model, others), CONTEXT)).to.throw("element 3 of input c lies");
  });

  it("randomPrograms_haveACircuitWithTheExecutorsBits_orARefusal", () => {
    let proven = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const random = new Prng(seed);
      const { model, inputs: given } = randomProgram(random, 1 + random.below(3));
      const { steps, inputs: read } = model.program;
      if (steps.some(({ count, redDigits }) => count * product(redDigits) > 100)) continue;
      if (read.some(({ count }) => count > 100)) continue;
      const domain = { lowest: -12, highest: 2, signed: random.below(4) > 0 };
      const inputs = model.program.inputs.map(({ dtype, count }, i) =>
        dtype === DType.float32
          ? within(domain, random, count)
          : given[i]!.map((byte) => (dtype === DType.bool ? Math.min(byte, 1) : byte)),
      );
      let circuit: ProgramCircuit;
      try {
        circuit = compileCircuit(
          model,
          inputs.map(() => domain),
        );
      } catch (error) {
        expect(error, `seed ${seed}`).to.have.property("code", "CIRCUIT_REFUSED");
        continue;
      }
      try {
        witnessOf(circuit, inputs, outputsOf(model, inputs), CONTEXT);
      } catch (error) {
        expect(circuit.finest, `seed ${seed}: ${(error as Error).message}`).to.not.equal(undefined);
        expect((error as Error).message).to.include("finer than");
        continue;
      }
      proven++;
    }
    expect(proven).to.be.above(SEEDS / 40);
  });

  it("otherOutputs_haveNoWitness", () => {
    const { model, circuit } = network([4, 3, 2]);
    const input = networkInput(4, 1);
    const outputs = outputsOf(model, [input]).map((bytes) => bytes.slice());
    for (let bit = 0; bit < 64; bit++) {
      const lie = outputs[0]!.slice();
      lie[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => witnessOf(circuit, [input], [lie], CONTEXT)).to.throw("by the circuit: other outputs");
    }
  });

  const without: Record<string, number> = {
    NaN,
    Infinity,
    "a value too large": 2,
    "a value too small": 2 ** -21,
    "a subnormal value": 2 ** -140,
  };
  for (const [name, value] of Object.entries(without)) {
    it(`input with ${name}_hasNoProof`, async () => {
      const both = network([4, 3, 2]);
      const input = floatTensor([0.5, value, 0.25, 1]).bytes;
      const error = await rejection(Promise.resolve().then(() => witnessAt(both, input)));
      expect(error).to.include({ code: "NO_PROOF" });
      expect((error as Error).message).to.include("element 1 of input h0 lies outside the domain");
    });
  }

  it("inputOutsideTheDomain_violatesConstraints", () => {
    const { circuit } = network([4, 3, 2]);
    const { circuit: constraints } = circuit;
    // The wires that an honest prover computes for 4.0 are those of another word.
    const values = constraints.solve([0x40800000n, 0n, 0n, 0n], [CONTEXT]);
    expect(values[2]).to.not.equal(0x40800000n);
  });

  it("minusZero_hasAProof", () => {
    witnessAt(network([4, 3, 2]), floatTensor([0.5, -0, 0.25, 1]).bytes);
  });

  const refused: Record<string, [ModelSpec, string]> = {
    "a function": [
      ofFour([{ op: "Exp", inputs: ["x"], outputs: ["y"] }], DType.float32, [1, 4]),
      "step 0 (Exp, node (producing y)): circuits do not know exp of float32 yet",
    ],
    "a division by data": [
      ofFour([{ op: "Div", inputs: ["x", "x"], outputs: ["y"] }], DType.float32, [1, 4]),
      "circuits divide float32 by constants only, and not by 0",
    ],
    "a value that may overflow": [
      ofFour([{ op: "Mul", inputs: ["x", "w"], outputs: ["y"] }], DType.float32, [1, 4], {
        initializers: { w: floatTensor([3e38], [1]) },
      }),
      "where float32 ends",
    ],
    "a read from too many places": [
      ofFour([], DType.float32, [1], {
        inputs: [{ name: "i", dtype: DType.uint16, shape: [1] }],
        nodes: [
          { op: "Cast", inputs: ["i"], outputs: ["k"], attributes: { to: BigInt(DType.int64) } },
          { op: "Gather", inputs: ["w", "k"], outputs: ["y"], attributes: { axis: 0 } },
        ],
        initializers: { w: floatTensor([0.3, -1.7, 0.6, 1.1]) },
      }),
      "a place that depends on data, from 0 to 65535: at most 1024 places",
    ],
  };
  for (const [name, [spec, why]] of Object.entries(refused)) {
    it(`${name}_isRefusedWithTheStep`, () => {
      expect(() => compileCircuit(compiled(spec), [AROUND_ONE]))
        .to.throw(why)
        .with.property("code", "CIRCUIT_REFUSED");
    });
  }

  it("morePublicValuesThanATransactionHolds_areRefused_withTheTensorsThatHaveThem", () => {
    const model = (count: number) =>
      compiled(
        ofFour([{ op: "ReduceMax", inputs: ["x"], outputs: ["y"], attributes: { keepdims: 1 } }], DType.uint8, [1, 1], {
          inputs: [{ name: "x", dtype: DType.uint8, shape: [1, count] }],
        }),
      );
    // 31 elements a value, the output's behind the input's, and the context.
    const refused = expect(() => compileCircuit(model(31 * 899), [undefined])).to.throw(
      "901 public values, and a transaction holds 900: the inputs x (27869 of uint8), the outputs y (1 of uint8)",
    );
    refused.with.property("code", "CIRCUIT_REFUSED");
    expect(() => compileCircuit(model(31 * 899 - 1), [undefined])).to.throw("more than 524288 constraints");
  });

  it("domainWithSubnormalNumbers_isRefused", () => {
    const { model } = network([4, 3, 2]);
    const domain: Domain = { lowest: -140, highest: 0, signed: true };
    expect(() => compileCircuit(model, [domain])).to.throw("a domain from 2^-140 to 2^0");
    expect(() => compileCircuit(model, [undefined])).to.throw("input h0 has no domain");
  });
});
