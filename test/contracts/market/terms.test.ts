import { expect } from "chai";
import {
  bytesToHex,
  encodeAbiParameters,
  encodeFunctionData,
  hexToBytes,
  keccak256,
  pad,
  zeroAddress,
  zeroHash,
  type Hex,
} from "viem";
import { ClaimStatus, JobStatus, type Claim, type Job, type Terms } from "../../../src/chain/structs.ts";
import { claimOf, termsHashOf } from "../../../src/chain/market/ids.ts";
import { jobMarketAbi } from "../../../src/chain/abi/jobMarket.ts";
import { completeTerms } from "../../../src/parties/requester/postJob.ts";
import { honestTrace, lyingTrace } from "../../../testkit/protocol/chainProgram.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { delivery, marketKit, OTHER_ROOT, smallProgram, SUBMITTED_NODES } from "../../../testkit/protocol/marketKit.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { attest } from "../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { turnOf } from "../../../testkit/economics/panels.ts";
import { ETHER, SINK } from "../../../testkit/protocol/deployWorld.ts";
import { claimId, claimKey, creditOf, jobId, submitted } from "../../../testkit/protocol/world.ts";

const WINDOW = 1_800;
const GROUP = OTHER_ROOT;
const SALT: Hex = `0x${"5a".repeat(32)}`;
const HIGHER = 3n * ETHER;

