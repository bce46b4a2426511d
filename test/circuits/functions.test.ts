import { expect } from "chai";
import { compileCircuit, type ProgramCircuit } from "../../src/circuits/compileCircuit.ts";
import { Circuit } from "../../src/circuits/circuit.ts";
import { scaled } from "../../src/circuits/fixed.ts";
import { subjectOf } from "../../src/circuits/circuitHash.ts";
import { loadCurve } from "../../src/circuits/groth16/curve.ts";
import { prove } from "../../src/circuits/groth16/prove.ts";
import { setUpKnown } from "../../src/circuits/groth16/setup.ts";
import { verify } from "../../src/circuits/groth16/verify.ts";
import { identityOf, StepTable, withAction, wordOf } from "../../src/circuits/functions.ts";
import { fitLine } from "../../src/circuits/stepFunctions.ts";
import { lineLevel } from "../../src/circuits/stepGadgets.ts";
import { witnessOf } from "../../src/circuits/witness.ts";
import type { Domain } from "../../src/circuits/words.ts";
import { compile } from "../../src/compiler/compile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor, numberTensor } from "../../src/model/onnx/tensorData.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { fromNumber } from "../../src/numerics/float32.ts";
import { Op } from "../../src/program/operations.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { AROUND_ONE, networkInput, outputsOf, SECRETS } from "../../testkit/circuits/networks.ts";
import { pictureBytes, quantisedBytes } from "../../testkit/circuits/quantised.ts";
import { modelOf } from "../../testkit/onnx/agreement.ts";
import { buildModel, type ModelSpec } from "../../testkit/onnx/onnxBuilder.ts";
import { forestOf } from "../../testkit/operators/mlCases.ts";
import { Prng } from "../../testkit/random/prng.ts";

const CONTEXT = 77n;

type Both = { model: CompiledModel; circuit: ProgramCircuit };

function both(bytes: Uint8Array, domain: Domain | undefined): Both {
  const model = compile(readModel(bytes), { shapes: {} });
  return {
    model,
    circuit: compileCircuit(
      model,
      model.inputs.map(() => domain),
    ),
  };
}

/** The circuit's outputs must have the executor's words. */
const check = ({ model, circuit }: Both, inputs: readonly Uint8Array[]): Uint8Array[] => {
  const outputs = outputsOf(model, inputs);
  witnessOf(circuit, inputs, outputs, CONTEXT);
  return outputs;
};

/** A model of one input and one output of a shape. */
const chain = (
  from: DType,
  to: DType,
  count: number,
  nodes: ModelSpec["nodes"],
  initializers: ModelSpec["initializers"] = {},
): Uint8Array =>
  buildModel({
    inputs: [{ name: "x", dtype: from, shape: [count] }],
    outputs: [{ name: "y", dtype: to, shape: [count] }],
    nodes,
    initializers,
  });

const BYTES = Uint8Array.from({ length: 256 }, (_, k) => k);

const quantising = (scale: number, zero: number, dtype: DType): ModelSpec["initializers"] => ({
  s: floatTensor([scale], []),
  z: numberTensor(dtype, [zero], []),
});

