import { expect } from "chai";
import { encodeAbiParameters, getAddress, zeroAddress, zeroHash, type Hex } from "viem";
import { refuteValidatorAbi } from "../../../../src/chain/abi/refuteValidator.ts";
import { ClaimStatus, type Claim } from "../../../../src/chain/structs.ts";
import { apartAnswers } from "../../../../testkit/programs/answerPrograms.ts";
import { RUN_STEPS } from "../../../../testkit/programs/runProgram.ts";
import type { Actor } from "../../../../testkit/protocol/deployWorld.ts";
import { landed, promised } from "../../../../testkit/protocol/pledgeWorld.ts";
import { RunGame } from "../../../../testkit/protocol/runGame.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { AGENT, askValidator, requestHashOf, validatorWorld } from "../../../../testkit/protocol/validatorWorld.ts";
import { claimId } from "../../../../testkit/protocol/world.ts";
import { answerOf } from "../../../../testkit/soak/answerRuns.ts";

const program = apartAnswers("two");
const honest = answerOf(program, 1);
const liar = answerOf(program, 1, { item: 0, step: RUN_STEPS.last, element: 3 });
const SALT: Hex = `0x${"5a".repeat(32)}`;
const CLAIM_PARAMETER = refuteValidatorAbi.find((item) => item.type === "function" && item.name === "report")!;

