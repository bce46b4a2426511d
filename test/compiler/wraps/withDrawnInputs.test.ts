import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { withDrawnInputs, type DrawnInput } from "../../../src/compiler/wraps/withDrawnInputs.ts";
import { DrawnInputError } from "../../../src/compiler/errors.ts";
import { philox } from "../../../src/compiler/operators/philox.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { sha256 } from "../../../src/program/merkle/hash.ts";
import { DType, dtypeBytes, isFloat, readWord } from "../../../src/numerics/dtype.ts";
import { wordNumber } from "../../../src/numerics/numbers.ts";
import type { Model } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";

type Input = { name: string; dtype: DType; shape: (number | string)[] };

/** Each input is an output too. */
const identity = (inputs: readonly Input[]): Model => ({
  source: "model",
  irVersion: 10,
  opsets: new Map([["", 21]]),
  graph: {
    name: "identity",
    inputs: inputs,
    outputs: inputs.map(({ name, dtype }) => ({ name: `${name}_out`, dtype, shape: undefined })),
    nodes: inputs.map(({ name }) => ({
      ...{ name: `${name}_out`, operator: "Identity", domain: "", inputs: [name], outputs: [`${name}_out`] },
      ...{ attributes: new Map(), opsets: new Map([["", 21]]) },
    })),
    initializers: new Map(),
  },
});

/** 32 bytes that a number says. */
const nonce = (k: number): Uint8Array => sha256(Uint8Array.of(k, k >>> 8));

const word = (seed: Uint8Array, place: number): bigint =>
  new DataView(seed.buffer, seed.byteOffset).getBigInt64(8 * place, true);

/** What a program of drawn inputs gives: the numbers of each output. */
function drawnNumbers(model: Model, drawn: Record<string, DrawnInput>, seed: Uint8Array): number[][] {
  const compiled = compile(withDrawnInputs(model, drawn), { shapes: {} });
  const tensors = executeReference(compiled, [seed]);
  const { checkpoints, outputs } = compiled.program;
  return outputs.map((output, k) => {
    const { dtype } = compiled.outputs[k]!;
    const bytes = tensors[checkpoints[output]!.step]!;
    return Array.from({ length: bytes.length / dtypeBytes(dtype) }, (_, i) => {
      const read = readWord(bytes, i, dtype);
      return isFloat(dtype) ? wordNumber(read, dtype) : Number(read);
    });
  });
}

