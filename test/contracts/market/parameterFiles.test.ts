import { expect } from "chai";
import { network } from "hardhat";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFunctionData, type Hex } from "viem";
import { refuteModule } from "../../../ignition/modules/Refute.ts";
import { verifierModule } from "../../../ignition/modules/Verifier.ts";
import { wrappedEtherModule } from "../../../ignition/modules/WrappedEther.ts";
import { disputeGameAbi } from "../../../src/chain/abi/disputeGame.ts";
import { ZERO_HASH, type Pick } from "../../../src/chain/structs.ts";
import { BLANK_CLAIM, BLANK_STATE } from "../../../src/dispute/proofSize.ts";
import { minSelfChallengeLoss, type Deployment } from "../../../testkit/economics/model.ts";
import { schedule } from "../../../testkit/protocol/schedule.ts";

const FOLDER = "ignition/parameters";
/** A manufacturer's id, and the line of a parameter file with it. */
const MAKER = `0x${"34".repeat(32)}`;
const MAKERS = `    manufacturers: ["${MAKER}"],\n`;
const HOUR = 3_600n;
const GWEI = 10n ** 9n;
const MICRO = 10n ** 12n;
/** EIP-7825: most gas of a transaction. */
const TRANSACTION_CAP = 2n ** 24n;
const TRANSACTION = schedule("TRANSACTION");
/** The floor that EIP-7976 proposes, gas a byte of calldata. */
const PROPOSED_FLOOR = 64n;
/** Bytes of a signed transaction beside its calldata, at most. */
const ENVELOPE = 130n;

type Values = Record<string, bigint>;

/** The numbers of a parameter file, by name. */
function valuesOf(name: string): Values {
  const entries = readFileSync(join(FOLDER, name), "utf8").matchAll(/^ {4}(\w+): "?(\d+)n?"?,$/gm);
  return Object.fromEntries([...entries].map(([, key, value]) => [key!, BigInt(value!)]));
}

/* ---- The largest moves, for arity 2^4: lists of 16, 12, 12, 20 levels, program lists of 24, headers of 2,048 bytes */

const path = (levels: number): Hex[] => new Array<Hex>(levels).fill(ZERO_HASH);
const bytes = (count: number): Hex => `0x${"00".repeat(count)}`;
const pick = (levels: number, header: number, programLevels: number): Pick => ({
  index: 0n,
  node: ZERO_HASH,
  siblings: path(levels),
  program: { header: bytes(header), stepsRoot: ZERO_HASH, checkpointsRoot: ZERO_HASH },
  checkpoint: { first: 0, step: 0, siblings: path(programLevels) },
  step: { dtype: 0, count: 0n, bodyHash: ZERO_HASH, siblings: path(programLevels) },
});
const length = (data: Hex): bigint => BigInt(data.length / 2 - 1);
const abi = disputeGameAbi;
const revealBytes = (data: Hex): bigint =>
  length(encodeFunctionData({ abi, functionName: "reveal", args: [BLANK_STATE, data] }));
const pickBytes = (given: Pick): bigint =>
  length(encodeFunctionData({ abi, functionName: "pick", args: [BLANK_STATE, given] }));
const openBytes = (given: Pick): bigint =>
  length(encodeFunctionData({ abi, functionName: "open", args: [BLANK_CLAIM, 0, given] }));
const expandBytes = (children: Hex, siblings: Hex[]): bigint =>
  length(encodeFunctionData({ abi, functionName: "expand", args: [BLANK_STATE, ZERO_HASH, children, siblings] }));

/** Bytes of calldata of a worker's moves in the worst game: 13 reveals, two expansions, a chunk. */
const WORKER_MOVES: bigint[] = [
  expandBytes(bytes(16 * 32), path(28)),
  ...new Array<bigint>(13).fill(revealBytes(bytes(16 * 32))),
  expandBytes(bytes(16 * 32), path(12)),
  revealBytes(bytes(512)),
];
/** Of a challenger's: the opening, 13 picks inside lists, two that cross into another. The proof comes last. */
const CHALLENGER_MOVES: bigint[] = [
  openBytes(pick(16, 2_048, 24)),
  ...new Array<bigint>(13).fill(pickBytes(pick(4, 0, 0))),
  ...new Array<bigint>(2).fill(pickBytes(pick(4, 2_048, 24))),
];
const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n);
const ceil = (levels: bigint, k: bigint): bigint => (levels + k - 1n) / k;

