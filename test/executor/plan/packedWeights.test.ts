import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { createExecutor, type ExecutorOptions } from "../../../src/executor/createExecutor.ts";
import { joinedSum } from "../../../src/executor/plan/joinedSum.ts";
import { planProgram } from "../../../src/executor/plan/planProgram.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { nBits, type Parts, type Weighted } from "../../../testkit/models/nBits.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";

const compiled = (experiment: Experiment): CompiledModel => compile(readModel(modelOf(experiment)), { shapes: {} });

/** The output of a case in the fast executor, with nothing else kept. */
async function outputOf(model: CompiledModel, experiment: Experiment, options: ExecutorOptions): Promise<Uint8Array> {
  const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
  const executor = await createExecutor(model, options);
  const last = model.program.checkpoints[model.program.outputs[0]!]!.step;
  try {
    const { tensors } = await executor.run(inputs, { keep: (step) => step === last });
    return tensors[last]!;
  } finally {
    await executor.close();
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const constantBytes = ({ constants }: CompiledModel): number =>
  [...constants.values()].reduce((sum, { length }) => sum + length, 0);

/** The same product by weights that are floats in the model. */
function unpackedOf({ experiment, weights }: Weighted, K: number, N: number): Experiment {
  const transposedWeights = floatTensor(
    Array.from({ length: K * N }, (_, i) => weights[(i % N) * K + Math.floor(i / N)]!),
    [K, N],
  );
  return {
    ...experiment,
    initializers: { w: transposedWeights },
    nodes: [{ op: "MatMul", inputs: ["a", "w"], outputs: ["y"] }],
  };
}

describe("packed weights", () => {
  const cases: Record<string, Parts> = {
    fourBits: { bits: 4, block: 32, K: 256, N: 260, rows: 5, zeros: "none" },
    fourBitsOfOneRow: { bits: 4, block: 32, K: 256, N: 260, rows: 1, zeros: "packed" },
    fourBitsWithFloatZeros: { bits: 4, block: 16, K: 272, N: 256, rows: 2, zeros: "float" },
    twoBits: { bits: 2, block: 64, K: 256, N: 256, rows: 3, zeros: "packed" },
    eightBits: { bits: 8, block: 128, K: 256, N: 257, rows: 4, zeros: "packed" },
    lastBlockIsShort: { bits: 4, block: 32, K: 248, N: 270, rows: 4, zeros: "none" },
    rowEndsWithinAByte: { bits: 4, block: 32, K: 249, N: 270, rows: 4, zeros: "packed" },
    groupsInAnyOrder: { bits: 4, block: 32, K: 256, N: 256, rows: 4, zeros: "packed", groups: true },
  };
  for (const [name, parts] of Object.entries(cases))
    itInTime(`${name}_areMultipliedAsFloatsWouldBe_andNotUnpacked`, async () => {
      const made = nBits(new RandomTensors(new Prng(parts.K + parts.rows)), parts);
      const model = compiled(made.experiment);
      const expected = unpackedOf(made, parts.K, parts.N);
      const plain = compiled(expected);
      expect(constantBytes(model)).to.be.lessThan(constantBytes(plain) / (parts.bits === 8 ? 3 : 2));
      const output = await outputOf(plain, expected, {});
      for (const options of [{}, { chunkElements: 3000 }, { alwaysExact: true }, { minEngineWork: 0 }])
        expect(hex(await outputOf(model, made.experiment, options)), JSON.stringify(options)).to.equal(hex(output));
    });

  itAtLength("constantsBeyondOneMemory_lieInOthers_andTheBitsStay", async () => {
    const parts = { ...cases["fourBits"]!, rows: 6 };
    const made = nBits(new RandomTensors(new Prng(5)), parts);
    const plain = unpackedOf(made, parts.K, parts.N);
    const expected = hex(await outputOf(compiled(plain), plain, {}));
    for (const experiment of [made.experiment, plain])
      for (const options of [{}, { minSplit: 0 }, { alwaysExact: true }]) {
        const model = compiled(experiment);
        const planned = { minEngineWork: 0, chunkElements: 2 ** 12, threads: 2 };
        const [together, apart] = [false, true].map(
          (spreads) => planProgram(model, { ...planned, memoryBytes: Infinity, spreads }).bytes,
        );
        expect(apart).to.be.lessThan(together!);
        const narrow = { ...options, ...planned, memoryBytes: together! - 1 };
        expect(hex(await outputOf(model, experiment, narrow)), JSON.stringify(options)).to.equal(expected);
      }
  });

  itInTime("anyStepThatIsKept_hasTheBitsOfTheReference", async () => {
    const { experiment } = nBits(new RandomTensors(new Prng(3)), { ...cases["twoBits"]!, rows: 2 });
    const model = compiled(experiment);
    const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
    const expected = executeReference(model, inputs);
    const executor = await createExecutor(model);
    try {
      const { tensors } = await executor.run(inputs);
      expect(tensors.length).to.equal(expected.length);
      expected.forEach((bytes, s) => expect(hex(tensors[s]!), `step ${s}`).to.equal(hex(bytes)));
    } finally {
      await executor.close();
    }
  });

  for (const [name, axis, length] of [
    ["wholeTable", 0, 1],
    ["rows", 0, 300],
    ["columns", 1, 64],
  ] as const)
    itInTime(`rowsOfATableWithScalesOf_${name}_areChosenBeforeTheyAreComputed`, async () => {
      const r = new RandomTensors(new Prng(length));
      const [rows, width] = [300, 64];
      const parameter = length === 1 ? [] : [length];
      const [q, s, z] = [
        r.integer(DType.int8, [rows, width], -128, 127),
        r.float(parameter, 1 / 64, 1),
        r.integer(DType.int8, parameter, -9, 9),
      ];
      const [numbers, zeros] = [q, z].map(({ bytes }) => new Int8Array(Uint8Array.from(bytes).buffer));
      const scales = new Float32Array(Uint8Array.from(s.bytes).buffer);
      const table = Array.from(numbers!, (value, i) => {
        const own = length === 1 ? 0 : axis === 0 ? Math.floor(i / width) : i % width;
        return Math.fround((value - zeros![own]!) * scales[own]!);
      });
      // Counted from the end, and out of range: 0.
      const indices = int64Tensor([0, 7, 299, -1, -300, -301, 300, 2 ** 40, 7], [3, 3]);
      const base = { operands: { i: indices }, outputs: { y: DType.float32 } };
      const gather = { op: "Gather", inputs: ["t", "i"], outputs: ["y"] };
      const experiment: Experiment = {
        ...base,
        initializers: { q, s, z },
        nodes: [{ op: "DequantizeLinear", inputs: ["q", "s", "z"], outputs: ["t"], attributes: { axis } }, gather],
      };
      const plain: Experiment = { ...base, initializers: { t: floatTensor(table, [rows, width]) }, nodes: [gather] };
      const model = compiled(experiment);
      expect(constantBytes(model)).to.be.lessThan(2 * q.bytes.length);
      const expected = hex(await outputOf(compiled(plain), plain, {}));
      expect(hex(await outputOf(model, experiment, {}))).to.equal(expected);
      expect(hex(executeReference(model, [indices.bytes]).at(-1)!)).to.equal(expected);
    });

  itInTime("constantsOf16BitFloats_lieInOtherMemoriesToo", async () => {
    const r = new RandomTensors(new Prng(8));
    const [K, N] = [256, 260];
    // Numbers from 1 to 2, which often add up to the middle of two.
    const halves = (shape: readonly number[]): TensorData => ({
      ...r.integer(DType.uint16, shape, 0x3c00, 0x3fff),
      dtype: DType.float16,
    });
    const experiment: Experiment = {
      operands: { a: halves([3, K]) },
      initializers: { w: halves([K, N]) },
      nodes: [{ op: "MatMul", inputs: ["a", "w"], outputs: ["y"] }],
      outputs: { y: DType.float16 },
    };
    const model = compiled(experiment);
    const planned = { minEngineWork: 0, chunkElements: 2 ** 12, threads: 1 };
    const apart = planProgram(model, { ...planned, memoryBytes: Infinity, spreads: true });
    expect(apart.bytes).to.be.lessThan(2 * K * N);
    const expected = hex(await outputOf(model, experiment, {}));
    // Both memories have room for no more.
    const memoryBytes = Math.max(apart.bytes, ...apart.farBytes);
    expect(hex(await outputOf(model, experiment, { ...planned, memoryBytes }))).to.equal(expected);
  });

  itAtLength("longSumsInUnevenBlocks_areJoined_withoutTheirFillers", async () => {
    const parts = { bits: 4, block: 32, K: 18_944, N: 8, rows: 4, zeros: "packed" };
    const made = nBits(new RandomTensors(new Prng(6)), parts);
    const model = compiled(made.experiment);
    const planned = { minEngineWork: 0, chunkElements: 2 ** 14, threads: 1, memoryBytes: Infinity, spreads: false };
    const { steps } = model.program;
    const [weights, blocks, total] = steps as [Step, Step, Step];
    expect(
      blocks.termReads.every(({ axes }) => axes.length > 1),
      "blocks are filled up",
    ).to.equal(true);
    expect(joinedSum(blocks, total)!.redDigits).to.deep.equal([parts.K]);
    expect(weights.count).to.equal(parts.N * parts.K);
    expect([...planProgram(model, planned).optional]).to.have.members([0, 1]);
    const plain = unpackedOf(made, parts.K, parts.N);
    const expected = hex(await outputOf(compiled(plain), plain, {}));
    const reference = executeReference(model, [made.experiment.operands["a"]!.bytes]);
    expect(expected).to.equal(hex(reference.at(-1)!));
    for (const options of [{}, { chunkElements: 2 ** 12 }, { alwaysExact: true }, { minEngineWork: 0 }])
      expect(hex(await outputOf(model, made.experiment, options)), JSON.stringify(options)).to.equal(expected);
  });

  itInTime("weightsThatLieTheOtherWay_arePackedAsTheyAreMultiplied", async () => {
    const r = new RandomTensors(new Prng(4));
    const [K, N] = [160, 120];
    const [q, s, x] = [r.integer(DType.int8, [K, N], -128, 127), r.float([N], 1 / 64, 1), r.float([2, K])];
    const scales = new Float32Array(Uint8Array.from(s.bytes).buffer);
    const weights = Array.from(new Int8Array(Uint8Array.from(q.bytes).buffer), (value, i) =>
      Math.fround(value * scales[i % N]!),
    );
    const base = { operands: { x }, outputs: { y: DType.float32 } };
    const product = { op: "MatMul", inputs: ["x", "w"], outputs: ["y"] };
    const experiment: Experiment = {
      ...base,
      initializers: { q, s },
      nodes: [{ op: "DequantizeLinear", inputs: ["q", "s"], outputs: ["w"], attributes: { axis: 1 } }, product],
    };
    const plain: Experiment = { ...base, initializers: { w: floatTensor(weights, [K, N]) }, nodes: [product] };
    const model = compiled(experiment);
    expect(constantBytes(model)).to.equal(q.bytes.length + s.bytes.length);
    // Neighbours of a row of the product are neighbours in memory.
    const made = model.program.steps.find(({ reduce }) => reduce === Reduce.none)!;
    const read = made.epilogueReads.find(({ input }) => made.inputs[input]!.dtype === DType.int8)!;
    expect(read.axes.map(({ coeffs }) => coeffs.find(({ digit }) => digit === 1)!.coeff)).to.deep.equal([1]);
    const expected = hex(await outputOf(compiled(plain), plain, {}));
    expect(hex(await outputOf(model, experiment, {}))).to.equal(expected);
  });

  itInTime("weightsOfDequantizeLinear_areMultipliedAsFloatsWouldBe_andNotUnpacked", async () => {
    const r = new RandomTensors(new Prng(9));
    const [w, s, z] = [
      r.integer(DType.int8, [3, 3, 96, 96], -128, 127),
      r.float([96], 1 / 64, 1),
      r.integer(DType.int8, [96], -8, 8),
    ];
    const q: TensorData = { ...w, shape: [96, 96, 3, 3] };
    const scales = new Float32Array(Uint8Array.from(s.bytes).buffer);
    const signed = (bytes: Uint8Array): Int8Array => new Int8Array(Uint8Array.from(bytes).buffer);
    const [numbers, zeros] = [signed(q.bytes), signed(z.bytes)];
    const weights = Array.from(numbers, (value, i) => {
      const channel = Math.floor(i / 864);
      return Math.fround(Math.fround(value - zeros[channel]!) * scales[channel]!);
    });
    const base = { operands: { x: r.float([1, 96, 6, 5]) }, outputs: { y: DType.float32 } };
    const conv = { op: "Conv", inputs: ["x", "w"], outputs: ["y"], attributes: { pads: [1, 1, 1, 1] } };
    const experiment: Experiment = {
      ...base,
      initializers: { q, s, z },
      nodes: [{ op: "DequantizeLinear", inputs: ["q", "s", "z"], outputs: ["w"], attributes: { axis: 0 } }, conv],
    };
    const expected: Experiment = { ...base, initializers: { w: floatTensor(weights, q.shape) }, nodes: [conv] };
    const [model, plain] = [compiled(experiment), compiled(expected)];
    expect(constantBytes(model)).to.be.lessThan(elementCount(q.shape) * 1.1);
    expect(hex(await outputOf(model, experiment, {}))).to.equal(hex(await outputOf(plain, expected, {})));
  });
});
