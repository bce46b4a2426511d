import { expect } from "chai";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../../src/executor/engine/onnxEngine.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { Op } from "../../../src/program/operations.ts";
import { Reduce, type Constant, type Step, type View } from "../../../src/program/types.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { matMulStep, stepModel } from "../../../testkit/programs/stepModel.ts";

const [ROWS, INNER, COLUMNS] = [13, 48, 9];
const COUNT = ROWS * INNER;
const ROOT = `0x${"33".repeat(32)}` as const;
const dtype = DType.int32;
type Byte = typeof DType.uint8 | typeof DType.int8;
type Zero = "tensor" | "none" | Constant;

const linear = (input: number, coeffs: readonly { digit: number; coeff: number }[], base = 0): View => ({
  input,
  fill: 0n,
  axes: [{ extent: COUNT, stride: 1, base, div: 1, coeffs }],
});

/** Job input 0 as int32, less job input 1, a constant or nothing. */
function difference(type: Byte, zero: Zero): Step {
  const cast = (a: number) => ({ op: Op.cast, dtype: type, a, b: dtype, c: 0 });
  const sub = (a: number, b: number) => ({ op: Op.sub, dtype, a, b, c: 0 });
  const isTensor = zero === "tensor";
  const isConstant = typeof zero === "object";
  const code = isTensor ? [cast(0), cast(1), sub(2, 3)] : isConstant ? [cast(0), sub(2, 1)] : [cast(0)];
  return {
    dtype,
    count: COUNT,
    inputs: [
      { kind: "input", index: 0, dtype: type, count: COUNT },
      ...(isTensor ? [{ kind: "input" as const, index: 1, dtype: type, count: 1 }] : []),
    ],
    outDigits: [COUNT],
    redDigits: [],
    reduce: Reduce.none,
    constants: isConstant ? [zero] : [],
    termReads: [],
    epilogueReads: [linear(0, [{ digit: 0, coeff: 1 }]), ...(isTensor ? [{ input: 1, fill: 0n, axes: [] }] : [])],
    term: { code: [], outA: 0, outB: 0 },
    epilogue: { code, out: isTensor ? 4 : isConstant ? 3 : 1 },
  };
}

/** The product of step 0's tensor, read by a view, with constant bytes. */
function product(view: View): Step {
  const step = matMulStep(ROWS, INNER, COLUMNS);
  return {
    ...step,
    dtype,
    reduceType: dtype,
    inputs: [
      { kind: "step", index: 0, dtype, count: COUNT },
      { kind: "constant", root: ROOT, dtype, count: COLUMNS * INNER },
    ],
    termReads: [view, step.termReads[1]!],
  };
}

const matrix = linear(0, [
  { digit: 0, coeff: INNER },
  { digit: 2, coeff: 1 },
]);
const transposed = linear(0, [
  { digit: 0, coeff: 1 },
  { digit: 2, coeff: ROWS },
]);
/** Its first and last rows are partly outside. */
const padded = linear(
  0,
  [
    { digit: 0, coeff: INNER + 1 },
    { digit: 2, coeff: 1 },
  ],
  -5,
);

/** The sum of steps 0 and 1 where both have elements: a second reader. */
const reader: Step = {
  ...difference(DType.uint8, "none"),
  count: ROWS * COLUMNS,
  outDigits: [ROWS * COLUMNS],
  inputs: [
    { kind: "step", index: 0, dtype, count: COUNT },
    { kind: "step", index: 1, dtype, count: ROWS * COLUMNS },
  ],
  epilogueReads: [0, 1].map((input): View => {
    const extent = input === 0 ? COUNT : ROWS * COLUMNS;
    return { input, fill: 0n, axes: [{ extent, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }] };
  }),
  epilogue: { code: [{ op: Op.add, dtype, a: 0, b: 1, c: 0 }], out: 2 },
};

