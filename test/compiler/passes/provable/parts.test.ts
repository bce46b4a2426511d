import { expect } from "chai";
import { isEncodable, withStepNumbers, type Parts } from "../../../../src/compiler/passes/provable/parts.ts";
import { copiesOf, relayout } from "../../../../src/compiler/passes/provable/relayout.ts";
import { splitsOf } from "../../../../src/compiler/passes/provable/splits.ts";
import { executeStepReference } from "../../../../src/executor/referenceStep.ts";
import { Reduce } from "../../../../src/program/types.ts";
import { Prng } from "../../../../testkit/random/prng.ts";
import { randomStep, type RandomStep } from "../../../../testkit/programs/randomStep.ts";

const STEPS = Number(process.env.REFUTE_STEPS ?? 300);
const WORK = 20_000;

/** The last tensor of a plan over a step's tensors; undefined if a part does not fit the encoding. */
function execute(plan: Parts, { step, tensors }: RandomStep): Uint8Array | undefined {
  const results: Uint8Array[] = [];
  for (const part of plan) {
    const numbered = withStepNumbers(
      part,
      plan.map((_, k) => k),
    );
    if (!isEncodable(numbered)) return undefined;
    const sources = part.inputs.map((ref) =>
      ref.kind === "step" && ref.index < 0 ? results[-1 - ref.index]! : tensors[step.inputs.indexOf(ref)]!,
    );
    results.push(executeStepReference(numbered, sources));
  }
  return results.at(-1);
}

/** Runs a random way of changing each of many random steps and compares the bits. */
function check(seed: number, ways: (prng: Prng, given: RandomStep) => Parts | undefined): Map<number, number> {
  const prng = new Prng(seed);
  const compared = new Map<number, number>();
  for (let n = 0; n < STEPS; n++) {
    const given = randomStep(prng);
    const { step, tensors } = given;
    if (step.count * step.redDigits.reduce((product, radix) => product * radix, 1) > WORK) continue;
    const plan = ways(prng, given);
    const got = plan && execute(plan, given);
    if (plan === undefined || got === undefined) continue;
    const what = `step ${n}, reduce ${step.reduce} of ${step.redDigits.join(" x ")}, type ${step.reduceType}`;
    expect(Buffer.from(got).toString("hex"), what).to.equal(
      Buffer.from(executeStepReference(step, tensors)).toString("hex"),
    );
    compared.set(step.reduce, (compared.get(step.reduce) ?? 0) + 1);
  }
  return compared;
}

describe("ways to make a step provable", function () {
  this.timeout(120_000);

  it("anySplitOfAnyStep_changesNoBit", () => {
    const compared = check(3, (prng, { step }) => {
      const splits = splitsOf(step);
      return splits.length === 0 ? undefined : prng.pick(splits).parts();
    });
    for (const reduce of Object.values(Reduce).filter((kind) => kind !== Reduce.none))
      expect(compared.get(reduce) ?? 0, `reduce ${reduce}`).to.be.above(1);
  });

  it("anyCopyOfAnyRead_changesNoBit", () => {
    const compared = check(4, (prng, { step }) => {
      const chosen = new Map(
        step.termReads.flatMap((_, read) => {
          const copies = copiesOf(step, read);
          return copies.length === 0 || prng.below(3) === 0 ? [] : [[read, prng.pick(copies)] as const];
        }),
      );
      return chosen.size === 0 ? undefined : relayout(step, chosen);
    });
    expect([...compared.values()].reduce((sum, count) => sum + count, 0)).to.be.above(60);
  });
});
