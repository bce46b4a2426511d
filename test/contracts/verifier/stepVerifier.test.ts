import { expect } from "chai";
import { network } from "hardhat";
import { estimateStepProofGas } from "../../../src/program/gas.ts";
import { MAX_STEP_GAS } from "../../../src/program/limits.ts";
import { OPERATIONS, signature } from "../../../src/program/operations.ts";
import { Reduce } from "../../../src/program/types.ts";
import { AT_LENGTH, itInTime } from "../../../testkit/atLength.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { randomStep } from "../../../testkit/programs/randomStep.ts";
import { deployVerifier, proveElement, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";

const STEPS = Number(process.env.REFUTE_STEPS ?? (AT_LENGTH ? 2000 : 300));

describe("StepVerifier in lock step with the definition", () => {
  let verifier: DeployedVerifier;
  before(async () => void (verifier = await deployVerifier()));

  it("evaluate_randomWellFormedSteps_equalBitsNeverARevert", async function () {
    this.timeout(300_000);
    const prng = new Prng(Number(process.env.REFUTE_SEED ?? 20261121));
    const operations = new Set<string>();
    const reductions = new Set<number>();
    for (let n = 0; n < STEPS; n++) {
      const { step, tensors } = randomStep(prng);
      // What takes more gas than a transaction may is split by the compiler.
      if (estimateStepProofGas(step) > MAX_STEP_GAS) continue;
      const element = prng.below(step.count);
      const { value, proof } = proveElement(step, element, tensors);
      let word: bigint;
      try {
        word = await verifier.read.evaluate(proof);
      } catch (error) {
        throw new Error(`step ${n}: ${(error as Error).message.slice(-300)} ${show(step)}`);
      }
      expect(word, `step ${n}, element ${element}: ${show(step)}`).to.equal(value);
      reductions.add(step.reduce);
      for (const { op } of [...step.term.code, ...step.epilogue.code]) operations.add(signature(op)!.name);
    }
    expect([...operations].sort()).to.deep.equal([...OPERATIONS].sort());
    expect(reductions.size).to.equal(Object.keys(Reduce).length);
  });
});

describe("StepVerifier", () => {
  itInTime("deploy_withoutTheElementaryFunctions_reverts", async () => {
    const { viem } = await network.create();
    const [somebody] = await viem.getWalletClients();
    const failed = viem.deployContract("StepVerifier", [somebody!.account.address]);
    expect(await refusalOf(failed)).to.include("NoElementaryFunctions");
  });
});

const show = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) => (typeof v === "bigint" ? Number(v) : v)).slice(0, 3000);
