import { expect } from "chai";
import { makeProvable } from "../../../src/compiler/passes/provable/makeProvable.ts";
import { partialSumStep } from "../../../src/compiler/passes/provable/splits.ts";
import { fixedSum } from "../../../src/compiler/passes/shares/fixedSum.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { numberWord } from "../../../src/numerics/numbers.ts";
import { estimateStepProof } from "../../../src/program/gas.ts";
import { MAX_STEP_BYTES } from "../../../src/program/limits.ts";
import { Reduce, type Instruction, type Step } from "../../../src/program/types.ts";
import { Op } from "../../../src/program/operations.ts";
import { validateStep } from "../../../src/program/validate.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { matMulStep, rowSumStep, stepModel } from "../../../testkit/programs/stepModel.ts";
import { tensorOf } from "../../../testkit/programs/tensorOf.ts";
import { Prng } from "../../../testkit/random/prng.ts";

/** Runs steps by plans and by the definition, and compares all tensors. */
async function compare(steps: readonly Step[], tensors: readonly Uint8Array[], about: string): Promise<void> {
  const model = stepModel(steps);
  const executor = await createExecutor(model, { threads: 1 });
  const { tensors: made } = await executor.run(tensors);
  executeReference(model, tensors).forEach((tensor, s) =>
    expect(Buffer.from(made[s]!).equals(tensor), `${about}, step ${s}`).to.equal(true),
  );
  await executor.close();
}

describe("words of exact sums, added again", function () {
  this.timeout(60_000);

  it("splitSumsOfWords_areThoseOfTheDefinition", async () => {
    const prng = new Prng(21);
    const edges = float32Words(1, 2_000);
    for (let round = 0; round < 6; round++) {
      const [rows, terms, columns] = [1 + prng.below(3), 900 + prng.below(900), 1 + prng.below(3)];
      const whole = partialSumStep(matMulStep(rows, terms, columns));
      const gas = Math.floor(estimateStepProof(whole).gas / 2);
      const { steps } = makeProvable([whole], { gas, bytes: MAX_STEP_BYTES });
      expect(steps.map(({ reduce }) => reduce)).to.include.members([Reduce.partialDot, Reduce.partialTotal]);
      const draw = (count: number): Uint8Array =>
        tensorOf(
          DType.float32,
          Array.from({ length: count }, () =>
            round % 3 === 0
              ? prng.pick(edges)
              : BigInt((prng.below(2) << 31) | (prng.below(2 ** 28) + 2 ** 29)) & 0xffffffffn,
          ),
        );
      await compare(steps, [draw(rows * terms), draw(terms * columns)], `round ${round}`);
    }
  });

  it("totalsOfAnyWords_withTheSameTermsForAllWordsAndWithOthers_areThoseOfTheDefinition", async () => {
    const prng = new Prng(22);
    for (const own of [0, 12]) {
      const [outer, terms] = [5, 12];
      const count = outer * terms * (own === 0 ? 1 : 4);
      const coeffs = [
        { digit: 0, coeff: count / outer },
        ...(own === 0 ? [] : [{ digit: 1, coeff: own }]),
        { digit: 2, coeff: 1 },
      ];
      const step: Step = {
        ...matMulStep(1, 4, 1),
        ...{ dtype: DType.limb, count: 4 * outer, outDigits: [outer, 4], redDigits: [terms] },
        inputs: [{ kind: "input", index: 0, dtype: DType.limb, count }],
        ...{ reduce: Reduce.partialTotal, reduceType: DType.limb, epilogueReads: [] },
        termReads: [{ input: 0, fill: 0n, axes: [{ extent: count, stride: 1, base: 0, div: 1, coeffs }] }],
        ...{ term: { code: [], outA: 0, outB: 0 }, epilogue: { code: [], out: 0 } },
      };
      validateStep(step);
      const bytes = Uint8Array.from({ length: 32 * count }, () => (prng.below(3) === 0 ? 255 : prng.below(256)));
      await compare([step], [bytes], `own ${own}`);
    }
  });

  it("wordsOfSums_onSeveralThreads_areThoseOfOne", async () => {
    const prng = new Prng(23);
    const [rows, terms, columns] = [67, 130, 41];
    const model = stepModel([partialSumStep(matMulStep(rows, terms, columns))]);
    const words = float32Words(2, 5_000).filter((word) => (word & 0x7f800000n) !== 0x7f800000n);
    const tensors = [rows * terms, terms * columns].map((count) =>
      tensorOf(
        DType.float32,
        Array.from({ length: count }, () => prng.pick(words)),
      ),
    );
    const made: string[] = [];
    for (const threads of [1, 2, 3]) {
      const executor = await createExecutor(model, { threads });
      for (let run = 0; run < 2; run++)
        made.push(Buffer.from((await executor.run(tensors)).tensors[0]!).toString("base64"));
      await executor.close();
    }
    expect(new Set(made).size).to.equal(1);
    expect(made[0]).to.equal(Buffer.from(executeReference(model, tensors)[0]!).toString("base64"));
  });
});

describe("fixed sums", function () {
  this.timeout(60_000);
  const [rows, terms] = [64, 32];
  const { float16, bfloat16, float32, float64, int64 } = DType;
  const cast = (from: DType, a: number, to: DType): Instruction => ({ op: Op.cast, dtype: from, a, b: to, c: 0 });

  it("castsFromWideTypesToHalves_areRoundedOnce", async () => {
    const sum = rowSumStep(rows, terms);
    // A little more than half a unit of float16 above 1: rounded to float32 first, a tie.
    const wide = numberWord(1 + 2 ** -11 + 2 ** -30, float64);
    const halves: Step = {
      ...sum,
      constants: [{ dtype: float64, value: wide }],
      term: {
        code: [
          cast(float32, 0, float64),
          { op: Op.mul, dtype: float64, a: 2, b: 1, c: 0 },
          cast(float64, 3, float16),
          cast(float16, 4, float32),
        ],
        ...{ outA: 5, outB: 0 },
      },
    };
    await compare(
      [fixedSum(halves, terms)],
      [new Uint8Array(new Float32Array(rows * terms).fill(1).buffer)],
      "float64",
    );
    const integers: Step = {
      ...sum,
      inputs: [{ kind: "input", index: 0, dtype: int64, count: rows * terms }],
      constants: [{ dtype: float32, value: numberWord(2 ** -30, float32) }],
      term: {
        code: [cast(int64, 0, bfloat16), cast(bfloat16, 2, float32), { op: Op.mul, dtype: float32, a: 3, b: 1, c: 0 }],
        ...{ outA: 4, outB: 0 },
      },
    };
    const large = new BigInt64Array(rows * terms).fill(2n ** 40n + 2n ** 32n + 1n);
    await compare([fixedSum(integers, terms)], [new Uint8Array(large.buffer)], "int64");
  });
});
