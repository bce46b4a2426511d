import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { zeroHash } from "viem";
import { ClaimStatus, JobStatus, ReportKind } from "../../../src/chain/structs.ts";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import type { ReportFields } from "../../../src/attestation/report.ts";
import { chainProgram, honestTrace, lyingTrace } from "../../../testkit/protocol/chainProgram.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { delivery, marketKit } from "../../../testkit/protocol/marketKit.ts";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import { attest, domain, freeze } from "../../../testkit/protocol/reports.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, creditOf, submitted } from "../../../testkit/protocol/world.ts";
import { ETHER, LIFETIME, type World } from "../../../testkit/protocol/deployWorld.ts";

/** 9 steps in 3 ranges. */
const subject = chainProgram(300, [3, 1, 5]);

/** How long jobs and games are under way before what ends by time does, at least; seconds. */
const AHEAD = 600;

/** Every way in which a worker with one device stops being eligible. */
const ENDS: Record<string, (w: World, device: TestDevice) => Promise<unknown>> = {
  deviceFrozen: (w, { id }) => freeze(w, w.manufacturer, { device: id }),
  firmwareFrozen: (w, { firmware }) => freeze(w, w.manufacturer, { firmware }),
  manufacturerFrozen: (w) => freeze(w, w.manufacturer),
  keyRetired: retire,
  noDevice: (w) => w.provisioning.write.release({ account: w.worker.account }),
  reportExpired: (w) => w.networkHelpers.time.increase(AHEAD + 1),
  endorsementExpired: (w) => w.networkHelpers.time.increase(AHEAD + 1),
};

/** Shows that a device signed two payloads under one counter. */
function retire(w: World, device: TestDevice): Promise<unknown> {
  const fields: ReportFields = {
    nonce: zeroHash,
    kind: ReportKind.identification,
    debugStatus: 1,
    seq: 1n,
    worker: w.worker.account.address,
    firmware: zeroHash,
    body: zeroHash,
    aux: zeroHash,
  };
  const [a, b] = [fields, { ...fields, body: device.id }].map((payload) => ({
    ...payload,
    signature: device.sign(domain(w), payload),
  }));
  return w.provisioning.write.retireKey([device.key, fields.seq, a!, b!], { account: w.mallory.account });
}

/** What no statement or report can do: the registry answers nothing any more. */
const RUINED = "ruined";

describe("What is in flight when a worker stops being eligible", function () {
  const world = useWorld();
  const { as, post, pass, statusOf, revert, vaultRevert } = marketKit(world);
  const { reason: reasonOf, now } = provisioningKit(world);

  /** Gives the worker a device that is soon out. @returns What puts the worker out. */
  async function soonOut(reason: string): Promise<() => Promise<void>> {
    const w = world();
    const { address } = w.worker.account;
    const notAfter = reason === "endorsementExpired" ? { notAfter: BigInt((await now()) + AHEAD) } : {};
    const device = new TestDevice(w.manufacturer, notAfter);
    await attest(w, address, device);
    if (reason === "reportExpired") await pass(LIFETIME - AHEAD);
    return async () => {
      if (reason === RUINED) return w.networkHelpers.setCode(w.provisioning.address, "0xfe");
      expect((await reasonOf(address))[0]).to.equal("eligible");
      await ENDS[reason]!(w, device);
      expect((await reasonOf(address))[0]).to.equal(reason);
    };
  }

  it("isLive_isReadAtStakeClaimAndPledgeOnly", () => {
    const readers = globSync("contracts/**/*.sol").flatMap((file) => {
      const reads = readFileSync(file, "utf8").matchAll(/(?:function (\w+)\(|\.(?:isLive|whyNotEligible)\()/g);
      let name = "";
      return [...reads].flatMap(([, declared]) => {
        if (declared === undefined) return [`${file}: ${name}`];
        name = declared;
        return [];
      });
    });
    expect(readers.sort()).to.deep.equal([
      "contracts/extras/pledge/PledgedClaims.sol: pledge",
      "contracts/market/JobClaims.sol: _take",
      "contracts/vault/StakeVault.sol: stake",
    ]);
  });

  for (const reason of [...Object.keys(ENDS), RUINED]) {
    it(`${reason}_neitherStakesNorClaims`, async () => {
      const { market, vault } = world();
      const out = await soonOut(reason);
      const job = await post({ claimSeconds: 3_000 }, subject);
      await out();
      const refused = async (sent: Promise<unknown>, by: typeof revert): Promise<unknown> =>
        reason === RUINED ? rejection(sent) : by(sent, "NotLive");
      await refused(vault.write.stake([ETHER], as("worker")), vaultRevert);
      await refused(market.write.claim([job], as("worker")), revert);
    });

    it(`${reason}_anOpenJob_isSubmittedPaidAndItsStakeWithdrawn`, async () => {
      const { market, vault, worker } = world();
      const out = await soonOut(reason);
      const job = await post({ claimSeconds: 3_000 }, subject);
      await market.write.claim([job], as("worker"));
      await out();
      const { address } = worker.account;
      const trace = honestTrace(subject);
      await market.write.submit([job, submissionOf(trace.list, world().parameters.arityBits)], as("worker"));
      expect(await statusOf(job)).to.equal(JobStatus.submitted);
      await pass(1_801);
      const claim = { job, worker: address, root: trace.root, collateral: world().parameters.collateral };
      await market.write.finalise([claim], as("worker"));
      const before = await creditOf(world(), worker);
      await market.write.deliver([claim, delivery(subject)], as("worker"));
      expect((await creditOf(world(), worker)) - before).to.equal(ETHER);
      const [, staked, locked] = await vault.read.accountOf([address]);
      expect([staked, locked]).to.deep.equal([10n * ETHER, 0n]);
      await vault.write.requestWithdraw([staked], as("worker"));
      await pass(172_801);
      await vault.write.unstake(as("worker"));
      await vault.write.withdraw([staked, address], as("worker"));
    });

    it(`${reason}_anHonestWorkersGame_isPlayedOnAndWon`, async () => {
      const { market, watcher, worker } = world();
      const out = await soonOut(reason);
      const trace = honestTrace(subject);
      const claim = await submitted(world(), subject, trace);
      const game = await new GameDriver(world(), subject, trace, claim, watcher).open();
      await out();
      await game.reveal();
      await pass(14_400);
      await game.timeout(worker);
      const [status] = await market.read.claimOf([claimKey(world(), claim)]);
      expect(status).to.equal(ClaimStatus.submitted);
    });

    it(`${reason}_aLiarsClaim_isRefutedAndSlashed`, async () => {
      const { vault, watcher, worker, parameters, market } = world();
      const out = await soonOut(reason);
      const trace = lyingTrace(subject, 6, 299);
      const claim = await submitted(world(), subject, trace);
      await out();
      const game = new GameDriver(world(), subject, trace, claim, watcher);
      await (await game.descend(2, 6, 299)).prove(299);
      const [status] = await market.read.claimOf([claimKey(world(), claim)]);
      expect(status).to.equal(ClaimStatus.refuted);
      const [, staked, locked] = await vault.read.accountOf([worker.account.address]);
      expect([staked, locked]).to.deep.equal([10n * ETHER - parameters.collateral, 0n]);
    });
  }
});
