import { expect } from "chai";
import {
  bytesToHex,
  encodeAbiParameters,
  getAddress,
  keccak256,
  pad,
  toHex,
  zeroAddress,
  zeroHash,
  type Address,
  type Hex,
} from "viem";
import { REASONS, ReportKind } from "../../../../src/chain/structs.ts";
import { SoftwareManufacturer } from "../../../../src/attestation/manufacturer.ts";
import { nonceOf } from "../../../../src/attestation/report.ts";
import { platformDevice } from "../../../../src/attestation/tdx/certificates.ts";
import { encodeEvidence } from "../../../../src/attestation/tdx/evidence.ts";
import { splitQuote } from "../../../../src/attestation/tdx/quote.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";
import { gridBlockAfter, signedReport } from "../../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { identityOf, levelWith, PCK, tcbInfoOf, TestPlatform } from "../../../../testkit/tdx/quotes.ts";
import {
  bringIdentity,
  bringTcbInfo,
  CA,
  createTdxWorld,
  introduction,
  verified,
} from "../../../../testkit/tdx/tdxWorld.ts";
import { GRID_BLOCKS } from "../../../../testkit/protocol/deployWorld.ts";

const BODY: Hex = toHex("a body", { size: 32 });
const LIFETIME = 7 * 86_400;
const DAY = 86_400;

/** What whole transactions may cost. The aims were 250,000, 130,000 and 70,000 (docs/provisioning.md). */
const MAX = { first: 245_000, firstQuote: 100_000, renewal: 70_000 };

async function createPlatformWorld() {
  const world = await createTdxWorld();
  const { viem, verifier } = world;
  const manufacturer = new SoftwareManufacturer();
  const provisioning = await viem.deployContract("Provisioning", [
    [pad(verifier.address), manufacturer.id],
    BigInt(GRID_BLOCKS),
    BigInt(LIFETIME),
  ]);
  const [worker, rival] = await viem.getWalletClients();
  const chainId = await world.client.getChainId();
  return { ...world, manufacturer, provisioning, worker: worker!.account, rival: rival!.account, chainId };
}