describe("RefuteValidator", () => {
  const world = useWorld(validatorWorld);
  const revert = (sent: Promise<unknown>, name: string) =>
    world().viem.assertions.revertWithCustomError(sent, world().validator, name as never);
  const tagOf = (role: string) => `refute:${role}:${program.model.programRoot}`;

  async function claimOf(own = honest, hidden = false): Promise<Claim> {
    const promise = await promised(world(), own);
    const evidence = { ...promise.evidence, ...(hidden && { inputs: [] }) };
    return (await landed(world(), { ...promise, evidence })).claim;
  }

  const hashOf = (claim: Claim, agent = AGENT, salt: Hex = zeroHash): Promise<Hex> =>
    requestHashOf(world(), claim, agent, salt);
  const ask = (claim: Claim, by: Actor = world().worker, agent = AGENT, salt: Hex = zeroHash): Promise<Hex> =>
    askValidator(world(), claim, by, agent, salt);

  const report = (claim: Claim, agent = AGENT, salt: Hex = zeroHash) =>
    world().validator.write.report([agent, claim, salt], { account: world().stranger.account });

  async function finalise(claim: Claim): Promise<void> {
    await world().networkHelpers.time.increase(3_000);
    await world().claims.write.finalise([claim]);
  }

  it("payload_isTheEncodingThatTheInterfaceNames", async () => {
    const claim = await claimOf();
    const { validator, chainId } = world();
    const parameter = (CLAIM_PARAMETER as { inputs: readonly { type: string; name: string }[] }).inputs[1]!;
    const types = [{ type: "uint256" }, { type: "address" }, { type: "uint256" }, parameter, { type: "bytes32" }];
    const values = [BigInt(chainId), validator.address, 7n, claim, SALT];
    expect(await validator.read.payloadOf([7n, claim, SALT])).to.equal(encodeAbiParameters(types, values));
  });

  it("finalClaim_gets100_once_andNothingBefore", async () => {
    const { registry, validator, worker } = world();
    const claim = await claimOf();
    const id = claimId(world(), claim);
    await ask(claim);
    await revert(report(claim), "ClaimNotOver");
    await finalise(claim);
    const hash = await hashOf(claim);
    await world().viem.assertions.emitWithArgs(report(claim), validator, "Reported", [AGENT, id, hash, 100]);
    const [by, agent, response, responseHash, tag] = await registry.read.getValidationStatus([hash]);
    expect([by, agent, response]).to.deep.equal([getAddress(validator.address), AGENT, 100]);
    expect([responseHash, tag]).to.deep.equal([id, tagOf("worker")]);
    expect(await validator.read.requestOf([AGENT, id])).to.equal(hash);
    // Under another salt the same claim does not count again.
    await ask(claim, worker, AGENT, SALT);
    await revert(report(claim, AGENT, SALT), "AlreadyReported");
    const summary = await registry.read.getSummary([AGENT, [validator.address], tagOf("worker")]);
    expect(summary).to.deep.equal([1n, 100]);
    const other = `refute:worker:${"0x".padEnd(66, "1")}`;
    expect(await registry.read.getSummary([AGENT, [validator.address], other])).to.deep.equal([0n, 0]);
  });

  it("refutedClaim_gets0_andTheWorkersOtherClaims_getNothing", async () => {
    const { registry } = world();
    const other = await claimOf();
    const run = await landed(world(), await promised(world(), liar));
    const game = new RunGame(world(), run, honest);
    await game.prove(await game.proof());
    const hash = await ask(run.claim);
    await report(run.claim);
    const [, , response, responseHash, tag] = await registry.read.getValidationStatus([hash]);
    expect([response, responseHash, tag]).to.deep.equal([0, claimId(world(), run.claim), tagOf("worker")]);
    await ask(other);
    await world().networkHelpers.time.increase(3_000);
    await revert(report(other), "ClaimNotOver");
    expect((await world().claims.read.statusOf([claimId(world(), other)]))[0]).to.equal(ClaimStatus.submitted);
  });

  it("hiddenInputs_get0ForALie_andNo100", async () => {
    const claim = await claimOf(honest, true);
    await ask(claim);
    await finalise(claim);
    await revert(report(claim), "InputsHidden");
    const promise = await promised(world(), liar);
    const run = await landed(world(), { ...promise, evidence: { ...promise.evidence, inputs: [] } });
    const game = new RunGame(world(), run, honest);
    await game.prove(await game.proof());
    const hash = await ask(run.claim);
    await report(run.claim);
    expect((await world().registry.read.getValidationStatus([hash]))[2]).to.equal(0);
  });

  it("anotherQuestion_isNotAnswered", async () => {
    const { registry, validator, worker, viem } = world();
    const claim = await claimOf();
    await finalise(claim);
    // Nobody asked.
    await viem.assertions.revertWithCustomError(report(claim), registry, "Refused");
    // Another program, other inputs, another root: a claim that the contract does not know.
    for (const changed of [
      { ...claim, job: { ...claim.job, programRoot: SALT } },
      { ...claim, job: { ...claim.job, inputsRoot: SALT } },
      { ...claim, root: SALT },
    ]) {
      await ask(changed);
      await revert(report(changed), "ClaimNotOver");
    }
    // Another validator was asked under this hash.
    await registry.write.validationRequest([worker.account.address, AGENT, "", await hashOf(claim)], {
      account: worker.account,
    });
    await revert(report(claim), "NotAsked");
    // Another agent took the hash: another salt gives another one.
    await world().identities.write.register({ account: world().mallory.account });
    const taken = await hashOf(claim, AGENT, SALT);
    await registry.write.validationRequest([validator.address, 1n, "", taken], { account: world().mallory.account });
    await revert(report(claim, AGENT, SALT), "NotAsked");
    const free: Hex = `0x${"01".padStart(64, "0")}`;
    await ask(claim, worker, AGENT, free);
    await report(claim, AGENT, free);
  });

  it("claimsOfOthers_areNotAnAgents_alsoWithoutAWallet", async () => {
    const { identities, requester, mallory, worker } = world();
    const claim = await claimOf();
    await finalise(claim);
    await identities.write.register({ account: mallory.account });
    await ask(claim, mallory, 1n);
    await revert(report(claim, 1n), "NotOfAgent");
    await identities.write.setWallet([1n, requester.account.address]);
    await report(claim, 1n);
    const [, , response, , tag] = await world().registry.read.getValidationStatus([await hashOf(claim, 1n)]);
    expect([response, tag]).to.deep.equal([100, tagOf("requester")]);
    // The wallet acts for the worker's agent too, and a transfer removes the wallet.
    await identities.write.transferFrom([worker.account.address, mallory.account.address, AGENT], {
      account: worker.account,
    });
    await ask(claim, mallory, AGENT);
    await revert(report(claim), "NotOfAgent");
    // A signed claim may name nobody as its payer, and an agent without a wallet is nobody.
    const promise = await promised(world(), honest, { payer: zeroAddress });
    const nobodys = (await landed(world(), promise)).claim;
    await finalise(nobodys);
    await ask(nobodys, mallory, AGENT);
    await revert(report(nobodys), "NotOfAgent");
    await identities.write.setWallet([AGENT, worker.account.address]);
    await report(nobodys);
  });

  it("ownerAlone_isEnough_whoeverHasTheWallet", async () => {
    const { identities, mallory, registry } = world();
    const claim = await claimOf();
    await finalise(claim);
    await identities.write.setWallet([AGENT, mallory.account.address]);
    const hash = await ask(claim);
    await report(claim);
    expect((await registry.read.getValidationStatus([hash]))[2]).to.equal(100);
  });

  it("deployment_needsContracts", async () => {
    const { viem, registry, claims, stranger, validator } = world();
    const { address } = stranger.account;
    for (const places of [
      [address, claims.address],
      [registry.address, address],
    ] as const)
      await revert(viem.deployContract("RefuteValidator", [...places]), "NoCode");
    expect(await validator.read.registry()).to.equal(getAddress(registry.address));
    expect(await validator.read.claims()).to.equal(getAddress(claims.address));
  });
});
