import { expect } from "chai";
import { PURSES, study } from "../../tools/measure/attestation/canary/study.ts";
import { pickedShare } from "../../tools/measure/attestation/canary/picking.ts";
import { realJobs } from "../../tools/measure/attestation/canary/jobs.ts";

describe("telling canaries from real jobs", () => {
  const of = (name: string) =>
    study(
      PURSES.find((purse) => purse.name === name)!,
      1_000,
      7,
    ).picked;

  it("carelessPurses_areFound_byTheFeatureThatTheyNeglect", () => {
    expect(of("noise")["entropy"]).to.be.greaterThan(0.8);
    expect(of("own accounts")["accountAge"]).to.be.greaterThan(0.5);
    expect(of("own accounts")["funder"]).to.be.greaterThan(0.7);
    expect(of("noise, own accounts")["all"]).to.be.greaterThan(0.9);
  });

  it("aTraitThatNoPurseCanCopy_isAllThatIsFoundOfACarefulOne", () => {
    const picked = of("real data, accounts as others have");
    expect(picked["delivery"]).to.be.within(0.07, 0.13);
    for (const name of ["program", "entropy", "repeats", "secondFunder"])
      expect(picked[name], name).to.be.lessThan(0.05);
  });

  it("scoreThatSaysNothing_picksNothing", () => {
    const [real, canary] = [realJobs(500, 1), realJobs(500, 2)];
    expect(pickedShare(() => 0, real, canary)).to.equal(0);
  });
});