/** The worst game's gas by the schedule, as contracts/game/GasSchedule.sol sums it up. */
function worstGames({ arityBits: k, maxStepGas }: Values): { worker: bigint; challenger: bigint } {
  const [level, children] = [schedule("LEVEL"), schedule("CHILD") << k!];
  const reveals = ceil(16n, k!) + ceil(12n, k!) + ceil(12n, k!) - 2n + ceil(20n, k!);
  const picks = reveals + 2n;
  const expansions = 2n * (schedule("EXPAND") + children) + (28n + 12n) * level;
  const seams = 3n * (schedule("SEAM") + 2_048n * schedule("HEADER_BYTE")) + 2n * 48n * level;
  const own = schedule("OPEN") + schedule("SETTLE") + picks * schedule("PICK") + 64n * level + seams;
  return {
    worker: reveals * (schedule("REVEAL") + children) + expansions + schedule("CHUNK") + schedule("TIMEOUT"),
    challenger: own + maxStepGas! + schedule("PROVE_MARGIN"),
  };
}

describe("parameter files", function () {
  this.timeout(120_000);
  const files = readdirSync(FOLDER).sort();
  const folder = mkdtempSync(join(tmpdir(), "parameters-"));
  after(() => rmSync(folder, { recursive: true }));

  it("everyKindOfNetwork_hasAFile_withTheSameParameters", () => {
    expect(files).to.deep.equal(["arbitrum-like.json5", "l1.json5", "op-stack.json5", "pricier-calldata.json5"]);
    const names = Object.keys(valuesOf("l1.json5"));
    for (const file of files) expect(Object.keys(valuesOf(file)), file).to.deep.equal(names);
  });

  for (const file of files) {
    it(`${file}_deploysAsItStands_withAssetAndVerifierAdded`, async () => {
      const connection = await network.create();
      const { ignition } = connection;
      const { asset } = await ignition.deploy(wrappedEtherModule);
      const { verifier } = await ignition.deploy(verifierModule);
      const added = `  Refute: {\n    asset: "${asset.address}",\n    verifier: "${verifier.address}",\n${MAKERS}`;
      const copy = join(folder, file);
      writeFileSync(copy, readFileSync(join(FOLDER, file), "utf8").replace("  Refute: {\n", added));
      const { market } = await ignition.deploy(refuteModule, { parameters: copy });
      const { sink, ...parameters } = (await market.read.deployment()).parameters;
      const given = valuesOf(file);
      for (const [name, value] of Object.entries(parameters)) expect(BigInt(value), name).to.equal(given[name]);
      expect(BigInt(sink)).to.equal(0xdeadn);
      await connection.close();
    });

    it(`${file}_satisfiesTheInequalitiesOfItsComments`, () => {
      const p = valuesOf(file);
      const workTime = p.maxWork! / p.rate!;
      const clock = p.baseClock! + (2n * p.maxWork!) / p.rate!;
      const { worker, challenger } = worstGames(p);
      expect(p.maxWindow! >= p.baseWindow! + workTime).to.equal(true);
      expect(p.withdrawalDelay! > p.maxWindow! + 2n * clock).to.equal(true);
      expect([worker, challenger]).to.deep.equal([1_219_300n, 13_543_860n]);
      expect(p.bondGas! >= worker).to.equal(true);
      const min = p.bounty! + (p.bondGas! + challenger) * p.priceCap!;
      expect(p.collateral! >= min).to.equal(true);
      expect(readFileSync(join(FOLDER, file), "utf8")).to.include(` = ${Number(min) / 1e18}.`);
      expect((p.collateral! * p.penaltyBps!) / 10_000n >= 100_000n * p.priceCap!).to.equal(true);
      // What a requester gets back after 7 days (reclaim) is not due before the last dispute can be over.
      expect(2n * clock < 7n * 24n * HOUR).to.equal(true);
    });
  }

  it("l1_isTheDefault", async () => {
    const connection = await network.create();
    const { asset } = await connection.ignition.deploy(wrappedEtherModule);
    const { verifier } = await connection.ignition.deploy(verifierModule);
    const parameters = { Refute: { asset: asset.address, verifier: verifier.address, manufacturers: [MAKER] } };
    const { market } = await connection.ignition.deploy(refuteModule, { parameters });
    const file = valuesOf("l1.json5");
    const { parameters: given } = await market.read.deployment();
    for (const [name, value] of Object.entries(given)) {
      if (name !== "sink") expect(BigInt(value), name).to.equal(file[name]);
    }
    await connection.close();
  });

  it("largestMoves_haveTheBytesThatTheFilesReckonWith", () => {
    const envelopes = (moves: readonly bigint[]): bigint => ENVELOPE * BigInt(moves.length);
    expect(Number(sum(WORKER_MOVES) + envelopes(WORKER_MOVES)))
      .to.be.at.most(18_000)
      .and.above(15_000);
    const challenger = sum(CHALLENGER_MOVES) + envelopes(CHALLENGER_MOVES) + valuesOf("l1.json5").maxStepBytes!;
    expect(Number(challenger)).to.be.at.most(125_000).and.above(115_000);
  });

  for (const [file, hours] of [
    ["op-stack.json5", 12n],
    ["arbitrum-like.json5", 24n],
  ] as const) {
    it(`${file}_holdsOneForcedInclusionForEachSide_notOneForEachMove`, () => {
      const { baseWindow, baseClock } = valuesOf(file);
      const l1 = valuesOf("l1.json5");
      expect(baseWindow).to.equal(hours * HOUR + l1.baseWindow!);
      expect(baseClock).to.equal(hours * HOUR + l1.baseClock!);
      const everyMove = BigInt(WORKER_MOVES.length) * hours * HOUR + l1.baseClock!;
      expect(readFileSync(join(FOLDER, file), "utf8")).to.include(everyMove.toLocaleString("en"));
    });

    it(`${file}_bondAndBounty_coverTheDataFees`, () => {
      const p = valuesOf(file);
      expect(p.bounty! >= 125_000n * 150n * GWEI).to.equal(true);
      const left = p.bondGas! * p.priceCap! - worstGames(p).worker * p.priceCap!;
      expect(left >= 18_000n * 150n * GWEI).to.equal(true);
      expect(p.bondGas! * p.priceCap!).to.equal(62_500n * MICRO);
    });
  }

  it("arbitrumLike_withoutACalldataFloor_refutingOneselfLosesNoLessThanOnL1", () => {
    // A move is paid at most 21,000 + max(used, floor); it burns 21,000 + used, and calldata is a part of what is used.
    const max = (schedule("NONZERO_FLOOR") * 10n) / schedule("NONZERO_BYTE");
    expect(max).to.equal(25n);
    expect((schedule("ZERO_FLOOR") * 10n) / schedule("ZERO_BYTE")).to.equal(max);
    const loss = (p: Values): bigint => ((p.collateral! - p.bounty!) * 10n) / max - 80_000n * p.priceCap!;
    const [l1, rollup] = [valuesOf("l1.json5"), valuesOf("arbitrum-like.json5")];
    expect(Number(loss(rollup)) / 1e18).to.equal(1.5912);
    const deployment = {
      collateral: Number(l1.collateral) / 1e18,
      bounty: Number(l1.bounty) / 1e18,
      priceCap: Number(l1.priceCap) / 1e18,
      dearestMove: 51_500 + 16 * 1_115 + 24 * 800,
      cheapestPick: 52_000,
    } as Deployment;
    const onL1 = minSelfChallengeLoss(deployment);
    expect(onL1).to.be.closeTo(1.5, 0.01);
    expect(Number(loss(rollup)) / 1e18).to.be.above(onL1);
    // Nor is it ever a gain, whatever the parameters: at least two fifths of what is not the bounty are burnt or sunk.
    for (const file of files) expect(loss(valuesOf(file)) > 0n, file).to.equal(true);
  });

  it("priceCapOfTheOpStack_isNoMoreThanForcedGasCosts", () => {
    expect(valuesOf("op-stack.json5").priceCap).to.equal(GWEI);
  });

  it("pricierCalldata_worstProofFitsATransaction_andWithoutTheByteLimitWouldNot", () => {
    for (const file of files) {
      const { maxStepBytes } = valuesOf(file);
      expect(maxStepBytes! < 95_000n).to.equal(true);
      const burnt = TRANSACTION + PROPOSED_FLOOR * maxStepBytes!;
      expect(burnt).to.equal(5_781_000n);
      expect(burnt < TRANSACTION_CAP).to.equal(true);
    }
    const unlimited = (valuesOf("l1.json5").maxStepGas! - TRANSACTION) / schedule("NONZERO_FLOOR");
    expect(unlimited).to.equal(299_475n);
    expect(TRANSACTION + PROPOSED_FLOOR * unlimited).to.equal(19_187_400n);
    expect(TRANSACTION + PROPOSED_FLOOR * unlimited > TRANSACTION_CAP).to.equal(true);
  });

  it("pricierCalldata_bondAndBounty_coverWhatTheScheduleDoesNotRepay", () => {
    const p = valuesOf("pricier-calldata.json5");
    const burnt = (moves: readonly bigint[]): bigint => sum(moves.map((size) => TRANSACTION + PROPOSED_FLOOR * size));
    // Reveals are above their price at this floor.
    expect(burnt(WORKER_MOVES.slice(1, 2)) > schedule("REVEAL") + 16n * schedule("CHILD")).to.equal(true);
    const worker = burnt(WORKER_MOVES) + schedule("TIMEOUT");
    const challenger = burnt([...CHALLENGER_MOVES, p.maxStepBytes!]);
    expect([worker, challenger].map(Number)).to.deep.equal([1_469_040, 7_974_536]);
    expect(p.bondGas! >= worker).to.equal(true);
    expect(p.bounty! >= challenger * p.priceCap!).to.equal(true);
  });
});