const CASES: Record<string, { type: Byte; zero: Zero; view: View }> = {
  uint8_inPlace: { type: DType.uint8, zero: "tensor", view: matrix },
  uint8_withoutZero: { type: DType.uint8, zero: "none", view: matrix },
  uint8_constantZero: { type: DType.uint8, zero: { dtype, value: 200n }, view: matrix },
  uint8_zeroThatIsNoByte: { type: DType.uint8, zero: { dtype, value: 300n }, view: matrix },
  uint8_transposed: { type: DType.uint8, zero: "tensor", view: transposed },
  uint8_padded: { type: DType.uint8, zero: "tensor", view: padded },
  uint8_padded_constantZero: { type: DType.uint8, zero: { dtype, value: 7n }, view: padded },
  uint8_padded_withAnotherFill: { type: DType.uint8, zero: "tensor", view: { ...padded, fill: 1000n } },
  int8_inOrder: { type: DType.int8, zero: "tensor", view: matrix },
  int8_constantZero: { type: DType.int8, zero: { dtype, value: -100n }, view: matrix },
  int8_padded: { type: DType.int8, zero: "tensor", view: padded },
};

const bytesOf = (values: Int32Array): Uint8Array => new Uint8Array(values.buffer);
const buffers = (tensors: readonly Uint8Array[]): Buffer[] => tensors.map((tensor) => Buffer.from(tensor));

describe("products of differences of bytes", () => {
  for (const [name, { type, zero, view }] of Object.entries(CASES))
    for (const others of [[], [reader]])
      it(`${name}_${others.length === 0 ? "" : "readTwice_"}haveTheBitsOfTheReference`, async () => {
        const prng = new Prng(11);
        const weights = Int32Array.from({ length: COLUMNS * INNER }, () => prng.below(256) - 128);
        const model = {
          ...stepModel([difference(type, zero), product(view), ...others]),
          constants: new Map([[ROOT, bytesOf(weights)]]),
        };
        const data = Uint8Array.from({ length: COUNT }, () => prng.below(256));
        const inputs = zero === "tensor" ? [data, Uint8Array.of(0x93)] : [data];
        const expected = buffers(executeReference(model, inputs));
        const onStep = (step: number, tensor: Uint8Array): void => {
          if (step === 0) tensor.set(bytesOf(Int32Array.of(-100_000, 7)));
        };
        const altered = buffers(executeReference(model, inputs, { onStep }));
        const engine = await onnxEngine();
        const withoutBytes = { product: engine.product.bind(engine), close: engine.close.bind(engine) };
        for (const options of [{}, { chunkElements: 4 * INNER }, { engine: withoutBytes }]) {
          const executor = await createExecutor(model, { threads: 1, minEngineWork: 1, ...options });
          const last = model.program.steps.length - 1;
          const { tensors } = await executor.run(inputs, { keep: (step) => step === last });
          expect(Buffer.from(tensors[last]!)).to.deep.equal(expected[last]);
          expect(buffers((await executor.run(inputs)).tensors)).to.deep.equal(expected);
          expect(buffers((await executor.run(inputs, { onStep })).tensors)).to.deep.equal(altered);
          await executor.close();
        }
        await withoutBytes.close();
      });

  it("differencesThatAreCopiedElsewhere_areComputed", async () => {
    const prng = new Prng(12);
    const weights = Int32Array.from({ length: COLUMNS * INNER }, () => prng.below(256) - 128);
    const zero = "tensor";
    const reads = (index: number, count: number): Step["inputs"][number] => ({ kind: "step", index, dtype, count });
    const model = {
      ...stepModel([
        difference(DType.uint8, zero),
        difference(DType.uint8, zero),
        product(matrix),
        { ...reader, inputs: [reads(1, COUNT), reads(2, ROWS * COLUMNS)] },
      ]),
      constants: new Map([[ROOT, bytesOf(weights)]]),
    };
    const inputs = [Uint8Array.from({ length: COUNT }, () => prng.below(256)), Uint8Array.of(5)];
    const expected = buffers(executeReference(model, inputs));
    const executor = await createExecutor(model, { threads: 1, minEngineWork: 1 });
    const { tensors } = await executor.run(inputs, { keep: (step) => step === 3 });
    expect(Buffer.from(tensors[3]!)).to.deep.equal(expected[3]);
    await executor.close();
  });
});
