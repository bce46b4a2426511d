import { expect } from "chai";
import { makeProvable } from "../../../src/compiler/passes/provable/makeProvable.ts";
import { partialSumStep } from "../../../src/compiler/passes/provable/splits.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { estimateStepProof } from "../../../src/program/gas.ts";
import { MAX_STEP_BYTES } from "../../../src/program/limits.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { validateStep } from "../../../src/program/validate.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { matMulStep, stepModel } from "../../../testkit/programs/stepModel.ts";
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
