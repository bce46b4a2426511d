import { expect } from "chai";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther, type Hex } from "viem";
import { cutBatch, partSalt, type Batch } from "../../../src/parties/dispatcher/batch.ts";
import { costsOf } from "../../../src/parties/dispatcher/costs.ts";
import { dispatch } from "../../../src/parties/dispatcher/dispatcher.ts";
import { DispatchBudgetError, DispatchInputError, DispatchJoinError } from "../../../src/parties/dispatcher/errors.ts";
import type { DispatchEvent } from "../../../src/parties/dispatcher/events.ts";
import type { DispatchOptions } from "../../../src/parties/dispatcher/options.ts";
import { DispatchStore } from "../../../src/parties/dispatcher/store.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import type { ClaimRecord } from "../../../src/chain/market/history.ts";
import type { Session } from "../../../src/chain/market/session.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import { passTime } from "../../../testkit/dispatch/passTime.ts";
import { startServer } from "../../../testkit/dispatch/servers.ts";
import { awayAtTransactions, fitfulSession } from "../../../testkit/nodes/fitfulSession.ts";
import { reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { RUN_STEPS, runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { rejection } from "../../../testkit/rejection.ts";

const [ITEMS, PART_ITEMS] = [5, 2];
const FEE = parseEther("0.02");
const program = runProgram();

/** What the run gives: each item's `a`, and the states before each item and after the last one. */
function computed() {
  const [state, x, seed] = runInputBytes(ITEMS) as [Uint8Array, Uint8Array, Uint8Array];
  const states = [state];
  const each = Array.from({ length: ITEMS }, (_, item) => {
    const index = new Uint8Array(BigInt64Array.of(BigInt(item)).buffer);
    const own = x.subarray(item * state.length, (item + 1) * state.length);
    const tensors = executeReference(program.model, [states[item]!, own, seed, index]);
    states.push(tensors[RUN_STEPS.last]!);
    return tensors[RUN_STEPS.shared]!;
  });
  return { states, each };
}

const { states, each } = computed();
const batchOf = (begins: readonly Uint8Array[]): Batch => {
  const inputs = [Buffer.concat(begins), ...runInputBytes(ITEMS).slice(1)];
  return cutBatch({ program, inputs, items: ITEMS, partItems: PART_ITEMS });
};
const isSubmission = (event: WorkerEvent): event is WorkerEvent & { kind: "submitted" } => event.kind === "submitted";
const whole = cutBatch({ program, inputs: runInputBytes(ITEMS), items: ITEMS, partItems: ITEMS });
const batch = batchOf([states[0]!, states[2]!, states[4]!]);

describe("dispatching a batch", function () {
  this.timeout(300_000);
  const players = usePlayers("test");
  let folder: string;
  let session: Session;
  let store: DispatchStore;
  const openStore = (of = batch, name = "state.db"): Promise<DispatchStore> => {
    const { chainId, market } = session.deployment;
    return DispatchStore.open(join(folder, name), { batch: of.id, chainId, market, requester: session.sender.address });
  };
  const options = (more: Partial<DispatchOptions> = {}): DispatchOptions => ({
    ...{ session, batch, store, execute: reference(), urls: [], openJobs: 2, maxAttempts: 3, checkShare: 0 },
    terms: {
      ...{ fee: FEE, maxFee: 2n * FEE, budget: 4n * FEE, window: 3_600, claimSeconds: 900, deadlineSeconds: 86_400 },
      answer: false,
    },
    ...{ openSeconds: 1_800, withheldSeconds: 0, intervalMs: 20, ...more },
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-dispatch-"));
    session = await players().chain.newSession(parseEther("1"));
    store = await openStore();
  });
  afterEach(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  /** Dispatches while time passes. */
  async function play(more: Partial<DispatchOptions> = {}, isLie: (claim: ClaimRecord) => boolean = () => false) {
    const over = new AbortController();
    const time = passTime(players(), { idle: new Set(), isWrong: isLie }, over.signal);
    const events: DispatchEvent[] = [];
    const outcome = dispatch(options({ onEvent: (event) => events.push(event), ...more }));
    const error = await outcome.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    over.abort();
    return { history: await time, events, error };
  }

  it("aSecretThatIsNot32BytesOfHex_isRefusedBeforeAnythingIsPosted_andNotTold", async () => {
    const digits = "5ec4e7".repeat(11).slice(0, 64);
    for (const secret of [
      "",
      "0x",
      "0x1",
      "secret",
      digits,
      `0x${digits.slice(2)}`,
      `0x${digits}00`,
      `0xzz${digits.slice(2)}`,
    ]) {
      const error = await rejection(dispatch(options({ checkSecret: secret as Hex })));
      expect(error, secret).to.be.instanceOf(DispatchInputError);
      expect(error.message)
        .to.match(/^checkSecret: expected 32 random bytes/)
        .and.not.include("5ec4e7");
    }
    expect(store.attempts()).to.deep.equal([]);
  });

  const outputsHere = (): Uint8Array[] => {
    const claims = store.done().map(({ claim }) => claim);
    return Array.from({ length: ITEMS }, (_, item) => {
      const part = Math.floor(item / PART_ITEMS);
      return store.output(part, claims[part]!, item % PART_ITEMS, 1)!;
    });
  };

  it("segmentsOfARun_areJoinedOnTheirStates_andEveryItemsOutputIsRight", async () => {
    const server = await startServer(players(), program, reference());
    const { error } = await play({ urls: [server.url] });
    await server.stop();
    expect(error).to.equal(undefined);
    expect(outputsHere().every((bytes, item) => Buffer.from(bytes).equals(each[item]!))).to.equal(true);
    const { parts, fee } = costsOf(batch, store);
    expect(fee).to.equal(3n * FEE);
    expect(parts.map(({ attempts, source }) => [attempts, source])).to.deep.equal(Array(3).fill([1, "worker"]));
    expect(parts.every(({ gas }) => gas > 100_000)).to.equal(true);
  });

  it("aNewStateFile_findsWhatWasPostedOnTheChain_andPostsNothingTwice", async () => {
    const server = await startServer(players(), program, reference());
    await play({ urls: [server.url] });
    store.close();
    store = await openStore(batch, "lost.db");
    const { history, error } = await play({ urls: [server.url] });
    await server.stop();
    expect(error).to.equal(undefined);
    expect(history.jobs.size).to.equal(3);
    expect(outputsHere().every((bytes, item) => Buffer.from(bytes).equals(each[item]!))).to.equal(true);
    const { fee, parts } = costsOf(batch, store);
    expect(fee).to.equal(3n * FEE);
    // What the first process paid for gas is read from the chain.
    expect(parts.every(({ gas }) => gas > 100_000)).to.equal(true);
  });

  it("outagesAtAnyPoint_areWaitedOut_andNothingIsPostedOrPaidTwice", async () => {
    const server = await startServer(players(), program, reference());
    const away = new Set<string>();
    const prng = new Prng(3);
    const isAway = awayAtTransactions(() => prng.below(4) === 0);
    const fitful = fitfulSession(session, (moment) => {
      const isIt = isAway(moment);
      if (isIt) away.add(moment);
      return isIt;
    });
    const said: (string | undefined)[] = [];
    const onOutage = (error?: Error): void => void said.push(error?.message);
    const { history, events, error } = await play({ session: fitful, urls: [server.url], onOutage, openJobs: 1 });
    await server.stop();
    expect(error).to.equal(undefined);
    expect([...away].sort()).to.deep.equal(["after a transaction", "before a transaction", "read"]);
    expect(history.jobs.size).to.equal(3);
    expect(costsOf(batch, store).fee).to.equal(3n * FEE);
    expect(outputsHere().every((bytes, item) => Buffer.from(bytes).equals(each[item]!))).to.equal(true);
    expect(said.filter((one) => one === undefined).length).to.equal(said.length / 2);
    expect(events.some(({ kind }) => kind === "delayed")).to.equal(true);
  });

  it("outputsThatNobodyServes_areComputedHere_andPaidOnce", async () => {
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    const { history, events, error } = await play();
    await worker.stop();
    expect(error).to.equal(undefined);
    expect(history.jobs.size).to.equal(3);
    expect(events.filter(({ kind }) => kind === "withheld").length).to.equal(3);
    expect(outputsHere().every((bytes, item) => Buffer.from(bytes).equals(each[item]!))).to.equal(true);
    expect(costsOf(batch, store).parts.every(({ source }) => source === "computed here")).to.equal(true);
  });

  it("aWrongClaimThatIsChecked_isDisputedFromHere_withoutAnyWatcher", async () => {
    const liar = await startServer(players(), program, reference({ step: RUN_STEPS.shared, element: 7 }));
    const honest = await startServer(players(), program, reference());
    const address = players().addressOf(liar.key);
    const isLie = ({ claim }: ClaimRecord): boolean => claim.worker === address;
    const { history, events, error } = await play({ urls: [liar.url, honest.url], checkShare: 1 }, isLie);
    await Promise.all([liar.stop(), honest.stop()]);
    expect(error).to.equal(undefined);
    const lies = [...history.claims.values()].filter(({ claim }) => claim.worker === address);
    expect(lies.every(({ refuted }) => refuted)).to.equal(true);
    const wrong = events.filter((event) => event.kind === "checked" && !event.isRight);
    expect(wrong.length).to.equal(lies.length);
    expect(outputsHere().every((bytes, item) => Buffer.from(bytes).equals(each[item]!))).to.equal(true);
  });

  it("wrongClaimsAtTheSameTime_areAllDisputed_eachWithABond", async () => {
    const lying = reference({ step: RUN_STEPS.shared, element: 7 });
    const liars = await Promise.all([0, 1].map(() => startServer(players(), program, lying, { maxOpenClaims: 1 })));
    const addresses = liars.map(({ key }) => players().addressOf(key));
    const isLie = ({ claim }: ClaimRecord): boolean => addresses.includes(claim.worker);
    const playing = play({ checkShare: 1 }, isLie);
    await Promise.all(liars.map(({ worker }) => worker.inbox.first("a submission", isSubmission)));
    const honest = await startServer(players(), program, reference());
    const { history, error } = await playing;
    await Promise.all([...liars, honest].map(({ stop }) => stop()));
    expect(error).to.equal(undefined);
    const lies = [...history.claims.values()].filter(isLie);
    expect(new Set(lies.map(({ claim }) => claim.worker)).size).to.equal(2);
    expect(lies.every(({ refuted }) => refuted)).to.equal(true);
  });

  it("aWrongClaimThatCannotBeDisputed_isToldOnce_notMadeFinalFromHere_andItsOutputsAreComputed", async () => {
    session = await players().chain.newSession(3n * FEE);
    store.close();
    store = await openStore(whole, "poor.db");
    const liar = await startServer(players(), program, reference({ step: RUN_STEPS.shared, element: 7 }));
    const reported = liar.worker.inbox.first("a submission", isSubmission);
    // Whoever lies does not come back to make its claims final.
    const stops = reported.then(() => liar.stop());
    const { history, events, error } = await play({ batch: whole, checkShare: 1 });
    await stops;
    expect(error).to.equal(undefined);
    const [claim] = [...history.claims.values()];
    expect(claim!.finalised).to.equal(false);
    const why = events.flatMap((event) => (event.kind === "undisputed" ? [event.why] : []));
    expect(why).to.deep.equal(["its bond is 0.0625, and the account holds that of 0 only"]);
    expect(store.done()[0]!.source).to.equal("computed here, the claim is wrong");
  });

  it("outputsThatAreNotDelivered_areComputedHere_andTheFeeCanBeTakenBack", async () => {
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    const stops = worker.inbox.first("a submission", isSubmission).then(() => worker.stop());
    store.close();
    store = await openStore(whole, "whole.db");
    const { history, events, error } = await play({ batch: whole });
    await stops;
    expect(error).to.equal(undefined);
    const [job] = [...history.jobs.values()];
    expect(job!.claims.map(({ finalised, paid }) => [finalised, paid])).to.deep.equal([[true, false]]);
    expect(store.done().map(({ source }) => source)).to.deep.equal(["computed here"]);
    expect(events.find(({ kind }) => kind === "undelivered")).to.deep.include({ job: job!.id });
    await players().chain.advance(7 * 86_400);
    await session.market.reclaim(job!.claims[0]!.claim);
  });

  it("aJobThatWasWrittenDown_isPostedAlsoIfItsFeeWentElsewhere", async () => {
    const { timestamp } = await session.publicClient.getBlock();
    const { window, claimSeconds } = options().terms;
    const [part] = batch.parts;
    const salt = partSalt(batch.id, part!, 0);
    const terms = { fee: FEE, window, claimSeconds, deadline: timestamp + 86_400n, items: PART_ITEMS, salt };
    store.begin({ part: 0, attempt: 0, terms });
    const server = await startServer(players(), program, reference());
    const { history, error } = await play({ urls: [server.url] });
    await server.stop();
    expect(error).to.equal(undefined);
    expect([...history.jobs.values()].some(({ job }) => job.salt === salt)).to.equal(true);
    expect(history.jobs.size).to.equal(3);
  });

  it("statesOfAnotherRun_endTheBatch_whereItsPartsDoNotJoin", async () => {
    const wrong = batchOf([states[0]!, states[3]!, states[4]!]);
    store.close();
    store = await openStore(wrong, "wrong.db");
    const server = await startServer(players(), program, reference());
    const { error } = await play({ batch: wrong, urls: [server.url] });
    await server.stop();
    expect(error).to.be.instanceOf(DispatchJoinError);
    expect((error as Error).message).to.match(/part \d ends with another state than part \d begins with/);
  });

  it("aBudgetThatIsTooSmall_isRefusedBeforeAnythingIsSent", async () => {
    const terms = { ...options().terms, budget: 3n * FEE - 1n };
    const error = await rejection(dispatch(options({ terms })));
    expect(error).to.be.instanceOf(DispatchBudgetError);
    expect(error.message).to.match(/3 parts at 0.02 take 0.06.*nothing was sent/);
    const { address } = session.sender;
    // One transaction wrapped the account's ether.
    expect(await session.publicClient.getTransactionCount({ address })).to.equal(1);
  });

  it("jobsThatNobodyClaims_arePostedAgainForMore_upToTheMost_andTheBatchSaysSo", async () => {
    const terms = { ...options().terms, maxFee: (3n * FEE) / 2n, budget: 5n * FEE };
    const stop = new AbortController();
    const events: DispatchEvent[] = [];
    const running = dispatch(
      options({ terms, openSeconds: 1, signal: stop.signal, onEvent: (event) => events.push(event) }),
    );
    running.catch(() => undefined);
    const posts = () => events.filter((event) => event.kind === "posted" && event.part === 0);
    while (posts().length < 3) {
      await players().chain.advance(10);
      await new Promise((done) => setTimeout(done, 50));
    }
    stop.abort();
    await rejection(running);
    expect(posts().map((event) => event.kind === "posted" && event.fee)).to.deep.equal([
      FEE,
      (5n * FEE) / 4n,
      (3n * FEE) / 2n,
    ]);
  });
});
