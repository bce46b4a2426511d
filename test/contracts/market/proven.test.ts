import { expect } from "chai";
import { bytesToHex, hexToBytes, keccak256, zeroHash, type Hex } from "viem";
import { ClaimStatus, JobStatus, type ClaimProof } from "../../../src/chain/structs.ts";
import { proofContextOf, termsHashOf } from "../../../src/chain/market/ids.ts";
import { keyWords, wordsHash } from "../../../src/circuits/groth16/keys.ts";
import { ORDER } from "../../../src/circuits/field.ts";
import {
  deliveryFor,
  marketEvents,
  nodesOf,
  postProvable,
  proofFor,
  provable,
  provableRequest,
  type Provable,
  type ProvableJob,
} from "../../../testkit/circuits/provenJobs.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { outputsOf } from "../../../testkit/circuits/networks.ts";
import { marketKit, OTHER_ROOT } from "../../../testkit/protocol/marketKit.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { attest } from "../../../testkit/protocol/reports.ts";
import { leafPick, sketched, SketchedGame, type Sketch } from "../../../testkit/protocol/sketch.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimId, claimKey, creditOf, gasOf, jobId, postJob } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

/** Gas of the whole call for eight inputs and three outputs, and of a post or a dispute's call at most. */
const MOST_GAS = 480_000n;
const TRANSACTION_GAS = 12_000_000n;

