import { expect } from "chai";
import { getAddress, keccak256, toHex, type Hex } from "viem";
import {
  CLASS_BLOCKS,
  deployExams,
  nextExam,
  signedExam,
  sit,
  resultOf,
  SPACING,
  TRACE_ROOT,
  CLASSES,
  type ExamsContract,
} from "../../../testkit/protocol/examKit.ts";
import { provisioningKit } from "../../../testkit/protocol/provisioningKit.ts";
import { attest, freeze } from "../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { createWorld, gasOf } from "../../../testkit/protocol/world.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";
import { GRID_BLOCKS } from "../../../testkit/protocol/deployWorld.ts";

/** What a report of an exam may cost, and the first of an exam, which numbers it. */
const MAX_GAS = { steady: 67_000, numbering: 70_000 };

describe("Exams", function () {
  let exams: ExamsContract;
  let device: TestDevice;
  const world = useWorld(async () => {
    const made: World = await createWorld();
    device = new TestDevice(made.manufacturer);
    await attest(made, made.mallory.account.address, device);
    exams = await deployExams(made);
    return made;
  });
  const { account, fresh } = provisioningKit(world);
  const who = () => account("mallory");
  const revert = (sent: Promise<unknown>, name: string, args?: unknown[]): Promise<void> =>
    args === undefined
      ? world().viem.assertions.revertWithCustomError(sent, exams, name as never)
      : world().viem.assertions.revertWithCustomErrorWithArgs(sent, exams, name as never, args);
  const mine = (blocks: number) => world().networkHelpers.mine(blocks);
  beforeEach(() => {
    // The chain is put back after each test, and what the device knows with it.
    device.seq = 1n;
  });

  it("constructor_keepsTheZoo_andRefusesWhatDoesNotHold", async () => {
    expect(await exams.read.classes()).to.deep.equal(CLASSES);
    expect(await exams.read.examOdds()).to.equal(1n);
    expect(await exams.read.examSpacing()).to.equal(BigInt(SPACING));
    expect(await exams.read.provisioning()).to.equal(getAddress(world().provisioning.address));
    const { viem } = world();
    const refused = async (name: string, args: unknown[], changes: object, at = world().provisioning.address) => {
      const { classes, odds, spacing } = { classes: CLASSES, odds: 1n, spacing: BigInt(SPACING), ...changes };
      const sent = viem.deployContract("Exams", [at, classes, odds, spacing]);
      await revert(sent, name, args);
    };
    const [first] = CLASSES;
    // As many classes as there can be, with the fewest and the most blocks.
    const classes = Array.from({ length: 16 }, (_, k) => ({ ...first!, blocks: k % 2 === 0 ? 1 + k : 257 - k }));
    classes[15]!.blocks = 256;
    const full = await deployExams(world(), { classes });
    expect(await full.read.classes()).to.deep.equal(classes);
    await revert(full.read.passedOf([who(), 16]), "NoSuchClass", [16n, 16n]);
    await refused("NoClasses", [], { classes: [] });
    await refused("TooManyClasses", [17n, 16n], { classes: Array.from({ length: 17 }, () => first) });
    await refused("ZeroProgram", [0n], { classes: [{ ...first!, programRoot: toHex(0, { size: 32 }) }] });
    await refused("BlocksOutOfRange", [1n, 257n, 256n], { classes: [first, { ...first!, blocks: 257 }] });
    await refused("BlocksOutOfRange", [0n, 0n, 256n], { classes: [{ ...first!, blocks: 0 }] });
    await refused("OddsOutOfRange", [0n, 65_536n], { odds: 0n });
    await refused("OddsOutOfRange", [65_537n, 65_536n], { odds: 65_537n });
    await refused("SpacingOutOfRange", [255n, 256n, 1_048_576n], { spacing: 255n });
    await refused("SpacingOutOfRange", [1_048_577n, 256n, 1_048_576n], { spacing: 1_048_577n });
    await refused("NoCode", [getAddress(who())], {}, who());
  });

  it("isExam_isOfTheFirstCandidate_bySparseHashes_onTheGrid_fromTheDeploymentOn", async () => {
    const odds = 3n;
    await mine(20);
    const deployment = await world().networkHelpers.time.latestBlock();
    const rare = await deployExams(world(), { odds });
    const isCandidate = async (block: number): Promise<boolean> => {
      const { hash } = await world().client.getBlock({ blockNumber: BigInt(block) });
      return block > deployment && block % GRID_BLOCKS === 0 && BigInt(hash) <= (2n ** 256n - 1n) / odds;
    };
    // The first known candidate is an exam, and no other block: soon after the deployment, and when it is forgotten.
    for (const blocks of [40, 300]) {
      await mine(blocks);
      const latest = await world().networkHelpers.time.latestBlock();
      // A call is judged in the latest block.
      const oldest = latest - 256;
      let first: number | undefined;
      for (let block = Math.max(0, oldest - 10); block <= latest; block++) {
        const isKnown = block >= oldest && block < latest;
        const expected = isKnown && first === undefined && (await isCandidate(block));
        if (expected) first = block;
        expect(await rare.read.isExam([BigInt(block)]), `block ${block}`).to.equal(expected);
      }
    }
  });

  it("aReportForTheFirstCandidate_isTaken_whateverLaterCandidatesAnybodyNumbers", async () => {
    const T = 40;
    const deployment = BigInt(await world().networkHelpers.time.latestBlock());
    const zoo = [{ ...CLASSES[0]!, blocks: T }];
    const own = await deployExams(world(), { classes: zoo, odds: 2n });
    const cheat = fresh();
    await attest(world(), account("stranger"), cheat);
    const head = async () => BigInt(await world().networkHelpers.time.latestBlock());
    const to = async (block: bigint) => mine(Math.max(0, Number(block - (await head()))));
    for (let n = 1; n <= 4; n++) {
      const [number, last] = await own.read.lastExam();
      const from = number === 0 ? deployment + 1n : last + BigInt(SPACING);
      let first = from + ((4n - (from % 4n)) % 4n);
      for (await to(first + 1n); !(await own.read.isExam([first])); await to(first + 1n)) first += 4n;
      const honest = await signedExam(world(), who(), device, { gridBlock: first }, {}, zoo);
      // The honest worker's task takes three quarters of its time. All the while a cheat looks for a later block.
      for (let later = first + 4n; later < first + 28n; later += 4n) {
        await to(later + 1n);
        const sent = own.write.numberExam([later], { account: account("stranger") });
        await world().viem.assertions.revertWithCustomErrorWithArgs(sent, own, "NoExam", [later]);
      }
      await own.write.sit([honest.report, honest.signature], { account: who() });
      expect(await own.read.lastExam()).to.deep.equal([n, first]);
      const other = await signedExam(world(), account("stranger"), cheat, { gridBlock: first + 4n }, {}, zoo);
      const sent = own.write.sit([other.report, other.signature], { account: account("stranger") });
      await world().viem.assertions.revertWithCustomError(sent, own, "NoExam");
    }
    expect(await own.read.passedOf([who(), 0])).to.equal(0b1111);
    expect(await own.read.passedOf([account("stranger"), 0])).to.equal(0);
  });

  it("aCandidateThatNobodyNumbers_isForgotten_andTheNextCounts", async () => {
    const first = await nextExam(world(), exams);
    const at = async (age: number): Promise<boolean[]> => {
      await mine(Number(first) + age - (await world().networkHelpers.time.latestBlock()));
      return Promise.all([0n, 4n, 8n].map((later) => exams.read.isExam([first + later])));
    };
    expect(await at(12)).to.deep.equal([true, false, false]);
    expect(await at(256)).to.deep.equal([true, false, false]);
    expect(await at(257)).to.deep.equal([false, true, false]);
    await exams.write.numberExam([first + 4n], { account: account("stranger") });
    expect(await exams.read.lastExam()).to.deep.equal([1, first + 4n]);
    // The next one is as far from the number's block as any.
    const next = first + 4n + BigInt(SPACING);
    await mine(8);
    expect(await Promise.all([next - 4n, next, next + 4n].map((block) => exams.read.isExam([block])))).to.deep.equal([
      false,
      true,
      false,
    ]);
  });

  it("sit_numbersAnExam_recordsAndTellsIt", async () => {
    const gridBlock = await nextExam(world(), exams);
    const { report, signature, nonce } = await signedExam(world(), who(), device, { gridBlock });
    const sent = exams.write.sit([report, signature], { account: who() });
    await world().viem.assertions.emitWithArgs(sent, exams, "ExamNumbered", [1, gridBlock]);
    const args = [getAddress(who()), device.id, 0, 1, report.seq, nonce, TRACE_ROOT, 1] as const;
    await world().viem.assertions.emitWithArgs(sent, exams, "ExamSat", [...args]);
    expect(await exams.read.lastExam()).to.deep.equal([1, gridBlock]);
    expect(await exams.read.seqOf([device.id])).to.equal(report.seq);
    expect(await exams.read.passedOf([who(), 0])).to.equal(1);
    const result = await resultOf(world(), exams, await sent);
    expect(result.nonce).to.equal(nonce);
    expect(await exams.read.isResult([result])).to.equal(true);
    for (const change of [
      { traceRoot: nonce },
      { nonce: TRACE_ROOT },
      { number: 17 },
      { class: 1 },
      { time: result.time + 1n },
      { worker: account("worker") },
    ])
      expect(await exams.read.isResult([{ ...result, ...change }]), Object.keys(change)[0]).to.equal(false);
  });

  it("digest_isWhatADeviceSignsOfAReport", async () => {
    const gridBlock = await nextExam(world(), exams);
    const { report, signature } = await signedExam(world(), who(), device, { gridBlock });
    const digest = await exams.read.examDigest([who(), report]);
    expect(digest).to.not.equal(await exams.read.examDigest([account("worker"), report]));
    expect(digest).to.not.equal(await exams.read.examDigest([who(), { ...report, class: 1 }]));
    await exams.write.sit([report, signature], { account: who() });
  });

  for (const [name, error, fields, unsigned] of [
    ["anotherRoot", "BadSignature", {}, { traceRoot: keccak256("0x01") }],
    ["anotherCounter", "BadSignature", {}, { seq: 99n }],
    ["anotherClass", "BadSignature", {}, { class: 1 }],
    ["anotherFirmware", "BadSignature", {}, { firmware: TRACE_ROOT }],
    ["anotherStatus", "BadSignature", {}, { debugStatus: 2 }],
    ["noStatus", "WrongDebugStatus", { debugStatus: 0 }, {}],
    ["aStatusBeyond", "WrongDebugStatus", { debugStatus: 5 }, {}],
    ["noRoot", "ZeroTraceRoot", { traceRoot: toHex(0, { size: 32 }) }, {}],
    ["noSuchClass", "NoSuchClass", { class: 2 }, {}],
    ["aCounterThatIsNotHigher", "ExamSeqNotHigher", { seq: 0n }, {}],
  ] as const)
    it(`sit_with_${name}_reverts${error}`, async () => {
      const gridBlock = await nextExam(world(), exams);
      const { report, signature } = await signedExam(world(), who(), device, { gridBlock, ...fields }, unsigned);
      const at = error === "BadSignature" || error === "WrongDebugStatus" ? world().provisioning : exams;
      const sent = exams.write.sit([report, signature], { account: who() });
      await world().viem.assertions.revertWithCustomError(sent, at, error);
    });

  it("sit_byAnother_orWithADeviceThatBacksAnother_reverts", async () => {
    const gridBlock = await nextExam(world(), exams);
    const { report, signature } = await signedExam(world(), who(), device, { gridBlock });
    await revert(exams.write.sit([report, signature], { account: account("worker") }), "NotItsDevice");
    const other = fresh();
    const foreign = await signedExam(world(), who(), other, { gridBlock });
    await revert(exams.write.sit([foreign.report, foreign.signature], { account: who() }), "NotItsDevice");
  });

  it("sit_ofABlockThatIsNone_reverts", async () => {
    const gridBlock = await nextExam(world(), exams);
    await mine(2 * GRID_BLOCKS);
    await sit(world(), exams, who(), device, { gridBlock });
    const none = async (block: bigint) =>
      revert(sit(world(), exams, who(), device, { gridBlock: block, class: 1 }), "NoExam", [block]);
    await none(gridBlock + 1n);
    await none(gridBlock + BigInt(GRID_BLOCKS));
    await none(gridBlock - BigInt(GRID_BLOCKS));
  });

  it("sit_countsUpToTheClassesBlocks_andOnce", async () => {
    for (const [k, blocks] of CLASS_BLOCKS.entries()) {
      const gridBlock = await nextExam(world(), exams);
      const latest = await world().networkHelpers.time.latestBlock();
      await mine(Number(gridBlock) + blocks - latest - 1);
      await sit(world(), exams, who(), device, { gridBlock, class: k });
      const again = await signedExam(world(), who(), device, { gridBlock, class: k });
      const late = exams.write.sit([again.report, again.signature], { account: who() });
      if (blocks < 256) await revert(late, "ExamOver", [gridBlock, gridBlock + BigInt(blocks)]);
      else await revert(late, "NoExam");
    }
    const gridBlock = await nextExam(world(), exams);
    await sit(world(), exams, who(), device, { gridBlock });
    await revert(sit(world(), exams, who(), device, { gridBlock }), "SatBefore", [0, 3]);
  });

  it("numberExam_hasAMissSeen_thatNobodyReported", async () => {
    for (let k = 0; k < 3; k++) {
      const gridBlock = await nextExam(world(), exams);
      if (k === 1) await exams.write.numberExam([gridBlock], { account: account("stranger") });
      else await sit(world(), exams, who(), device, { gridBlock });
      await exams.write.numberExam([gridBlock]);
    }
    expect(await exams.read.lastExam()).to.have.property("0", 3);
    expect(await exams.read.passedOf([who(), 0])).to.equal(0b101);
    const over = await nextExam(world(), exams);
    await mine(256);
    await revert(exams.write.numberExam([over]), "NoExam", [over]);
    await revert(exams.write.numberExam([over + 1n]), "NoExam", [over + 1n]);
  });

  it("class_isHeldBy12OfTheLast16_andAnOpenExamIsNoMiss", async () => {
    const pass = async () => sit(world(), exams, who(), device, { gridBlock: await nextExam(world(), exams) });
    const miss = async () => exams.write.numberExam([await nextExam(world(), exams)]);
    const held = () => exams.read.classHeld([who(), 0]);
    for (let k = 0; k < 12; k++) {
      expect(await held(), `${k} passed`).to.equal(false);
      await pass();
    }
    expect(await held()).to.equal(true);
    expect(await exams.read.classesOf([who()])).to.equal(1n);
    for (let k = 0; k < 5; k++) {
      await miss();
      expect(await held(), `${k} missed, the next open`).to.equal(true);
      await mine(CLASS_BLOCKS[0] + 1);
      expect(await held(), `${k + 1} missed`).to.equal(k < 4);
    }
    expect(await exams.read.passedOf([who(), 0])).to.equal(0b1111_1111_1110_0000);
    expect(await exams.read.classesOf([who()])).to.equal(0n);
    // The record goes on.
    await pass();
    expect(await exams.read.passedOf([who(), 0])).to.equal(0b1111_1111_1100_0001);
    // Nothing of it is left after 16 misses.
    for (let k = 0; k < 17; k++) await miss();
    expect(await exams.read.passedOf([who(), 0])).to.equal(0);
    expect(await exams.read.classHeld([account("worker"), 0])).to.equal(false);
    await revert(exams.read.classHeld([who(), 2]), "NoSuchClass", [2n, 2n]);
  });

  it("anExam_isNoMissInItsVeryLastBlock", async () => {
    await sit(world(), exams, who(), device, { gridBlock: await nextExam(world(), exams) });
    const open = await nextExam(world(), exams);
    await exams.write.numberExam([open]);
    const latest = await world().networkHelpers.time.latestBlock();
    // A call is judged in the latest block: here in the last block in which a report counts.
    await mine(Number(open) + CLASS_BLOCKS[0] - latest);
    expect(await exams.read.passedOf([who(), 0])).to.equal(0b1);
    await mine(1);
    expect(await exams.read.passedOf([who(), 0])).to.equal(0b10);
    // For the other class the exam goes on.
    expect(await exams.read.passedOf([who(), 1])).to.equal(0);
  });

  it("record_isADevicesAndAWorkers_andBeginsAnewWithAnother", async () => {
    const { provisioning, networkHelpers } = world();
    const pass = async (by: Hex, of: TestDevice) =>
      sit(world(), exams, by, of, { gridBlock: await nextExam(world(), exams) });
    for (let k = 0; k < 3; k++) await pass(who(), device);
    await provisioning.write.release({ account: who() });
    expect(await exams.read.passedOf([who(), 0])).to.equal(0);
    await networkHelpers.time.increase(86_401);
    const next = account("stranger");
    await attest(world(), next, device);
    expect(await exams.read.passedOf([next, 0])).to.equal(0);
    await pass(next, device);
    expect(await exams.read.passedOf([next, 0])).to.equal(1);
    // The first one comes back with another device, and nothing of the old one's record.
    await attest(world(), who(), fresh());
    expect(await exams.read.passedOf([who(), 0])).to.equal(0);
  });

  it("sit_whileTheManufacturerIsFrozen_isTaken", async () => {
    await freeze(world(), world().manufacturer);
    await sit(world(), exams, who(), device, { gridBlock: await nextExam(world(), exams) });
  });

  it("last16Results_areKnown_andNoOlderOne", async () => {
    const results = [];
    for (let k = 0; k < 18; k++) {
      const sent = await sit(world(), exams, who(), device, { gridBlock: await nextExam(world(), exams) });
      results.push(await resultOf(world(), exams, sent));
    }
    const known = await Promise.all(results.map((result) => exams.read.isResult([result])));
    expect(known).to.deep.equal(results.map((_, k) => k >= 2));
  });

  it("sit_isWithinTheGasBound", async () => {
    const other = fresh();
    await attest(world(), account("stranger"), other);
    for (let k = 0; k < 17; k++) {
      const gridBlock = await nextExam(world(), exams);
      const first = await sit(world(), exams, account("stranger"), other, { gridBlock });
      const second = await sit(world(), exams, who(), device, { gridBlock });
      if (k < 16) continue;
      expect(Number(await gasOf(world(), first))).to.be.lessThan(MAX_GAS.numbering);
      expect(Number(await gasOf(world(), second))).to.be.lessThan(MAX_GAS.steady);
    }
  });
});
