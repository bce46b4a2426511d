import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseEther, type Hex } from "viem";
import { sealOf } from "../../../src/chain/market/ids.ts";
import { followMarket } from "../../../src/chain/market/session.ts";
import { DatabaseAccessError } from "../../../src/base/database/errors.ts";
import { SealBook } from "../../../src/parties/worker/sealBook.ts";
import { isSealed, refusalOf } from "../../../src/parties/worker/jobPolicy.ts";
import { Seals } from "../../../src/parties/worker/seals.ts";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

const id = (k: number): Hex => `0x${k.toString(16).padStart(64, "0")}`;
const opening = (k: number) => ({
  jobId: id(k),
  seal: id(100 + k),
  root: id(200 + k),
  salt: id(300 + k),
  nodes: id(400),
});

describe("seals of a worker", function () {
  this.timeout(60_000);
  const program = mlpProgram();
  const players = usePlayers("test");
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  describe("the book of openings", () => {
    it("whatIsKept_isThereAfterARestart_untilItIsForgotten", async () => {
      const path = join(folder, "deep", "seals.db");
      const book = await SealBook.at(path);
      await book.keep(opening(1));
      await book.keep(opening(2));
      for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).to.equal(0o600);
      book.close();
      const again = await SealBook.at(path);
      expect(again.of(id(101))).to.deep.equal(opening(1));
      expect(again.ofRoot(id(2), id(202))).to.deep.equal(opening(2));
      expect(again.ofRoot(id(2), id(201))).to.equal(undefined);
      again.forget(id(1));
      expect([again.of(id(101)), again.has(id(1)), again.has(id(2))]).to.deep.equal([undefined, false, true]);
      again.close();
    });

    it("inUse_orOfAnotherKind_isRefused_byItsName", async () => {
      const path = join(folder, "seals.db");
      const book = await SealBook.at(path);
      await book.open();
      expect((await rejection(SealBook.at(path))).message).to.match(/seals\.db is in use by another process/);
      book.close();
      const [other, unusable] = [join(folder, "other.db"), join(folder, "unusable.db")];
      mkdirSync(unusable);
      (await SealBook.at(join(folder, "new", "seals.db"))).requireWritable();
      // A file where a folder should be.
      const below = await SealBook.at(join(path, "seals.db"));
      expect(() => below.requireWritable()).to.throw(DatabaseAccessError);
      expect(await rejection(SealBook.at(unusable))).to.be.instanceOf(DatabaseAccessError);
      writeFileSync(other, "no database, but long enough to be looked at as one".repeat(20));
      expect((await rejection(SealBook.at(other))).message).to.match(
        /other\.db is not the openings of a worker's seals/,
      );
    });
  });

  it("folderThatCannotBeWritten_failsTheCondition_beforeAnySealedJob_untilItCan", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "", { mode: 0o600 });
    const book = await SealBook.at(join(file, "deep", "seals.db"));
    const conditions: (string | undefined)[] = [];
    const role = { health: { set: (_: string, problem?: { reason: string }) => conditions.push(problem?.reason) } };
    const seals = new Seals({} as never, role as never, undefined as never, book);
    const tidy = (): void => seals.tidy({ jobs: new Map() } as never, 1n);
    tidy();
    expect(conditions[0]).to.match(/file\/deep\/seals\.db.* cannot be written: .*name another folder with --seals/);
    expect(seals.canKeep).to.equal(false);
    rmSync(file);
    tidy();
    tidy();
    expect(conditions.slice(1)).to.deep.equal([undefined]);
    expect(seals.canKeep).to.equal(true);
    expect(existsSync(file)).to.equal(false);
  });

  it("opening_isForgotten256BlocksAfterItsJobWasDone_andAFullDiskStopsNothing", async () => {
    const path = join(folder, "seals.db");
    const book = await SealBook.at(path);
    await book.keep(opening(1));
    const conditions: (string | undefined)[] = [];
    const role = { health: { set: (_: string, problem?: { reason: string }) => conditions.push(problem?.reason) } };
    const session = { sender: { address: `0x${"11".repeat(20)}` } };
    const seals = new Seals(session as never, role as never, undefined as never, book);
    const tidy = (job: object, blockNumber: bigint): boolean => {
      seals.tidy({ jobs: new Map([[id(1), { id: id(1), claims: [], ...job }]]) } as never, blockNumber);
      return book.has(id(1));
    };
    expect(tidy({ closed: true }, 1_000n)).to.equal(true);
    expect(tidy({ closed: true }, 1_255n)).to.equal(true);
    // A reorganisation: the seal is there again.
    expect(tidy({ closed: false, sealed: { worker: session.sender.address } }, 1_256n)).to.equal(true);
    // A claim of another was refuted before this worker sealed.
    const refuted = { closed: false, claims: [{ refuted: true }], sealed: { worker: session.sender.address } };
    expect(tidy(refuted, 1_257n)).to.equal(true);
    expect(tidy(refuted, 2_000n)).to.equal(true);
    expect(tidy({ closed: true }, 2_001n)).to.equal(true);
    const forget = book.forget.bind(book);
    book.forget = () => {
      throw new DatabaseAccessError("the disk is full");
    };
    expect(tidy({ closed: true }, 2_257n)).to.equal(true);
    expect(conditions).to.deep.equal(["the disk is full"]);
    book.forget = forget;
    expect(tidy({ closed: true }, 2_258n)).to.equal(false);
    expect(conditions).to.deep.equal(["the disk is full", undefined]);
    book.close();
  });

  const job = {
    fee: 12n,
    claimSeconds: 160,
    deadline: 2_000n,
    work: 100n,
    callbackGas: 0,
    items: 1,
    inputsRoot: id(0),
  };
  const record = {
    job,
    open: true,
    terms: { openFrom: 3_000 },
    program: { header: `0x0002${"00".repeat(28)}` },
    inputRoots: [],
    parts: new Map(),
  } as unknown as JobRecord;
  const policy = { minFee: 5n, marginSeconds: 60 };

  it("jobs_areSealedOnlyIfTheyCanBeOpenedSoonEnough", () => {
    expect(isSealed(record)).to.equal(true);
    expect(refusalOf(record, 7n, policy, 1n, 1_000n)).to.equal(undefined);
    expect(refusalOf(record, 7n, { ...policy, maxSealSeconds: 1_999 }, 1n, 1_000n)).to.equal("terms");
    expect(refusalOf(record, 7n, { ...policy, maxSealSeconds: 0 }, 1n, 1_000n)).to.equal("terms");
  });

  it("termsThatLockMoreThanThePolicyAllows_areRefused_othersAreNot", () => {
    const locks = { ...record, terms: { ...record.terms!, collateral: 100n } };
    for (const [maxCollateral, refusal] of [[99n, "terms"], [100n], [undefined]] as const)
      expect(refusalOf(locks, 7n, { ...policy, maxCollateral }, 1n, 1_000n), `${maxCollateral}`).to.equal(refusal);
    expect(refusalOf({ ...record, terms: undefined }, 7n, { ...policy, maxCollateral: 0n }, 1n, 1_000n)).to.equal(
      undefined,
    );
  });

  it("withoutABook_noSealedJobIsTaken_withOneItsOpeningIsOnDiskBeforeTheSealIsSent", async () => {
    const now = await players().chain.now();
    const key = await players().workerKey();
    const session = await players().chain.sessionOf(key);
    const { collateral } = session.deployment.parameters;
    const times = { deadline: now + 7_200n, rare: { collateral, openFrom: Number(now) + 7_201 } };
    const sealed = await players().post(program, [mlpInput(1)], times);
    const without = await players().startWorker(key, program, reference());
    const plain = await players().post(program, [mlpInput(2)]);
    await first(without, "submitted", ({ jobId }) => jobId === plain.jobId);
    await without.stop();
    const path = join(folder, "seals.db");
    const book = await SealBook.at(path);
    const worker = await players().startWorker(key, program, reference(), { seals: book });
    const { openFrom, openUntil } = await first(worker, "sealed", ({ jobId }) => jobId === sealed.jobId);
    expect(openUntil - openFrom).to.equal(session.deployment.parameters.baseClock);
    await worker.stop();
    book.close();
    const { history } = await followMarket(session)();
    const { worker: by, seal } = history.jobs.get(sealed.jobId)!.sealed!;
    const kept = (await SealBook.at(path)).of(seal)!;
    expect(kept.jobId).to.equal(sealed.jobId);
    expect(sealOf(sealed.jobId, by, kept.root, kept.salt)).to.equal(seal);
  });

  it("sealThatWasKeptAndNotSent_isSentUnderTheSameName", async () => {
    const now = await players().chain.now();
    const key = await players().workerKey();
    const { collateral } = (await players().chain.sessionOf(key)).deployment.parameters;
    const openFrom = Number(now) + 7_201;
    const { jobId } = await players().post(program, [mlpInput(3)], {
      ...{ deadline: now + 7_200n, fee: parseEther("0.1") },
      rare: { collateral, openFrom },
    });
    const path = join(folder, "seals.db");
    /** A process that ends between the file and the node. */
    class Dying extends Error {}
    const dying = await SealBook.at(path);
    const keep = dying.keep.bind(dying);
    dying.keep = async (given) => {
      await keep(given);
      dying.ofRoot = () => {
        throw new Dying("dead");
      };
      throw new Dying("killed");
    };
    const worker = await players().startWorker(key, program, reference(), { seals: dying });
    await first(worker, "executed");
    await worker.stop();
    expect(dying.jobs).to.deep.equal([jobId]);
    dying.close();
    const book = await SealBook.at(path);
    const again = await players().startWorker(key, program, reference(), { seals: book });
    await first(again, "sealed");
    const { history } = await followMarket(await players().chain.sessionOf(key))();
    expect(book.of(history.jobs.get(jobId)!.sealed!.seal)?.jobId).to.equal(jobId);
    await players().chain.advance(openFrom - Number(await players().chain.now()));
    await first(again, "submitted");
    await players().chain.advance(3_700);
    await first(again, "delivered");
    await again.stop();
    book.close();
  });
});