describe("JobMarket: claims that a proof ends", () => {
  const world = useWorld();
  const { as, pass, revert, statusOf } = marketKit(world);
  let network: Provable;
  before(async () => {
    network = await provable([8, 4, 3]);
  });

  /** A job in its window, with an honest claim and a proof of the claim. */
  async function submitted(): Promise<ProvableJob & { proof: ClaimProof }> {
    const posted = await postProvable(world(), network);
    const { job, terms, context } = posted;
    await world().market.write.claimOnTerms([job, terms], as("worker"));
    await world().market.write.submitOnTerms([job, terms, nodesOf(network)], as("worker"));
    return { ...posted, proof: proofFor(network, context) };
  }

  const notProven = (context: bigint): string => `what was asked is refused: NotProven(${network.keyHash}, ${context})`;

  /** What the market says to a proof. */
  const outcome = ({ claim, terms }: ProvableJob, proof: ClaimProof): Promise<string> =>
    refusalOf(world().market.simulate.finaliseByProof([claim, terms, proof]));

  const changed = (hex: Hex, byte = 0): Hex => {
    const bytes = hexToBytes(hex);
    bytes[byte]! ^= 1;
    return bytesToHex(bytes);
  };

  it("proof_endsTheClaim_paysItsWorker_andFreesTheCollateral_whoeverCalls", async () => {
    const { market, vault, worker } = world();
    const { claim, terms, proof, job } = await submitted();
    const before = await creditOf(world(), worker);
    const hash = await market.write.finaliseByProof([claim, terms, proof], as("mallory"));
    expect(await marketEvents(world(), hash)).to.deep.equal(["ClaimProven", "FeeReleased"]);
    expect(await statusOf(job)).to.equal(JobStatus.proven);
    const [status, time, delivered, , paid] = await market.read.claimOf([claimKey(world(), claim)]);
    expect([status, delivered, paid]).to.deep.equal([ClaimStatus.proven, 0n, true]);
    expect(time).to.equal(BigInt(await world().networkHelpers.time.latest()));
    expect((await market.read.claimStatus([claimKey(world(), claim)]))[0]).to.equal(ClaimStatus.proven);
    expect((await creditOf(world(), worker)) - before).to.equal(ETHER);
    expect((await vault.read.accountOf([worker.account.address]))[2]).to.equal(0n);
    console.log(`      finaliseByProof: ${await gasOf(world(), hash)} gas`);
    expect((await gasOf(world(), hash)) < MOST_GAS).to.equal(true);
  });

  it("claimAndProve_takesSubmitsAndEnds_atOnce_withOrWithoutAClaimBefore", async () => {
    const { market } = world();
    for (const isClaimed of [false, true]) {
      const { job, terms, context, claim } = await postProvable(world(), network, {}, { salt: claimSalt(isClaimed) });
      if (isClaimed) await market.write.claimOnTerms([job, terms], as("worker"));
      const call = [job, terms, nodesOf(network), proofFor(network, context)] as const;
      // Another worker's proof is of no use to who sees the call.
      if (!isClaimed) {
        await staked();
        await revert(market.write.claimAndProve([...call], as("mallory")), "NotProven");
      } else await revert(market.write.claimAndProve([...call], as("mallory")), "NotWorker");
      const hash = await market.write.claimAndProve([...call], as("worker"));
      const events = ["JobClaimed", "ClaimSubmitted", "ClaimProven", "FeeReleased"];
      expect(await marketEvents(world(), hash)).to.deep.equal(events.slice(isClaimed ? 1 : 0));
      expect((await market.read.claimStatus([claimKey(world(), claim)]))[0]).to.equal(ClaimStatus.proven);
      console.log(`      claimAndProve: ${await gasOf(world(), hash)} gas`);
    }
  });

  const claimSalt = (isClaimed: boolean): Hex => (isClaimed ? OTHER_ROOT : zeroHash);

  async function staked(): Promise<void> {
    const { vault, manufacturer, mallory } = world();
    await attest(world(), mallory.account.address, new TestDevice(manufacturer));
    await vault.write.stake([10n * ETHER], as("mallory"));
  }

  it("consumersOfFinalClaims_refuseAProvenClaim", async () => {
    const { market } = world();
    const { claim, terms, proof } = await submitted();
    await market.write.finaliseByProof([claim, terms, proof]);
    const of = deliveryFor(network);
    await revert(market.read.requireOutput([claim, 0n, of]), "WrongClaimStatus");
    await revert(market.write.deliver([claim, of]), "WrongClaimStatus");
    await revert(market.write.finalise([claim]), "WrongClaimStatus");
    await revert(market.write.accept([claim], as("requester")), "WrongClaimStatus");
    await pass(8 * 86_400);
    await revert(market.write.reclaim([claim]), "WrongClaimStatus");
    await revert(market.write.finalise([claim]), "WrongClaimStatus");
    await revert(market.write.finaliseByProof([claim, terms, proof]), "WrongClaimStatus");
    expect(await market.read.refundOf([claim.job])).to.deep.equal([false, 0n]);
    // Who judges claims itself may look at any claim's outputs.
    await market.read.checkOutput([claim, 0n, of]);
  });

  it("validators_giveNoVerdictOfAProvenClaim", async () => {
    const { market, viem, worker } = world();
    const { claim, terms, proof } = await submitted();
    await market.write.finaliseByProof([claim, terms, proof]);
    const identities = await viem.deployContract("AgentIdentities");
    const registry = await viem.deployContract("AgentValidations", [identities.address]);
    const validator = await viem.deployContract("RefuteValidator", [registry.address, market.address]);
    await identities.write.register({ account: worker.account });
    const hash = keccak256(await validator.read.payloadOf([0n, claim, zeroHash]));
    await registry.write.validationRequest([validator.address, 0n, "", hash], { account: worker.account });
    expect(await refusalOf(validator.write.report([0n, claim, zeroHash]))).to.include("ClaimNotOver");
  });

  it("requireProven_takesThePairOfProgramAndKey_only", async () => {
    const { market } = world();
    const { claim, terms, proof } = await submitted();
    const of = deliveryFor(network);
    const require = (key: Hex, changes: { terms?: typeof terms; claim?: typeof claim; of?: typeof of } = {}) =>
      refusalOf(market.read.requireProven([changes.claim ?? claim, changes.terms ?? terms, key, changes.of ?? of]));
    expect(await require(network.keyHash)).to.include("WrongClaimStatus");
    await market.write.finaliseByProof([claim, terms, proof]);
    expect(await require(network.keyHash)).to.equal("accepted");
    expect(await require(OTHER_ROOT)).to.include("WrongKey");
    expect(await require(zeroHash)).to.include("WrongKey");
    expect(await require(OTHER_ROOT, { terms: { ...terms, keyHash: OTHER_ROOT } })).to.include("WrongTerms");
    expect(await require(network.keyHash, { claim: { ...claim, root: OTHER_ROOT } })).to.include("WrongClaimStatus");
    expect(await require(network.keyHash, { of: { ...of, data: changed(of.data) } })).to.include("OutputNotInClaim");
    const program = { ...of.program, stepsRoot: OTHER_ROOT };
    expect(await require(network.keyHash, { of: { ...of, program } })).to.include("WrongProgram");
  });

  it("finalClaimOfAJobWithAKey_isNotProven", async () => {
    const { market } = world();
    const { claim, terms } = await submitted();
    await pass(2_001);
    await market.write.deliver([claim, deliveryFor(network)]);
    await market.read.requireOutput([claim, 0n, deliveryFor(network)]);
    await revert(market.read.requireProven([claim, terms, network.keyHash, deliveryFor(network)]), "WrongClaimStatus");
  });

  it("wrongTermsKeysAndTensors_areRefused_inTheOrderOfTheRules", async () => {
    const posted = await submitted();
    const { proof, terms } = posted;
    const words = proof.key;
    const other = { ...posted, terms: { ...terms, keyHash: OTHER_ROOT } };
    // Each call has all faults of the later ones.
    let faulty: ClaimProof = { ...proof, proof: proof.proof.with(0, 1n) as unknown as ClaimProof["proof"] };
    expect(await outcome(posted, faulty)).to.equal(notProven(posted.context));
    faulty = { ...faulty, inputs: [changed(proof.inputs[0]!)] };
    expect(await outcome(posted, faulty)).to.include("InputsNotInJob");
    faulty = { ...faulty, inputs: [`${proof.inputs[0]!}00`] };
    expect(await outcome(posted, faulty)).to.include("WrongInputLength(0, 33, 32)");
    faulty = { ...faulty, inputs: [] };
    expect(await outcome(posted, faulty)).to.include("WrongInputCount(0, 1)");
    faulty = { ...faulty, outputs: [changed(proof.outputs[0]!)] };
    expect(await outcome(posted, faulty)).to.include("OutputsNotInClaim");
    faulty = { ...faulty, outputs: [`${proof.outputs[0]!}00`] };
    expect(await outcome(posted, faulty)).to.include("WrongOutputLength(0, 13, 12)");
    faulty = { ...faulty, outputs: [proof.outputs[0]!, proof.outputs[0]!] };
    expect(await outcome(posted, faulty)).to.include("WrongOutputCount(2, 1)");
    faulty = { ...faulty, program: { ...proof.program, stepsRoot: OTHER_ROOT } };
    expect(await outcome(posted, faulty)).to.include("WrongProgram");
    faulty = { ...faulty, key: words.with(5, 7n) };
    expect(await outcome(posted, faulty)).to.include("WrongKey");
    expect(await outcome(other, faulty)).to.include("WrongTerms");
  });

  it("everyByteAndWordOfAProof_counts", async () => {
    const posted = await submitted();
    const { proof } = posted;
    for (let k = 0; k < 32; k += 3)
      expect(await outcome(posted, { ...proof, inputs: [changed(proof.inputs[0]!, k)] })).to.include("InputsNotInJob");
    for (const [k, word] of proof.proof.entries())
      for (const lie of [0n, word + 1n, word + ORDER])
        expect(await outcome(posted, { ...proof, proof: proof.proof.with(k, lie) as never }), `${k}`).to.include(
          "NotProven(",
        );
  });

  it("proofOfAnotherWorkerJobMarketOrChain_isRefused", async () => {
    const posted = await submitted();
    const { chainId, market, worker, mallory } = world();
    const [id, address] = [jobId(world(), posted.job), worker.account.address];
    expect(posted.context).to.equal(proofContextOf(id, address, chainId, market.address));
    const others = [
      proofContextOf(id, address, chainId + 1, market.address),
      proofContextOf(id, address, chainId, mallory.account.address),
      proofContextOf(OTHER_ROOT, address, chainId, market.address),
      proofContextOf(id, mallory.account.address, chainId, market.address),
      posted.context + 1n,
    ];
    for (const context of others) expect(await outcome(posted, proofFor(network, context))).to.include("NotProven(");
    expect(await outcome(posted, posted.proof)).to.equal("accepted");
  });

  it("proofOfAnotherProgram_ofTheSameShapes_isRefused", async () => {
    const posted = await submitted();
    const other = await provable([8, 4, 3], 9);
    const outputs = outputsOf(other.model, network.inputs);
    const theirs = proofFor({ ...other, inputs: network.inputs, outputs }, posted.context).proof;
    expect(await outcome(posted, { ...posted.proof, proof: theirs })).to.include("NotProven(");
  }).timeout(60_000);

  it("lieAboutTheOutputs_isNotProven", async () => {
    const { market } = world();
    const lie = { ...network, outputs: [hexToBytes(changed(bytesToHex(network.outputs[0]!)))] };
    const posted = await postProvable(world(), lie);
    await market.write.claimOnTerms([posted.job, posted.terms], as("worker"));
    await market.write.submitOnTerms([posted.job, posted.terms, nodesOf(lie)], as("worker"));
    const proof = { ...proofFor(network, posted.context), outputs: [bytesToHex(lie.outputs[0]!)] };
    expect(await outcome(posted, proof)).to.include("NotProven(");
  });

  it("keyThatTheTermsDoNotName_isRefused_andSoIsAnyProofWithoutAKeyInTheTerms", async () => {
    const { market } = world();
    for (const keyHash of [OTHER_ROOT, zeroHash]) {
      const posted = await postProvable(world(), network, { keyHash }, { salt: keyHash });
      await market.write.claimOnTerms([posted.job, posted.terms], as("worker"));
      await market.write.submitOnTerms([posted.job, posted.terms, nodesOf(network)], as("worker"));
      expect(await outcome(posted, proofFor(network, posted.context))).to.include("WrongKey");
      await pass(2_001);
      await market.write.finalise([posted.claim]);
    }
  });

  it("keyWithoutAKnownOrigin_isRefused_evenIfTheTermsNameIt", async () => {
    const { market } = world();
    for (const origin of [0n, 3n]) {
      const words = keyWords(network.key.verifying).with(0, origin);
      const posted = await postProvable(world(), { ...network, keyHash: wordsHash(words) });
      await market.write.claimOnTerms([posted.job, posted.terms], as("worker"));
      await market.write.submitOnTerms([posted.job, posted.terms, nodesOf(network)], as("worker"));
      const proof = proofFor(network, posted.context, words);
      expect(await outcome(posted, proof)).to.include("KnownSecrets(31337)");
      await pass(2_001);
      await market.write.finalise([posted.claim]);
    }
  });

  it("keyOfAnotherProgramOrWithAFlaw_isRefused_evenIfTheTermsNameIt", async () => {
    const { market } = world();
    const { verifying } = network.key;
    const keys = [
      [{ ...verifying, program: OTHER_ROOT }, `KeyOfAnotherProgram(${network.model.programRoot}, ${OTHER_ROOT})`],
      [{ ...verifying, gamma: verifying.delta }, "FlawedKey"],
    ] as const;
    for (const [key, refusal] of keys) {
      const words = keyWords(key);
      const posted = await postProvable(world(), { ...network, keyHash: wordsHash(words) });
      await market.write.claimOnTerms([posted.job, posted.terms], as("worker"));
      await market.write.submitOnTerms([posted.job, posted.terms, nodesOf(network)], as("worker"));
      expect(await outcome(posted, proofFor(network, posted.context, words))).to.include(refusal);
      await pass(2_001);
      await market.write.finalise([posted.claim]);
    }
  });

  /** A game about the claim's only output. */
  const opened = ({ claim }: ProvableJob, number = 0): Promise<SketchedGame> => {
    const list = MerkleList.fromHashes([tensorRoot(network.outputs[0]!)]);
    const { program } = network.model;
    const index = program.outputs[0]!;
    const siblings = commitProgram(program).checkpoints.path(index);
    const pick = leafPick(list, 0, deliveryFor(network).program);
    return new SketchedGame(world(), claim).open(
      { ...pick, checkpoint: { ...program.checkpoints[index]!, siblings } },
      number,
    );
  };

  it("openGame_keepsAProofOut_untilItIsOver", async () => {
    const { market } = world();
    const posted = await submitted();
    const game = await opened(posted);
    expect(await outcome(posted, posted.proof)).to.equal(
      `what was asked is refused: GamesOpen(${claimId(world(), posted.claim)}, 1)`,
    );
    await world().game.write.concede([game.packed, claimKey(world(), posted.claim)], as("watcher"));
    await market.write.finaliseByProof([posted.claim, posted.terms, posted.proof]);
    // A proven claim is over for games, too.
    expect(await refusalOf(opened(posted, 1))).to.include("WrongClaimStatus");
  });

  it("proofAfterTheWindow_isRefused_becauseTheClaimIsFinalForAllReaders", async () => {
    const posted = await submitted();
    await pass(7_200);
    expect(await outcome(posted, posted.proof)).to.include("TimeIsUp");
  });

  it("claimAndProve_leavesNoTimeForAGame", async () => {
    const posted = await postProvable(world(), network);
    const call = [posted.job, posted.terms, nodesOf(network), proofFor(network, posted.context)] as const;
    await world().market.write.claimAndProve([...call], as("worker"));
    expect(await refusalOf(opened(posted))).to.include("WrongClaimStatus");
  });

  it("post_refusesAKey_whereAProofSaysLessThanAClaim", async () => {
    const { market, requester } = world();
    const caller = { account: requester.account.address };
    const post = async (changes: object, rare: object = {}) =>
      refusalOf(market.simulate.post([await provableRequest(world(), network, rare, changes)], caller));
    expect(await post({})).to.equal("accepted");
    expect(await post({ answer: false })).to.include("NotProvable(0)");
    expect(await post({ items: 2 })).to.include("NotProvable(1)");
    expect(await post({ callbackGas: 1 })).to.include("NotProvable(4)");
    const openFrom = (await world().networkHelpers.time.latest()) + 100_000;
    expect(await post({}, { openFrom })).to.include("NotProvable(3)");
    for (const source of ["each", "carried", "index"] as const) {
      const sketch: Sketch = { inputs: ["shared", source], outputs: [{ checkpoint: 0, each: false }], checkpoints: 1 };
      const inputRoots = [OTHER_ROOT, source === "index" ? zeroHash : OTHER_ROOT];
      const request = { program: sketched(sketch), inputRoots, inputs: [], rootOnly: true };
      expect(await post(request), source).to.include("NotProvable(2)");
    }
  });

  it("keyIsAPartOfTheJob", async () => {
    const { job, terms } = await postProvable(world(), network);
    expect(job.termsHash).to.equal(termsHashOf(terms));
    const { job: second } = await postProvable(world(), network, { keyHash: OTHER_ROOT });
    expect(second.termsHash).not.to.equal(job.termsHash);
    await postJob(world(), await provableRequest(world(), network, { keyHash: zeroHash }));
  });

  it("manyPublicValues_fitATransaction", async () => {
    const large = await provable([128, 1]);
    const posted = await postProvable(world(), large);
    const call = [posted.job, posted.terms, nodesOf(large), proofFor(large, posted.context)] as const;
    const hash = await world().market.write.claimAndProve([...call], as("worker"));
    const { input } = await world().client.getTransaction({ hash });
    const [gas, bytes] = [await gasOf(world(), hash), input.length / 2 - 1];
    console.log(`      ${large.circuit.circuit.publicCount} public values: ${gas} gas, ${bytes} bytes`);
    expect(gas < TRANSACTION_GAS && bytes < 90_000).to.equal(true);
  }).timeout(120_000);
});