describe("circuits of functions", () => {
  for (const function_ of ["Sigmoid", "Tanh", "Exp", "Erf", "Sqrt", "Cos", "Sign"]) {
    it(`${function_}_ofEachByte_hasTheExecutorsBits`, () => {
      const nodes = [
        { op: "DequantizeLinear", inputs: ["x", "s", "z"], outputs: ["f"] },
        { op: function_, inputs: ["f"], outputs: ["y"] },
      ];
      const zero = function_ === "Sqrt" ? 0 : 128;
      const model = both(chain(DType.uint8, DType.float32, 256, nodes, quantising(0.03, zero, DType.uint8)), undefined);
      check(model, [BYTES]);
      expect(model.circuit.circuit.constraints.length).to.be.below(256 * 160);
    });
  }

  it("aFunctionThroughFloat16_ofEachByte_hasTheExecutorsBits", () => {
    const nodes = [
      { op: "Cast", inputs: ["x"], outputs: ["f"], attributes: { to: BigInt(DType.float16) } },
      { op: "Sqrt", inputs: ["f"], outputs: ["g"] },
      { op: "Cast", inputs: ["g"], outputs: ["y"], attributes: { to: BigInt(DType.float32) } },
    ];
    check(both(chain(DType.uint8, DType.float32, 256, nodes), undefined), [BYTES]);
    const other = [
      ...nodes.slice(0, 2),
      { op: "Cast", inputs: ["h"], outputs: ["y"], attributes: nodes[2]!.attributes },
    ];
    const squared = chain(DType.uint8, DType.float32, 4, [...other, { op: "Mul", inputs: ["g", "g"], outputs: ["h"] }]);
    expect(() => both(squared, undefined)).to.throw("circuits know no float16");
  });

  it("quotientsByZero_areRefused", () => {
    const nodes = [
      { op: "Div", inputs: ["x", "d"], outputs: ["f"] },
      { op: "QuantizeLinear", inputs: ["f", "s", "z"], outputs: ["y"] },
    ];
    const initializers = { ...quantising(1, 3, DType.uint8), d: floatTensor([0], []) };
    expect(() => both(chain(DType.float32, DType.uint8, 4, nodes, initializers), AROUND_ONE)).to.throw("and not by 0");
  });

  it("sigmoidBetweenQuantisations_ofEachByte_takesATable", () => {
    const nodes = [
      { op: "DequantizeLinear", inputs: ["x", "s", "z"], outputs: ["f"] },
      { op: "Sigmoid", inputs: ["f"], outputs: ["g"] },
      { op: "QuantizeLinear", inputs: ["g", "t", "u"], outputs: ["y"] },
    ];
    const initializers = {
      ...quantising(0.05, 3, DType.int8),
      t: floatTensor([1 / 255], []),
      u: numberTensor(DType.uint8, [0], []),
    };
    const model = both(chain(DType.int8, DType.uint8, 256, nodes, initializers), undefined);
    const [outputs] = check(model, [BYTES]);
    expect(new Set(outputs)).to.have.property("size").above(130);
    expect(model.circuit.circuit.constraints.length).to.be.below(256 * 60);
  });

  it("quantisedInputs_randomScales_haveTheExecutorsBits_nextToEachStepToo", () => {
    for (let seed = 0; seed < 12; seed++) {
      const random = new Prng(seed);
      const scale =
        [1 / 255, 0.1, 0.25, 1, 0.007812501, 0.3][seed % 6]! * (seed < 6 ? 1 : 1 + random.below(1000) / 999);
      const isSigned = random.below(2) === 0;
      const [dtype, zero] = isSigned ? [DType.int8, random.below(256) - 128] : [DType.uint8, random.below(256)];
      const nodes = [{ op: "QuantizeLinear", inputs: ["x", "s", "z"], outputs: ["y"] }];
      const domain: Domain = { lowest: -14, highest: 6, signed: true };
      const model = both(chain(DType.float32, dtype, 8, nodes, quantising(scale, zero, dtype)), domain);
      for (let round = 0; round < 30; round++) {
        const values = Array.from({ length: 8 }, () => {
          const step = Math.fround((random.below(300) - 150 + 0.5) * scale);
          return [step, Math.fround(step * (1 + 2 ** -23)), Math.fround(step * (1 - 2 ** -24)), step / 300][
            random.below(4)
          ]!;
        });
        const input = floatTensor(
          values.map((value) => (Math.abs(value) < 2 ** -14 || Math.abs(value) >= 64 ? 0 : value)),
        );
        check(model, [input.bytes]);
      }
    }
  });

  it("requantisedSums_randomScales_haveTheExecutorsBits", () => {
    for (let seed = 0; seed < 16; seed++) {
      const random = new Prng(seed);
      // Sums of many bits against steps of many sizes: powers of two give sums between two steps.
      const scale = seed % 3 === 0 ? 2 ** -random.below(12) : 2 ** -random.below(14) * (1 + random.below(4096) / 4097);
      const nodes = [
        { op: "Cast", inputs: ["x"], outputs: ["f"], attributes: { to: BigInt(DType.float32) } },
        { op: "Mul", inputs: ["f", "m"], outputs: ["g"] },
        { op: "QuantizeLinear", inputs: ["g", "s", "z"], outputs: ["y"] },
      ];
      const initializers = {
        ...quantising(1, seed % 2 === 0 ? 100 : 0, DType.uint8),
        m: floatTensor([seed % 5 === 4 ? -scale : scale], []),
      };
      const model = both(chain(DType.int16, DType.uint8, 64, nodes, initializers), undefined);
      for (let round = 0; round < 4; round++) {
        const values = Array.from({ length: 64 }, (_, k) =>
          k % 2 === 0 ? random.below(65_536) - 32_768 : Math.round((random.below(256) + 0.5) / scale) % 32_768,
        );
        check(model, [numberTensor(DType.int16, values).bytes]);
      }
    }
  });

  it("levels_ofRandomFunctions_areTheDefinitions_nextToEachStep", () => {
    const float = (value: number): bigint => fromNumber(value);
    const counts = [0, 0, 0, 0];
    for (let seed = 0; seed < 40; seed++) {
      const random = new Prng(seed);
      const power = 2 ** -(3 + random.below(13));
      const scale = seed % 5 === 0 ? power : power * (1 + random.below(1 << 20) / (1 << 20));
      const fixed = {
        linear: new Map(),
        unit: 0,
        low: BigInt(-random.below(1 << 23)),
        high: BigInt(random.below(1 << 23)),
      };
      const action = (op: Op, dtype: DType, to: DType, constant?: bigint) =>
        ({ op, dtype, to, position: 0, constant }) as const;
      const { float32, int32, uint8 } = DType;
      const of = [
        action(Op.cast, int32, float32),
        action(Op.mul, float32, float32, float(random.below(4) === 0 ? -scale : scale)),
        action(Op.round, float32, float32),
        action(Op.max, float32, float32, float(-900)),
        action(Op.cast, float32, int32),
        action(Op.add, int32, int32, BigInt(random.below(255))),
        action(Op.max, int32, int32, 0n),
        action(Op.min, int32, int32, 255n),
        action(Op.cast, int32, uint8),
      ].reduce(withAction, identityOf({ fixed, dtype: int32 }));
      const { isMirrored, least, levels, line } = new StepTable().stepsOf(of);
      counts[line === undefined ? 3 : line.ties !== undefined ? 2 : line.exceptions.size > 0 ? 1 : 0]!++;
      if (line === undefined) continue;
      const circuit = new Circuit(1);
      const x = { ...fixed, linear: circuit.wire((_, inputs) => inputs[0]!) };
      circuit.publish(0, lineLevel(circuit, isMirrored ? scaled(x, -1n) : x, line, BigInt(levels.starts.length)));
      for (let round = 0; round < 40; round++) {
        const start = levels.starts[random.below(levels.starts.length)]! + BigInt(random.below(5) - 2);
        const places = [start, start + BigInt(random.below(1 << 12))].map((place) => (isMirrored ? -place : place));
        for (const place of [...places, ...line.exceptions.keys()]) {
          if (place < fixed.low || place > fixed.high) continue;
          const values = circuit.solve([place], []);
          expect(circuit.violated(values), `seed ${seed}: ${place}`).to.deep.equal([]);
          expect(least + values[1]!, `seed ${seed}: ${place}`).to.equal(wordOf(of, place));
        }
      }
    }
    expect(counts[0]).to.be.above(20);
    expect(counts[1]).to.be.above(0);
    expect(counts[2]).to.be.above(4);
  });

  it("fitLine_pointsOfNoLine_givesNone", () => {
    const starts = [0n, 100n, 101n, 102n, 300n, 301n, 900n];
    const levels = { starts, before: starts.map((start) => start - 1n) };
    expect(fitLine(levels, true)).to.equal(undefined);
    expect(fitLine(levels, false)).to.equal(undefined);
  });

  it("quantisedNetwork_manyPictures_hasTheExecutorsBits", () => {
    const layers = [
      [2, 3, 1],
      [3, 3, 2],
    ] as const;
    for (let seed = 1; seed < 4; seed++) {
      const model = both(quantisedBytes(8, layers, 4, seed), undefined);
      for (let picture = 0; picture < 4; picture++) check(model, [pictureBytes(64, picture)]);
      check(model, [new Uint8Array(64)]);
      check(model, [new Uint8Array(64).fill(255)]);
    }
  });

  it("quantisedNetworkInFloats_manyInputs_hasTheExecutorsBits", () => {
    const random = new Prng(4);
    const weights = Array.from({ length: 12 }, () => random.below(255) - 127);
    const model = both(
      buildModel({
        inputs: [{ name: "x", dtype: DType.uint8, shape: [1, 4] }],
        outputs: [{ name: "y", dtype: DType.float32, shape: [1, 3] }],
        nodes: [
          { op: "DequantizeLinear", inputs: ["x", "s"], outputs: ["a"] },
          { op: "DequantizeLinear", inputs: ["w", "t"], outputs: ["b"] },
          { op: "MatMul", inputs: ["a", "b"], outputs: ["c"] },
          { op: "Relu", inputs: ["c"], outputs: ["d"] },
          { op: "QuantizeLinear", inputs: ["d", "u", "z"], outputs: ["e"] },
          { op: "DequantizeLinear", inputs: ["e", "u", "z"], outputs: ["f"] },
          { op: "Tanh", inputs: ["f"], outputs: ["y"] },
        ],
        initializers: {
          ...{ s: floatTensor([1 / 255], []), t: floatTensor([0.011], []), u: floatTensor([0.0123], []) },
          ...{ z: numberTensor(DType.uint8, [9], []), w: numberTensor(DType.int8, weights, [4, 3]) },
        },
      }),
      undefined,
    );
    for (let seed = 0; seed < 30; seed++) check(model, [pictureBytes(4, seed)]);
  });

  it("forest_manyRows_hasTheExecutorsBits_andSelectsInPlaceOfComparingAtEachNode", () => {
    const model = both(modelOf(forestOf(3, 5, 4, 3, 1)), AROUND_ONE);
    const labels = new Set<number>();
    for (let seed = 0; seed < 30; seed++) labels.add(check(model, [networkInput(4, seed)])[0]![0]!);
    expect(labels).to.have.property("size").above(1);
    // A comparison takes 47 constraints, and a tree has 31 nodes that compare.
    expect(model.circuit.circuit.constraints.length).to.be.below((3 * 31 * 47) / 2);
  });

  const liedAbout: Record<string, [model: () => Both, input: Uint8Array]> = {
    forest: [() => both(modelOf(forestOf(2, 4, 4, 3, 1)), AROUND_ONE), networkInput(4, 3)],
    "quantised network": [() => both(quantisedBytes(5, [[2, 3, 1]], 3), undefined), pictureBytes(25, 3)],
  };
  for (const [name, [make, input]] of Object.entries(liedAbout)) {
    it(`${name}_lieAboutAWire_changesNoOutputUnnoticed`, () => {
      const { circuit, inputs } = make().circuit;
      const size = input.length / inputs[0]!.count;
      const words = Array.from({ length: inputs[0]!.count }, (_, k) =>
        input.slice(k * size, (k + 1) * size).reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n),
      );
      const honest = circuit.solve(words, [CONTEXT]);
      expect(circuit.violated(honest)).to.deep.equal([]);
      const [random, first] = [new Prng(5), 1 + circuit.publicCount];
      // All of the input lies in one public value, below the outputs.
      const inputOf = (values: readonly bigint[]): bigint => BigInt.asUintN(8 * input.length, values[2]!);
      let changed = 0;
      for (let k = 0; k < 400; k++) {
        const wire = first + random.below(circuit.wireCount - first);
        const value = honest[wire]!;
        const lie = [1n - value, value + 1n, value - 1n, -value, 2n * value, value + 256n][random.below(6)]!;
        const values = circuit.solve(words, [CONTEXT], new Map([[wire, lie]]));
        const isNew = values.slice(1, first).some((publicValue, i) => publicValue !== honest[1 + i]);
        if (!isNew || inputOf(values) !== inputOf(honest)) continue;
        changed++;
        expect(circuit.violated(values), `wire ${wire}`).to.not.be.empty;
      }
      expect(changed).to.be.above(20);
    });
  }

  it("proofOfAForest_holds_andOfAnotherLabelDoesNot", async () => {
    const { model, circuit } = both(modelOf(forestOf(2, 2, 3, 3, 1)), AROUND_ONE);
    const curve = await loadCurve();
    const key = setUpKnown(curve, circuit.circuit, subjectOf(model.programRoot, circuit), SECRETS);
    const input = networkInput(3, 1);
    const { values, publics } = witnessOf(circuit, [input], outputsOf(model, [input]), CONTEXT);
    const proof = prove(curve, key, circuit.circuit, values);
    expect(verify(curve, key.verifying, publics, proof)).to.equal(true);
    // The label's lowest byte lies behind the three inputs.
    expect(verify(curve, key.verifying, publics.with(1, publics[1]! ^ (1n << 96n)), proof)).to.equal(false);
  });

  it("readsAtPlacesOfData_constantsAndValues_haveTheExecutorsBits", () => {
    const nodes = [
      { op: "Cast", inputs: ["i"], outputs: ["k"], attributes: { to: BigInt(DType.int64) } },
      { op: "Gather", inputs: ["w", "k"], outputs: ["a"] },
      { op: "Mod", inputs: ["k", "four"], outputs: ["m"] },
      { op: "Gather", inputs: ["x", "m"], outputs: ["b"] },
      { op: "Add", inputs: ["a", "b"], outputs: ["y"] },
    ];
    const model = both(
      buildModel({
        inputs: [
          { name: "i", dtype: DType.uint8, shape: [3] },
          { name: "x", dtype: DType.float32, shape: [4] },
        ],
        outputs: [{ name: "y", dtype: DType.float32, shape: [3] }],
        nodes,
        initializers: {
          w: floatTensor(Array.from({ length: 256 }, (_, k) => Math.sin(k))),
          four: int64Tensor([4], []),
        },
      }),
      AROUND_ONE,
    );
    for (let seed = 0; seed < 20; seed++) check(model, [pictureBytes(3, seed), networkInput(4, seed)]);
  });

  const divided: Record<string, number> = { nine: 9, "a third": 1 / 3, "minus seven": -7, "a long number": 1.2345678 };
  for (const [name, divisor] of Object.entries(divided)) {
    it(`divisionBy ${name}_hasTheExecutorsBits`, () => {
      const nodes = [{ op: "Div", inputs: ["x", "d"], outputs: ["y"] }];
      const model = both(chain(DType.float32, DType.float32, 8, nodes, { d: floatTensor([divisor], []) }), AROUND_ONE);
      for (let seed = 0; seed < 20; seed++) check(model, [networkInput(8, seed)]);
      check(model, [floatTensor([0, 1, -1, 2 ** -20, 1.9999999, -1.9999999, 2 ** -20 + 2 ** -43, 0.5]).bytes]);
    });
  }

  for (const op of ["Floor", "Ceil", "Round"]) {
    it(`${op}_ofFloats_hasTheExecutorsBits`, () => {
      const model = both(chain(DType.float32, DType.float32, 6, [{ op, inputs: ["x"], outputs: ["y"] }]), {
        lowest: -6,
        highest: 12,
        signed: true,
      });
      const random = new Prng(2);
      for (let round = 0; round < 20; round++)
        check(model, [floatTensor(Array.from({ length: 6 }, () => (random.below(8001) - 4000) / 2)).bytes]);
      check(model, [floatTensor([0.5, -0.5, 1.5, -1.5, 2.4999998, -0.02]).bytes]);
    });
  }

  it("castsOfFloats_truncateAndSaturate_asTheExecutor", () => {
    for (const to of [DType.int8, DType.uint8, DType.int32, DType.int64]) {
      const nodes = [{ op: "Cast", inputs: ["x"], outputs: ["y"], attributes: { to: BigInt(to) } }];
      const model = both(chain(DType.float32, to, 8, nodes), { lowest: -3, highest: 33, signed: true });
      check(model, [floatTensor([0.9999999, -0.9999999, 127.9, 128, -128.9, -129, 4e9, -4e9]).bytes]);
      check(model, [floatTensor([255.9, 256, 2 ** 31, -(2 ** 31), 2147483520, 1.5, -1.5, 0]).bytes]);
    }
  });
});
