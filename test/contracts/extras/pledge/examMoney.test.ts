import { expect } from "chai";
import { encodeFunctionData, parseEventLogs, type Address, type Hex } from "viem";
import { disputeGameAbi } from "../../../../src/chain/abi/disputeGame.ts";
import { examClaimsAbi } from "../../../../src/chain/abi/examClaims.ts";
import { pledgedClaimsAbi } from "../../../../src/chain/abi/pledgedClaims.ts";
import { ClaimStatus, PledgeStatus } from "../../../../src/chain/structs.ts";
import {
  challengeArgs,
  challenged,
  createExamClaimsWorld,
  EXAM_LIE,
  examGame,
  refuteExam,
  satExam,
} from "../../../../testkit/protocol/examClaimsWorld.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { claimId, claimKey, creditOf } from "../../../../testkit/protocol/world.ts";
import { ETHER, SINK } from "../../../../testkit/protocol/deployWorld.ts";

describe("ExamClaims: money", function () {
  this.timeout(180_000);
  const world = useWorld(() => createExamClaimsWorld());
  const pass = (seconds: number) => world().networkHelpers.time.increase(seconds);
  const workerOf = () => world().worker.account.address;
  const pledge = () => world().claims.read.pledgeOf([workerOf()]);

  /** Credit, stake and what is on its way out of all who have any, and the custody: all that the vault holds. */
  async function isSolvent(): Promise<void> {
    const { vault, token, worker, watcher, requester, mallory, examClaims, claims } = world();
    const accounts = [worker, watcher, requester, mallory].map(({ account }) => account.address);
    let owed = await vault.read.custody();
    for (const account of [...accounts, SINK, examClaims.address, claims.address]) {
      const [credit, staked, , withdrawing] = await vault.read.accountOf([account]);
      owed += credit + staked + withdrawing;
    }
    expect(await token.read.balanceOf([vault.address])).to.equal(owed);
    // Neither contract ever has any.
    for (const { address } of [examClaims, claims]) {
      expect(await token.read.balanceOf([address])).to.equal(0n);
      expect((await vault.read.accountOf([address]))[0]).to.equal(0n);
    }
  }

  /** What a claim's games were due when it died: all of it was there. */
  async function duesOf(claim: Hex): Promise<bigint> {
    const [died] = await world().game.getEvents.ClaimDied({ claimId: claim }, { fromBlock: 0n });
    const { pot, dues } = died!.args as { pot: bigint; dues: bigint };
    expect(pot).to.equal(dues);
    return dues;
  }

  it("wrongResult_takesThePledge_andEveryWeiOfItGoesSomewhere", async () => {
    const { vault, watcher, worker, parameters, claims } = world();
    const sat = await satExam(world(), { lies: true });
    const { claim } = await challenged(world(), sat);
    await isSolvent();
    const [watchers, workers] = [await creditOf(world(), watcher), await creditOf(world(), worker)];
    await refuteExam(world(), sat, claim);
    await isSolvent();
    const dues = await duesOf(claimId(world(), claim));
    const halted = await claims.getEvents.WorkerHalted({}, { fromBlock: 0n });
    expect(halted[0]!.args.collateral).to.equal(parameters.collateral);
    // The bounty, what its moves were due, and what is nobody's: together the whole pledge.
    const earned = (await world().game.read.claimGames([claimId(world(), claim)]))[3];
    expect(await creditOf(world(), watcher)).to.equal(watchers + parameters.bounty + dues - earned);
    const [status, , claimsLeft, left] = await pledge();
    expect([status, claimsLeft]).to.deep.equal([PledgeStatus.stopped, 0n]);
    expect(parameters.bounty + dues + left).to.equal(parameters.collateral);
    await world().game.write.collect([claimKey(world(), claim)]);
    expect(await creditOf(world(), worker)).to.equal(workers + earned);
    expect((await vault.read.accountOf([workerOf()]))[1]).to.equal(10n * ETHER - parameters.collateral);
    expect(await vault.read.custody()).to.equal(left);
    await pass(parameters.maxWindow + 2 * (parameters.baseClock + 20_000));
    const swept = claims.write.sweep([workerOf()]);
    await world().viem.assertions.emitWithArgs(swept, claims, "RemainderSwept", [worker.account.address, left]);
    expect((await vault.read.accountOf([SINK]))[0]).to.equal(left);
    expect(await vault.read.custody()).to.equal(0n);
    await isSolvent();
  });

  it("rightResult_costsItsChallengerTheBond_andThePledgeComesBack", async () => {
    const { vault, mallory, worker, bond, claims, parameters } = world();
    const sat = await satExam(world());
    const { claim } = await challenged(world(), sat, mallory);
    const [attackers, workers] = [await creditOf(world(), mallory), await creditOf(world(), worker)];
    const { checkpoint, step, element } = EXAM_LIE;
    const game = await examGame(world(), sat, claim, mallory).descend(checkpoint, step, element);
    const { assertions } = world().viem;
    await assertions.revertWithCustomError(game.prove(element), world().game, "ProofFails");
    await pass(86_400);
    await assertions.revertWithCustomError(claims.write.finalise([claim]), world().market, "GamesOpen");
    await game.concede(mallory);
    await world().game.write.collect([game.key]);
    expect(await creditOf(world(), mallory)).to.equal(attackers - bond);
    expect(await creditOf(world(), worker)).to.equal(workers + bond);
    await claims.write.finalise([claim]);
    await isSolvent();
    await claims.write.requestRelease({ account: worker.account });
    await pass(86_401);
    await claims.write.release({ account: worker.account });
    expect((await vault.read.accountOf([workerOf()])).slice(1, 3)).to.deep.equal([10n * ETHER, 0n]);
    expect(await vault.read.custody()).to.equal(0n);
    expect(parameters.collateral > 0n).to.equal(true);
    await isSolvent();
  });

  it("sixteenWrongResults_atOnce_payOneBounty_andAllTheirChallengers", async () => {
    const { mallory, watcher, vault, parameters, claims } = world();
    await world().vault.write.deposit([watcher.account.address, 50n * ETHER], { account: watcher.account });
    const results = [];
    for (let k = 0; k < 16; k++) results.push(await satExam(world(), { lies: true }));
    const games = [];
    for (const [k, sat] of results.entries()) {
      const by = k % 2 === 0 ? watcher : mallory;
      const { claim } = await challenged(world(), sat, by);
      games.push(await examGame(world(), sat, claim, by).descend(EXAM_LIE.checkpoint, EXAM_LIE.step, EXAM_LIE.element));
      await isSolvent();
    }
    expect((await pledge())[2]).to.equal(16n);
    let paid = 0n;
    for (const [k, game] of games.entries()) {
      const before = await creditOf(world(), game.challenger);
      await game.prove(EXAM_LIE.element);
      const gain = (await creditOf(world(), game.challenger)) - before;
      const dues = await duesOf(claimId(world(), game.claim));
      // What is left of the bond, and all dues: only the first to prove gets a bounty.
      expect(gain - game.state.bond - dues, `game ${k}`).to.equal(k === 0 ? parameters.bounty : 0n);
      paid += dues;
      expect((await claims.read.statusOf([claimId(world(), game.claim)]))[0]).to.equal(ClaimStatus.refuted);
      await isSolvent();
    }
    const [, , , rest] = await pledge();
    expect(parameters.bounty + paid + rest).to.equal(parameters.collateral);
    for (const game of games) await world().game.write.collect([game.key]);
    const [status, , open, left] = await pledge();
    expect([status, open]).to.deep.equal([PledgeStatus.stopped, 0n]);
    expect(await vault.read.custody()).to.equal(left);
  });

  it("wherePaymentsCallBack_nothingIsDoneTwice", async () => {
    const hostile = await createExamClaimsWorld("ReentrantToken");
    const { viem, token, vault, claims, game, examClaims, requester } = hostile;
    const armed = await viem.getContractAt("ReentrantToken", token.address);
    const sat = await satExam(hostile);
    const wrong = await satExam(hostile, { lies: true });
    const { claim } = await challenged(hostile, wrong);
    const dispute = await examGame(hostile, wrong, claim).descend(EXAM_LIE.checkpoint, EXAM_LIE.step, EXAM_LIE.element);
    const id = claimId(hostile, claim);
    /** Has the token make a call from inside a withdrawal. @returns whether it succeeded */
    const inside = async (to: Address, data: Hex): Promise<boolean> => {
      await armed.write.arm([to, data]);
      const held = (await vault.read.custody()) + (await vault.read.accountOf([claim.worker]))[1];
      await vault.write.withdraw([1n, requester.account.address], { account: requester.account });
      expect((await vault.read.custody()) + (await vault.read.accountOf([claim.worker]))[1]).to.equal(held);
      return armed.read.lastCallSucceeded();
    };
    const ofClaims = (functionName: "pledge" | "requestRelease" | "release"): Hex =>
      encodeFunctionData({ abi: pledgedClaimsAbi, functionName });
    const key = claimKey(hostile, claim);
    const refused: [string, Address, Hex][] = [
      ["pledge", claims.address, ofClaims("pledge")],
      ["requestRelease", claims.address, ofClaims("requestRelease")],
      ["release", claims.address, ofClaims("release")],
      [
        "finalise",
        claims.address,
        encodeFunctionData({ abi: pledgedClaimsAbi, functionName: "finalise", args: [claim] }),
      ],
      [
        "sweep",
        claims.address,
        encodeFunctionData({ abi: pledgedClaimsAbi, functionName: "sweep", args: [claim.worker] }),
      ],
      [
        "gameOpened",
        claims.address,
        encodeFunctionData({
          abi: pledgedClaimsAbi,
          functionName: "gameOpened",
          args: [key.jobId, id, requester.account.address, 1n],
        }),
      ],
      [
        "pay",
        claims.address,
        encodeFunctionData({ abi: pledgedClaimsAbi, functionName: "pay", args: [token.address, 1n] }),
      ],
      [
        "refuted",
        claims.address,
        encodeFunctionData({ abi: pledgedClaimsAbi, functionName: "refuted", args: [key, id] }),
      ],
      [
        "challenge, once more",
        examClaims.address,
        encodeFunctionData({ abi: examClaimsAbi, functionName: "challenge", args: [...challengeArgs(wrong)] }),
      ],
      [
        "settle",
        game.address,
        encodeFunctionData({ abi: disputeGameAbi, functionName: "settle", args: [dispute.packed] }),
      ],
    ];
    for (const [name, to, data] of refused) expect(await inside(to, data), name).to.equal(false);
    // What anybody may, a token may too: it changes what it says, and no money.
    const allowed: [string, Hex][] = [
      ["enrol", encodeFunctionData({ abi: examClaimsAbi, functionName: "enrol", args: [claim.worker] })],
      [
        "challenge",
        encodeFunctionData({ abi: examClaimsAbi, functionName: "challenge", args: [...challengeArgs(sat)] }),
      ],
    ];
    for (const [name, data] of allowed) {
      expect(await inside(examClaims.address, data), name).to.equal(true);
      expect(await inside(examClaims.address, data), `${name}, again`).to.equal(false);
    }
    await dispute.prove(EXAM_LIE.element);
    expect((await claims.read.statusOf([id]))[0]).to.equal(ClaimStatus.refuted);
    const { logs } = await hostile.client.getTransactionReceipt({
      hash: (await hostile.client.getBlock()).transactions[0] as Hex,
    });
    expect(parseEventLogs({ abi: pledgedClaimsAbi, logs, eventName: "WorkerHalted" })).to.have.length(1);
  });
});