describe("Provisioning: machines that attest themselves", () => {
  const world = useWorld(createPlatformWorld);

  const deviceOf = (platform: TestPlatform): Hex =>
    platformDevice(platform.pck.ppid, { chainId: world().chainId, verifier: world().verifier.address });

  /** The report data of a quote for a worker, in the next block. */
  async function reportData(worker: Address, platform: TestPlatform, after = 0n) {
    const { provisioning, client, chainId } = world();
    const gridBlock = await gridBlockAfter(world(), after);
    const { hash } = await client.getBlock({ blockNumber: gridBlock });
    const nonce = nonceOf({
      chainId,
      provisioning: provisioning.address,
      worker,
      device: deviceOf(platform),
      kind: ReportKind.identification,
      blockHash: hash,
    });
    return { gridBlock, data: `${nonce}${BODY.slice(2)}` as Hex };
  }

  /** Attests a worker by a quote of a platform, introduced with it. */
  async function attest(
    worker: Address = world().worker.address,
    platform: TestPlatform = world().platform,
    documents: { tcbInfo?: Hex; enclave?: Hex } = {},
  ): Promise<Hex> {
    const known = await world().provisioning.read.deviceInfo([deviceOf(platform)]);
    const { gridBlock, data } = await reportData(worker, platform, known.gridBlock);
    const evidence = introduction(world(), platform, { reportData: data }, documents);
    return world().provisioning.write.attestPlatform([evidence, world().verifier.address, gridBlock], {
      account: worker,
    });
  }

  const reason = async (worker: Address = world().worker.address): Promise<string> => {
    const [code] = await world().provisioning.read.whyNotEligible([worker]);
    return REASONS[code]!;
  };

  it("attestPlatform_makesItsWorkerLive_untilTheReportEnds_andIsRenewed", async () => {
    const { provisioning, worker, networkHelpers, platform } = world();
    await attest();
    expect(await reason()).to.equal("eligible");
    expect(await provisioning.read.deviceOf([worker.address])).to.equal(deviceOf(platform));
    const { model, manufacturer } = await provisioning.read.deviceInfo([deviceOf(platform)]);
    expect([model, manufacturer]).to.deep.equal([toHex("platform", { size: 32 }), pad(world().verifier.address)]);
    await networkHelpers.time.increase(LIFETIME + 1);
    expect(await reason()).to.equal("reportExpired");
    await attest();
    expect(await reason()).to.equal("eligible");
  });

  it("attestPlatform_tellsAndKeepsWhatItTook", async () => {
    const { viem, verifier, provisioning, worker, pki, now, networkHelpers } = world();
    const end = now + DAY;
    const short = { ...PCK, ppid: `0x${"99".repeat(16)}` } as const;
    for (const platform of [world().platform, new TestPlatform(pki, short, pki.platform(short, { notAfter: end }))]) {
      const { gridBlock, data } = await reportData(worker.address, platform);
      const evidence = introduction(world(), platform, { reportData: data });
      const { workload, certificate, until } = await verified(world(), evidence);
      const at = (await networkHelpers.time.latest()) + 50;
      await networkHelpers.time.setNextBlockTimestamp(at);
      const sent = provisioning.write.attestPlatform([evidence, verifier.address, gridBlock], {
        account: worker.address,
      });
      const reportUntil = BigInt(at + LIFETIME);
      const reported = platform === world().platform ? reportUntil : BigInt(end);
      const args = [getAddress(worker.address), deviceOf(platform), workload, 0, false, reported, BODY];
      await viem.assertions.emitWithArgs(sent, provisioning, "PlatformAttested", args as never);
      expect(await provisioning.read.deviceInfo([deviceOf(platform)])).to.deep.equal({
        manufacturer: pad(verifier.address),
        model: toHex("platform", { size: 32 }),
        firmware: zeroHash,
        notAfter: until,
        seq: certificate,
        gridBlock,
        reportUntil,
        retiredAt: 0n,
      });
      const [, eligibleUntil] = await provisioning.read.whyNotEligible([worker.address]);
      expect(eligibleUntil).to.equal(reported);
    }
  });

  it("attestPlatform_letsTheWorkerStake", async () => {
    const { viem, provisioning, worker, rival } = world();
    const token = await viem.deployContract("TestToken");
    const vault = await viem.deployContract("StakeVault", [token.address, provisioning.address, 1_000n, rival.address]);
    await token.write.mint([worker.address, 10n]);
    await token.write.approve([vault.address, 10n]);
    await vault.write.deposit([worker.address, 10n]);
    expect(await refusalOf(vault.write.stake([10n]))).to.include("NotLive");
    await attest();
    expect(await refusalOf(vault.write.stake([10n]))).to.equal("accepted");
  });

  it("attestPlatform_withAQuoteThatWasMadeForAnother_isWrongReportData", async () => {
    const { provisioning, verifier, worker, rival, platform } = world();
    const { gridBlock, data } = await reportData(worker.address, platform);
    const evidence = introduction(world(), platform, { reportData: data });
    const send = (by: Address, block = gridBlock, given = evidence): Promise<string> =>
      refusalOf(provisioning.write.attestPlatform([given, verifier.address, block], { account: by }));
    expect(await send(rival.address)).to.include(`WrongReportData(${deviceOf(platform)})`);
    expect(await send(worker.address, gridBlock - BigInt(GRID_BLOCKS))).to.include("WrongReportData");
    expect(await send(worker.address, gridBlock, introduction(world()))).to.include("WrongReportData");
    expect(await send(worker.address)).to.equal("accepted");
    // A quote counts once.
    expect(await send(worker.address)).to.include("BlockNotNewer");
  });

  it("attestPlatform_byAVerifierThatTheDeploymentDoesNotName_isRefused", async () => {
    const { viem, verifier, manufacturer, worker, platform } = world();
    const other = await viem.deployContract("Provisioning", [[manufacturer.id], BigInt(GRID_BLOCKS), BigInt(LIFETIME)]);
    const { gridBlock } = await reportData(worker.address, platform);
    const sent = other.write.attestPlatform([introduction(world()), verifier.address, gridBlock]);
    expect(await refusalOf(sent)).to.include("ManufacturerNotTrusted");
  });

  it("aPlatform_backsOneLiveWorker_whateverCertificateItHas", async () => {
    const { rival, provisioning, networkHelpers, pki } = world();
    await attest();
    expect(await refusalOf(attest(rival.address))).to.include("DeviceBacksAnother");
    // The same machine with another certificate and another key of its enclave.
    const again = new TestPlatform(pki, { ...PCK, svns: PCK.svns.map((svn) => svn + 1) });
    expect(await refusalOf(attest(rival.address, again))).to.include("DeviceBacksAnother");
    await networkHelpers.time.increase(LIFETIME + 1);
    await attest(rival.address, again);
    expect(await reason(rival.address)).to.equal("eligible");
    expect(await reason()).to.equal("noDevice");
    await provisioning.write.release({ account: rival.address });
    await networkHelpers.time.increase(86_401);
    expect(await provisioning.read.workerOf([deviceOf(again)])).to.equal(zeroAddress);
    await attest();
    expect(await provisioning.read.workerOf([deviceOf(again)])).to.equal(getAddress(world().worker.address));
  });

  it("aWorkerWhoseAddressEndsAlike_renewsTheHoldersLease_andGetsNoDevice", async () => {
    const { provisioning, worker, networkHelpers } = world();
    const alike = getAddress(toHex(BigInt(worker.address) ^ (1n << 100n), { size: 20 }));
    await networkHelpers.impersonateAccount(alike);
    await networkHelpers.setBalance(alike, 10n ** 18n);
    await attest();
    await networkHelpers.time.increase(LIFETIME + 1);
    await attest(alike);
    expect([await reason(), await reason(alike)]).to.deep.equal(["eligible", "noDevice"]);
    expect(await provisioning.read.workerOf([deviceOf(world().platform)])).to.equal(getAddress(worker.address));
    await provisioning.write.release({ account: worker.address });
    expect(await refusalOf(attest(alike))).to.include("DeviceBacksAnother");
    await networkHelpers.time.increase(86_401);
    await attest(alike);
    expect([await reason(), await reason(alike)]).to.deep.equal(["noDevice", "eligible"]);
  });

  it("aPlatform_thatIsOld_isRefused_withItsStatus", async () => {
    const { now } = world();
    for (const [number, status, refused] of [
      [30, "SWHardeningNeeded", false],
      [31, "ConfigurationNeeded", false],
      [32, "ConfigurationAndSWHardeningNeeded", false],
      [33, "OutOfDate", true],
      [34, "OutOfDateConfigurationNeeded", true],
      [35, "Revoked", true],
    ] as const) {
      const tcbInfo = await bringTcbInfo(world(), tcbInfoOf(now, { number, levels: levelWith(status) }));
      const outcome = await refusalOf(attest(world().worker.address, world().platform, { tcbInfo }));
      expect(outcome, status).to.include(refused ? "PlatformNotAccepted" : "accepted");
    }
  });

  it("aRevokedPlatform_mayNotClaim_atOnce", async () => {
    const { pki, now, platform, verifier, networkHelpers } = world();
    await attest();
    await networkHelpers.time.increase(60);
    const list = pki.crl(pki.platformCa, [platform.leaf.serial], now + 30);
    await verifier.write.bringCrl([CA, bytesToHex(list), [platform.leaf.serial]]);
    expect(await reason()).to.equal("platformRevoked");
    expect(await world().provisioning.read.isLive([world().worker.address])).to.equal(false);
    expect(await refusalOf(attest())).to.include("CertificateRevoked");
  });

  it("whileCollateralIsOverdue_renewalsPass_andNewLeasesDoNot", async () => {
    const { now, networkHelpers, pki, rival } = world();
    await attest();
    await networkHelpers.time.increaseTo(now + 32 * DAY);
    await attest();
    expect(await reason()).to.equal("eligible");
    const other = new TestPlatform(pki, { ...PCK, ppid: `0x${"77".repeat(16)}` });
    expect(await refusalOf(attest(rival.address, other))).to.include("CollateralOverdue");
    await networkHelpers.time.increaseTo(now + 43 * DAY);
    await attest();
    await networkHelpers.time.increaseTo(now + 44 * DAY + 10);
    expect(await reason()).to.equal("collateralExpired");
    const later = now + 44 * DAY;
    await world().verifier.write.bringCrl([0, bytesToHex(pki.crl(pki.root, [], later)), []]);
    await world().verifier.write.bringCrl([CA, bytesToHex(pki.crl(pki.platformCa, [], later)), []]);
    const tcbInfo = await bringTcbInfo(world(), tcbInfoOf(later));
    await attest(undefined, undefined, { tcbInfo, enclave: await bringIdentity(world(), identityOf(later)) });
    expect(await reason()).to.equal("eligible");
  });

  it("attestPlatform_ofAWorkerWithADevice_endsThatLease_andTheOtherWayRound", async () => {
    const { provisioning, worker, manufacturer, platform, networkHelpers } = world();
    const device = new TestDevice(manufacturer);
    await attest();
    const { report, signature } = await signedReport(world(), worker.address, device);
    await provisioning.write.enrol([device.endorsement, report, signature]);
    expect(await provisioning.read.workerOf([deviceOf(platform)])).to.equal(zeroAddress);
    expect(await provisioning.read.deviceOf([worker.address])).to.equal(device.id);
    await networkHelpers.time.increase(86_401);
    await attest();
    expect(await provisioning.read.deviceOf([worker.address])).to.equal(deviceOf(platform));
    expect(await reason()).to.equal("eligible");
  });

  it("gas_staysWithinItsBounds", async () => {
    const { client, pki, rival } = world();
    const gasOf = async (hash: Hex): Promise<number> => Number((await client.getTransactionReceipt({ hash })).gasUsed);
    // The first machine of a deployment also stores what all have in common.
    await attest(rival.address, new TestPlatform(pki, { ...PCK, ppid: `0x${"88".repeat(16)}` }));
    const first = await gasOf(await attest());
    const known = async (worker: Address): Promise<number> => {
      const info = await world().provisioning.read.deviceInfo([deviceOf(world().platform)]);
      const { gridBlock, data } = await reportData(worker, world().platform, info.gridBlock);
      const { signed } = splitQuote(world().platform.quote({ reportData: data }));
      const platform = await platformFacts();
      const { tcbInfo, enclave } = world();
      const evidence = encodeEvidence({ quote: signed, tcbInfo, enclave, platform });
      const call = world().provisioning.write.attestPlatform([evidence, world().verifier.address, gridBlock], {
        account: worker,
      });
      return gasOf(await call);
    };
    const renewal = await known(world().worker.address);
    await world().provisioning.write.release();
    await world().networkHelpers.time.increase(86_401);
    const firstQuote = await known(world().worker.address);
    expect(first).to.be.lessThan(MAX.first);
    expect(renewal).to.be.lessThan(MAX.renewal);
    expect(firstQuote).to.be.lessThan(MAX.firstQuote);
  });

  async function platformFacts(): Promise<Hex> {
    const events = await world().verifier.getEvents.PlatformIntroduced({}, { fromBlock: 0n });
    return events.find(({ args }) => args.certificate !== undefined && args.platform === platformId())!.args.facts!;
  }

  const platformId = (): Hex =>
    keccak256(
      encodeAbiParameters(
        ["string", "uint256", "address", "bytes16"].map((type) => ({ type })),
        ["refute tdx platform 1", BigInt(world().chainId), world().verifier.address, PCK.ppid],
      ),
    );
});