describe("inputs that are drawn within the program", function () {
  this.timeout(60_000);

  it("values_areThoseOfPhilox_ofTheSeedAndTheInputsPlace", () => {
    const model = identity([
      { name: "x", dtype: DType.float32, shape: [2, 3] },
      { name: "ids", dtype: DType.int64, shape: [1, 5] },
    ]);
    const seed = nonce(1);
    const [x, ids] = drawnNumbers(model, { x: { low: -1, high: 1 }, ids: { low: 10, high: 99 } }, seed);
    const halves = (value: bigint): [number, number] => [
      Number(value & 0xffffffffn),
      Number((value >> 32n) & 0xffffffffn),
    ];
    const words = (place: number, count: number): number[] =>
      [0, 1]
        .flatMap((block) =>
          philox([block, ...halves(BigInt.asUintN(64, word(seed, 1) + BigInt(place))), 2], halves(word(seed, 0))),
        )
        .slice(0, count);
    const f = Math.fround;
    expect(x).to.deep.equal(words(0, 6).map((w) => f(f(f(w) * f(2 / 2 ** 32)) - 1)));
    expect(ids).to.deep.equal(words(1, 5).map((w) => 10 + (w % 90)));
  });

  it("everyType_staysInItsRange_andReachesItsEnds", () => {
    const types: [DType, number, number][] = [
      [DType.float32, 3, 3.5],
      [DType.float64, -2, 5],
      [DType.float16, -65_504, 65_504],
      [DType.bfloat16, 0, 1],
      [DType.uint8, 0, 255],
      [DType.int8, -128, -126],
      [DType.uint16, 7, 8],
      [DType.int32, -(2 ** 31), 2 ** 31 - 1],
      [DType.uint32, 0, 2 ** 32 - 1],
      [DType.int64, -1, 1],
      [DType.bool, 0, 1],
    ];
    for (const [dtype, low, high] of types) {
      const [values] = drawnNumbers(identity([{ name: "x", dtype, shape: [64] }]), { x: { low, high } }, nonce(7));
      const label = `type ${dtype}`;
      expect(Math.min(...values!), label).to.be.at.least(low);
      expect(Math.max(...values!), label).to.be.at.most(high);
      expect(new Set(values).size, label).to.be.at.least(Math.min(2, high - low + 1));
      if (!isFloat(dtype) && high - low < 4) expect(new Set(values).size, label).to.equal(high - low + 1);
    }
  });

  for (const { name, nonces, drawn } of [
    { name: "oww_timer", nonces: 1_000, drawn: { "onnx::Flatten_0": { low: -8, high: 8 } } },
    { name: "ppocr2_cls", nonces: 50, drawn: { x: { low: -1, high: 1, shape: [1, 3, 48, 192] } } },
  ])
    it(`${name}_of${nonces}Nonces_hasOtherTracesAndOtherResults_withoutNaN`, async () => {
      const compiled = compile(withDrawnInputs(readModel(catalogued(name).bytes()), drawn), { shapes: {} });
      const executor = await createExecutor(compiled);
      const last = compiled.program.checkpoints.at(-1)!.step;
      const [roots, results] = [new Set<string>(), new Set<string>()];
      for (let k = 0; k < nonces; k++) {
        const { tensors } = await executor.run([nonce(k)]);
        const result = new Float32Array(tensors[last]!.slice().buffer);
        expect(result.some(Number.isNaN), `nonce ${k}`).to.equal(false);
        results.add(result.join());
        roots.add(new Trace(compiled.program, tensors).root);
      }
      await executor.close();
      expect(roots.size).to.equal(nonces);
      expect(results.size).to.equal(nonces);
    });

  it("otherInputs_stay", () => {
    const model = identity([
      { name: "x", dtype: DType.float32, shape: [1] },
      { name: "y", dtype: DType.float32, shape: [1] },
    ]);
    const { graph } = withDrawnInputs(model, { y: { low: 0, high: 1 } });
    expect(graph.inputs.map(({ name }) => name)).to.deep.equal(["draw_seed", "x"]);
    expect(withDrawnInputs(model, {})).to.equal(model);
  });

  for (const [what, input, drawn, text] of [
    ["anUnknownInput", {}, { y: { low: 0, high: 1 } }, '"y" cannot be drawn: the inputs are "x"'],
    ["anOpenShape", { shape: ["n"] }, { x: { low: 0, high: 1 } }, 'the shape of "x" is open'],
    ["anotherShape", {}, { x: { low: 0, high: 1, shape: [2] } }, "which is not the model's shape"],
    ["anEmptyRange", {}, { x: { low: 1, high: 1 } }, "the first must be less than the second"],
    ["NaN", {}, { x: { low: NaN, high: 1 } }, "the first must be less than the second"],
    ["infinity", {}, { x: { low: 0, high: Infinity } }, "at most"],
    ["partsOfIntegers", { dtype: DType.int32 }, { x: { low: 0.5, high: 2 } }, "expected whole numbers"],
    ["moreThanTheType", { dtype: DType.uint8 }, { x: { low: 0, high: 256 } }, "the type goes from 0 to 255"],
    ["moreThanAWord", { dtype: DType.int64 }, { x: { low: 0, high: 2 ** 32 } }, "more than 2^32 values"],
    ["aNameThatIsNeeded", { name: "draw_seed" }, { draw_seed: { low: 0, high: 1 } }, "a name that drawing needs"],
  ] as const)
    it(`${what}_isRefused`, () => {
      const model = identity([{ name: "x", dtype: DType.float32, shape: [1], ...input } as Input]);
      expect(() => withDrawnInputs(model, drawn)).to.throw(DrawnInputError, text);
    });
});