describe("JobMarket: terms", () => {
  const world = useWorld();
  const { revert, vaultRevert, as, post, refusedPost, statusOf, pass } = marketKit(world);
  const root = honestTrace(smallProgram).root;

  const termsOf = (changes: Partial<Terms>): Terms =>
    completeTerms({ collateral: world().parameters.collateral, ...changes });
  const address = (name: "worker" | "mallory") => world()[name].account.address;

  async function posted(changes: Partial<Terms>, salt: Hex = zeroHash): Promise<{ job: Job; terms: Terms }> {
    const terms = termsOf(changes);
    return { job: await post({ terms: [terms], salt }), terms };
  }

  async function staked(): Promise<void> {
    const { vault, manufacturer } = world();
    await attest(world(), address("mallory"), new TestDevice(manufacturer));
    await vault.write.stake([10n * ETHER], as("mallory"));
  }

  const sealOf = (job: Job, by: "worker" | "mallory", of: Hex = root, salt = SALT): Hex =>
    keccak256(
      encodeAbiParameters(
        [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }, { type: "bytes32" }],
        [jobId(world(), job), address(by), of, salt],
      ),
    );

  it("termsWithBitsBeyondAFieldsType_areOtherTerms", async () => {
    const { market, client } = world();
    const { job, terms } = await posted({ spread: 0, keyHash: zeroHash });
    const data = hexToBytes(
      encodeFunctionData({ abi: jobMarketAbi, functionName: "claimOnTerms", args: [job, terms] }),
    );
    const call = (bytes: Uint8Array): Promise<unknown> =>
      client.call({ account: address("worker"), to: market.address, data: bytesToHex(bytes) });
    await call(data);
    // The first byte of each of the 13 words: the job's 18 words and the selector stand before.
    for (let k = 0; k < 13; k++) {
      const changed = data.with(4 + 32 * (18 + k), 1);
      expect(await refusalOf(call(changed)), `word ${k}`).to.include("WrongTerms");
    }
  });

  it("termsHash_isThatOfTheTerms_andOrdinaryCallsAreRefused", async () => {
    const { market } = world();
    const { job, terms } = await posted({ collateral: HIGHER });
    expect(job.termsHash).to.equal(termsHashOf(terms));
    await revert(market.write.claim([job], as("worker")), "HasTerms");
    await market.write.claimOnTerms([job, terms], as("worker"));
    await revert(market.write.submit([job, SUBMITTED_NODES], as("worker")), "HasTerms");
    await pass(700);
    await revert(market.write.expire([job], as("watcher")), "HasTerms");
    await revert(market.write.expireOnTerms([job, termsOf({})], as("watcher")), "WrongTerms");
  });

  it("post_termsOutOfTheirRange_reverts", async () => {
    const { collateral } = world().parameters;
    await refusedPost("TooManyTerms", { terms: [termsOf({}), termsOf({})] });
    await refusedPost("CollateralOutOfRange", { terms: [termsOf({ collateral: collateral - 1n })] });
    await refusedPost("CollateralOutOfRange", { terms: [termsOf({ collateral: 2n ** 96n - 1n })] });
    const deadline = BigInt(await world().networkHelpers.time.latest()) + 86_400n;
    await refusedPost("OpensTooSoon", { deadline, terms: [termsOf({ openFrom: Number(deadline) })] });
    await refusedPost("DeadlineTooFar", { deadline, terms: [termsOf({ openFrom: Number(deadline) + 86_400 * 365 })] });
  });

  it("collateral_aboveTheLeast_isLocked_slashedWhole_andFreeWhenFinal", async () => {
    const { market, vault } = world();
    const { job, terms } = await posted({ collateral: HIGHER });
    await market.write.claimOnTerms([job, terms], as("worker"));
    expect((await vault.read.accountOf([address("worker")]))[2]).to.equal(HIGHER);
    const before = await world().networkHelpers.takeSnapshot();
    await market.write.submitOnTerms([job, terms, SUBMITTED_NODES], as("worker"));
    await pass(WINDOW + 1);
    const claim = claimOf(job, address("worker"), root, HIGHER);
    await revert(market.write.finalise([{ ...claim, collateral: HIGHER - 1n }]), "WrongClaimStatus");
    await market.write.deliver([claim, delivery()]);
    expect((await vault.read.accountOf([address("worker")]))[2]).to.equal(0n);
    await before.restore();
    const lie = lyingTrace(smallProgram, 2, 5);
    const { submissionOf } = await import("../../../src/dispute/workerMove.ts");
    await market.write.submitOnTerms([job, terms, submissionOf(lie.list, 4)], as("worker"));
    const wrong = claimOf(job, address("worker"), lie.root, HIGHER);
    const game = new GameDriver(world(), smallProgram, lie, wrong);
    await game.open();
    await game.concede(world().worker);
    const [, stake, locked] = await vault.read.accountOf([address("worker")]);
    expect([stake, locked]).to.deep.equal([7n * ETHER, 0n]);
    expect((await vault.read.recordOf([address("worker")])).slice(1)).to.deep.equal([1n, 0n]);
    expect(await statusOf(job)).to.equal(JobStatus.open);
  });

  it("expireOnTerms_takesThePenaltyOfTheTermsCollateral_andCountsIt", async () => {
    const { market, vault } = world();
    const { job, terms } = await posted({ collateral: HIGHER });
    await revert(market.write.expireOnTerms([job, terms], as("watcher")), "WrongJobStatus");
    await market.write.claimOnTerms([job, terms], as("worker"));
    await revert(market.write.expireOnTerms([job, terms], as("watcher")), "TimeNotUp");
    await pass(700);
    await market.write.expireOnTerms([job, terms], as("watcher"));
    const [, stake, locked] = await vault.read.accountOf([address("worker")]);
    expect([stake, locked]).to.deep.equal([10n * ETHER - HIGHER / 20n, 0n]);
    expect((await vault.read.recordOf([address("worker")])).slice(1)).to.deep.equal([0n, 1n]);
    expect(await statusOf(job)).to.equal(JobStatus.open);
  });

  it("reservedFor_onlyThatWorkerClaims_andMayDoItAllAtOnce", async () => {
    const { market } = world();
    await staked();
    const { job, terms } = await posted({ reservedFor: address("worker") });
    await revert(market.write.claimOnTerms([job, terms], as("mallory")), "ReservedForAnother");
    const all = [job, terms, SUBMITTED_NODES] as const;
    await revert(market.write.claimAndSubmit([...all], as("mallory")), "ReservedForAnother");
    await market.write.claimAndSubmit([...all], as("worker"));
    expect(await statusOf(job)).to.equal(JobStatus.submitted);
    // A submission that others could copy from the pool is never taken in one call.
    const free = await posted({ collateral: HIGHER }, SALT);
    await revert(
      market.write.claimAndSubmit([free.job, free.terms, SUBMITTED_NODES], as("worker")),
      "ReservedForAnother",
    );
  });

  it("group_aWorkerTakesOneJob_ofThisRequester", async () => {
    const { market } = world();
    await staked();
    const [one, two] = [await posted({ group: GROUP }), await posted({ group: GROUP }, SALT)];
    await market.write.claimOnTerms([one.job, one.terms], as("worker"));
    await revert(market.write.claimOnTerms([two.job, two.terms], as("worker")), "GroupTaken");
    await market.write.claimOnTerms([two.job, two.terms], as("mallory"));
    const { requestFor, postJob } = await import("../../../testkit/protocol/world.ts");
    const request = await requestFor(world(), smallProgram, { terms: [one.terms], fee: 0n });
    const stranger = await postJob(world(), request, world().watcher);
    await market.write.claimOnTerms([stranger, one.terms], as("worker"));
  });

  it("spread_eachWorkerHasItsTurn_andAllAfterIt", async () => {
    const { market, networkHelpers } = world();
    const { job, terms } = await posted({ spread: 255 });
    const opened = await networkHelpers.time.latestBlock();
    const block = await world().client.getBlock({ blockNumber: BigInt(opened) });
    const words = [block.hash, jobId(world(), job), pad(address("worker"))] as const;
    const [hash, id, worker] = words.map((word) => hexToBytes(word)) as [Uint8Array, Uint8Array, Uint8Array];
    const first = opened + turnOf(hash, id, worker, 255);
    if (first - opened > 2) {
      await networkHelpers.mine(first - opened - 2);
      await revert(market.write.claimOnTerms([job, terms], as("worker")), "NotItsTurn");
    }
    const now = await networkHelpers.time.latestBlock();
    if (now < first - 1) await networkHelpers.mine(first - 1 - now);
    await market.write.claimOnTerms([job, terms], as("worker"));
    const other = await posted({ spread: 255 }, SALT);
    await networkHelpers.mine(300);
    await market.write.claimOnTerms([other.job, other.terms], as("worker"));
  });

  it("record_deviceAndClass_areAskedOfTheWorker", async () => {
    const { market, vault, manufacturer, rival } = world();
    const [since] = await vault.read.recordOf([address("worker")]);
    const claim = async (changes: Partial<Terms>, salt: Hex) => {
      const { job, terms } = await posted(changes, salt);
      return market.write.claimOnTerms([job, terms], as("worker"));
    };
    const salt = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
    await revert(claim({ since: Number(since) - 60 }, salt(1)), "RecordTooPoor");
    await revert(claim({ manufacturer: rival.id }, salt(2)), "OtherManufacturer");
    const classes = await world().viem.deployContract("OneClass", [address("worker"), 3]);
    await revert(claim({ classes: classes.address, class: 4 }, salt(3)), "ClassNotHeld");
    await claim(
      {
        since: Number(since),
        maxRefuted: 0,
        maxLate: 0,
        manufacturer: manufacturer.id,
        classes: classes.address,
        class: 3,
      },
      salt(4),
    );
    await pass(700);
    const late = await posted({}, salt(5));
    await market.write.claimOnTerms([late.job, late.terms], as("worker"));
    await pass(700);
    await market.write.expireOnTerms([late.job, late.terms], as("worker"));
    await revert(claim({ maxLate: 0 }, salt(6)), "RecordTooPoor");
  });

  describe("seals", () => {
    const CLOCK = 3_600;

    /** A sealed job whose deadline is in an hour and that opens an hour later. */
    async function sealed(): Promise<{ job: Job; terms: Terms; openFrom: number }> {
      const now = await world().networkHelpers.time.latest();
      const openFrom = now + 7_200;
      const terms = termsOf({ openFrom });
      return { job: await post({ deadline: BigInt(now + 3_600), terms: [terms] }), terms, openFrom };
    }
    const at = (second: number) => world().networkHelpers.time.setNextBlockTimestamp(second);

    it("openedInTime_becomesAClaim_byAnybodyWhoKnowsTheSalt", async () => {
      const { market } = world();
      const { job, terms, openFrom } = await sealed();
      await market.write.claimOnTerms([job, terms], as("worker"));
      await revert(market.write.submitOnTerms([job, terms, SUBMITTED_NODES], as("worker")), "IsSealed");
      await revert(market.write.seal([job, terms, sealOf(job, "worker")], as("mallory")), "NotWorker");
      await market.write.seal([job, terms, sealOf(job, "worker")], as("worker"));
      const open = (salt: Hex, by: "worker" | "mallory" = "worker") =>
        market.write.openSeal([job, terms, address(by), salt, SUBMITTED_NODES], as("watcher"));
      await revert(open(SALT), "TimeNotUp");
      await at(openFrom - 1);
      await revert(open(SALT), "TimeNotUp");
      await at(openFrom);
      await revert(open(zeroHash), "WrongSeal");
      await revert(open(SALT, "mallory"), "WrongSeal");
      await open(SALT);
      const claim: Claim = claimOf(job, address("worker"), root, terms.collateral);
      const [status, windowEnd] = await market.read.claimOf([claimKey(world(), claim)]);
      expect(status).to.equal(ClaimStatus.submitted);
      expect(Number(windowEnd) > openFrom + WINDOW - 1).to.equal(true);
      await pass(WINDOW + 60);
      await market.write.finalise([claim]);
    });

    it("openedInTheLastSecond_becomesAClaim", async () => {
      const { market } = world();
      const { job, terms, openFrom } = await sealed();
      await market.write.claimOnTerms([job, terms], as("worker"));
      await market.write.seal([job, terms, sealOf(job, "worker")], as("worker"));
      await at(openFrom + CLOCK);
      await market.write.openSeal([job, terms, address("worker"), SALT, SUBMITTED_NODES], as("watcher"));
      const claim = claimOf(job, address("worker"), root, terms.collateral);
      const [status, windowEnd] = await market.read.claimOf([claimKey(world(), claim)]);
      expect([status, Number(windowEnd)]).to.deep.equal([ClaimStatus.submitted, openFrom + CLOCK + WINDOW]);
    });

    it("sealThatIsTheContentOfAClaim_isNoClaim", async () => {
      const { market } = world();
      const { job, terms } = await sealed();
      const claim: Claim = claimOf(job, address("worker"), root, terms.collateral);
      const types = [{ type: "bytes32" }, { type: "bytes32" }, { type: "uint128" }] as const;
      const content = keccak256(encodeAbiParameters(types, [jobId(world(), job), root, terms.collateral]));
      await market.write.claimOnTerms([job, terms], as("worker"));
      await market.write.seal([job, terms, content], as("worker"));
      const [status] = await market.read.claimOf([claimKey(world(), claim)]);
      expect(status).to.equal(ClaimStatus.none);
      await revert(market.write.accept([claim], as("requester")), "WrongClaimStatus");
      await revert(market.write.finalise([claim]), "WrongClaimStatus");
    });

    it("neverOpened_losesTheWholeCollateral_andTheFeeComesBack", async () => {
      const { market, vault } = world();
      const { job, terms, openFrom } = await sealed();
      const seal = sealOf(job, "worker");
      await market.write.claimOnTerms([job, terms], as("worker"));
      await market.write.seal([job, terms, seal], as("worker"));
      const broken = (by: "worker" | "mallory", what = seal) =>
        market.write.breakSeal([job, terms, address(by), what], as("watcher"));
      await at(openFrom + CLOCK);
      await revert(broken("worker"), "TimeNotUp");
      const open = [job, terms, address("worker"), SALT, SUBMITTED_NODES] as const;
      await at(openFrom + CLOCK + 1);
      await revert(market.write.openSeal([...open], as("worker")), "TimeIsUp");
      await revert(broken("mallory"), "WrongSeal");
      await revert(broken("worker", OTHER_ROOT), "WrongSeal");
      const [sink, requester] = [(await vault.read.accountOf([SINK]))[0], await creditOf(world(), world().requester)];
      await broken("worker");
      const [, stake, locked] = await vault.read.accountOf([address("worker")]);
      expect([stake, locked]).to.deep.equal([10n * ETHER - terms.collateral, 0n]);
      expect((await vault.read.accountOf([SINK]))[0] > sink).to.equal(true);
      expect((await creditOf(world(), world().requester)) - requester).to.equal(ETHER);
      expect(await statusOf(job)).to.equal(JobStatus.closed);
      expect(await vault.read.custody()).to.equal(0n);
      await revert(broken("worker"), "WrongJobStatus");
    });

    it("claimNeverSealed_pastTheDeadline_closesTheJob", async () => {
      const { market } = world();
      const { job, terms } = await sealed();
      await market.write.claimOnTerms([job, terms], as("worker"));
      await pass(3_700);
      await revert(market.write.seal([job, terms, SALT], as("worker")), "TimeIsUp");
      await market.write.expireOnTerms([job, terms], as("watcher"));
      expect(await statusOf(job)).to.equal(JobStatus.closed);
    });

    it("sealsOfOrdinaryTerms_areRefused", async () => {
      const { market } = world();
      const { job, terms } = await posted({ collateral: HIGHER });
      await market.write.claimOnTerms([job, terms], as("worker"));
      await revert(market.write.seal([job, terms, SALT], as("worker")), "NotSealed");
    });
  });

  describe("early acceptance", () => {
    const early = async (changes: Partial<Terms> = { earlyAccept: true }) => {
      const { job, terms } = await posted(changes);
      await world().market.write.claimOnTerms([job, terms], as("worker"));
      await world().market.write.submitOnTerms([job, terms, SUBMITTED_NODES], as("worker"));
      return { job, terms, claim: claimOf(job, address("worker"), root, terms.collateral) };
    };

    it("paysAndFreesTheCollateral_andIsNeverFinal", async () => {
      const { market, vault, worker } = world();
      const { claim, terms, job } = await early();
      await revert(market.write.acceptEarly([claim, terms], as("mallory")), "NotRequester");
      const before = await creditOf(world(), worker);
      await market.write.acceptEarly([claim, terms], as("requester"));
      expect((await creditOf(world(), worker)) - before).to.equal(ETHER);
      expect((await vault.read.accountOf([address("worker")]))[2]).to.equal(0n);
      expect(await statusOf(job)).to.equal(JobStatus.accepted);
      const [status] = await market.read.claimOf([claimKey(world(), claim)]);
      expect(status).to.equal(ClaimStatus.accepted);
      await pass(WINDOW + 1);
      await revert(market.write.finalise([claim]), "WrongClaimStatus");
      await revert(market.write.deliver([claim, delivery()]), "WrongClaimStatus");
      await revert(market.read.requireOutput([claim, 0n, delivery()]), "WrongClaimStatus");
      await revert(market.write.accept([claim], as("requester")), "WrongClaimStatus");
      await revert(market.write.acceptEarly([claim, terms], as("requester")), "WrongClaimStatus");
      await revert(market.write.reclaim([claim]), "WrongClaimStatus");
      expect(await vault.read.custody()).to.equal(0n);
    });

    it("isRefused_whereTermsDoNotAllowIt_orWhileAGameIsOpen", async () => {
      const { market } = world();
      const not = await early({ collateral: HIGHER });
      await revert(market.write.acceptEarly([not.claim, not.terms], as("requester")), "NoEarlyAccept");
      await pass(WINDOW + 1);
      await market.write.finalise([not.claim]);
      const ordinary = await submitted(world(), smallProgram, honestTrace(smallProgram), { salt: SALT });
      await revert(market.write.acceptEarly([ordinary, termsOf({ earlyAccept: true })], as("requester")), "WrongTerms");
      const { job, terms } = await posted({ earlyAccept: true }, GROUP);
      await market.write.claimOnTerms([job, terms], as("worker"));
      await market.write.submitOnTerms([job, terms, SUBMITTED_NODES], as("worker"));
      const claim = claimOf(job, address("worker"), root, terms.collateral);
      await new GameDriver(world(), smallProgram, honestTrace(smallProgram), claim).open();
      await revert(market.write.acceptEarly([claim, terms], as("requester")), "GamesOpen");
      expect((await world().game.read.claimGames([claimId(world(), claim)]))[0]).to.equal(1n);
    });
  });

  it("withoutTerms_nothingHasChanged", async () => {
    const job = await post();
    expect([job.termsHash, zeroAddress]).to.deep.equal([zeroHash, zeroAddress]);
    await vaultRevert(world().vault.write.slash([address("worker"), 1n, true], as("mallory")), "NotMarket");
  });
});
