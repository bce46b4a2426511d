import { expect } from "chai";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Hex } from "viem";
import type { SignedClaim, Ticket } from "../../../src/chain/structs.ts";
import { DatabaseFileError } from "../../../src/base/database/errors.ts";
import { PayerLedger } from "../../../src/parties/tickets/payerLedger.ts";
import { paymentSchema, questionSchema } from "../../../src/parties/tickets/messageSchemas.ts";
import { WorkerLedger } from "../../../src/parties/tickets/workerLedger.ts";
import { rejection } from "../../../testkit/rejection.ts";

const word = (digit: string): Hex => `0x${digit.repeat(64)}`;
const account = (digit: string): Hex => `0x${digit.repeat(40)}`;
const SIGNATURE: Hex = `0x${"9".repeat(130)}`;
const claimOf = (issued: bigint): SignedClaim => ({
  ...{ worker: account("1"), payer: account("2"), programRoot: word("3"), inputsRoot: word("4") },
  ...{ items: 1, firstItem: 0, number: issued, issued, root: word("5"), secretHash: word("6") },
});
const TICKET: Ticket = { claim: word("a"), face: 7n, odds: 2n ** 255n, expiry: 2_000n, nonce: word("8") };

describe("messages of payers", () => {
  it("numberThatIsNone_isRefused_ratherThanAFailure", () => {
    const request = { worker: account("1"), programRoot: word("3"), inputsRoot: word("4"), items: 1, firstItem: 0 };
    const question = (time: string) =>
      questionSchema.safeParse({
        ...{ payer: account("2"), signature: SIGNATURE, inputs: [] },
        request: { ...request, time, nonce: word("7") },
      });
    expect(question("1700000000").success).to.equal(true);
    for (const time of ["1e5", "-1", "0x10", "1.5", "", " 1", String(2n ** 64n)])
      expect(question(time).error?.issues[0]?.path, time).to.deep.equal(["request", "time"]);
    const face = { claim: word("a"), face: "1e5", odds: "1", expiry: "1", nonce: word("8") };
    expect(paymentSchema.safeParse({ ticket: face, signature: SIGNATURE }).success).to.equal(false);
  });
});

describe("the ledgers of workers and payers", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-ledgers-"));
    path = join(folder, "state.db");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function reserve(ledger: WorkerLedger, nonce: Hex, digest: Hex, issued: bigint): void {
    const request = { nonce, payer: account("2"), time: issued, seconds: 3, inputsRoot: word("4") };
    expect(ledger.reserve({ ...request, inputs: [new Uint8Array([1, 2, 3])] })).to.equal(true);
    const signed = { claim: claimOf(issued), signature: SIGNATURE, secret: word("7"), nodes: word("5") };
    ledger.signed(nonce, { digest, ...signed });
  }
  function hold(ledger: PayerLedger, digest: Hex, issued: bigint): void {
    const claim = { claim: claimOf(issued), signature: SIGNATURE, nodes: word("5") };
    ledger.hold({ digest, ...claim, inputs: [new Uint8Array([4, 5])], fate: "open" });
  }
  /** Makes of a file one of another version. */
  function become(version: number, ...drop: string[]): void {
    const raw = new DatabaseSync(path);
    for (const index of drop) raw.exec(`drop index ${index}`);
    for (const table of version < 3 ? ["outputs", "asked_inputs", "asked"] : [])
      raw.exec(`drop table if exists ${table}`);
    if (drop.includes("held_by_worker")) raw.exec("alter table held drop column fate");
    raw.exec(`pragma user_version = ${version}`);
    raw.close();
  }
  const versionOf = (): unknown => {
    const raw = new DatabaseSync(path);
    const { user_version } = raw.prepare("pragma user_version").get()!;
    raw.close();
    return user_version;
  };

  it("ofAnOlderVersion_areBroughtToThisOne_withAllThatTheyHold", async () => {
    const first = await WorkerLedger.open(path);
    reserve(first, word("b"), word("a"), 1_000n);
    first.paid(word("a"), TICKET, SIGNATURE, true);
    first.end();
    become(1, "answers_by_time");
    const again = await WorkerLedger.open(path);
    const [winner] = again.winners();
    expect(winner).to.deep.include({ digest: word("a"), ticket: TICKET, secret: word("7"), claim: claimOf(1_000n) });
    expect(again.inputsOf(word("4"))).to.deep.equal([new Uint8Array([1, 2, 3])]);
    expect(again.liveSeconds(0n)).to.equal(3);
    again.end();
    expect(versionOf()).to.equal(3);
  });

  it("winnerThatIsCashed_isOwedNoMore_isPaidStill_andComesBackAfterAReorganisation", async () => {
    const ledger = await WorkerLedger.open(path);
    reserve(ledger, word("b"), word("a"), 1_000n);
    ledger.paid(word("a"), TICKET, SIGNATURE, true);
    expect(ledger.owed(account("2"))).to.equal(TICKET.face);
    ledger.cashed(word("a"), true);
    expect(ledger.owed(account("2"))).to.equal(0n);
    expect(ledger.winners()).to.have.length(1);
    expect(ledger.liveSeconds(5_000n)).to.equal(3);
    ledger.cashed(word("a"), false);
    expect(ledger.owed(account("2"))).to.equal(TICKET.face);
    ledger.cashed(word("a"), true);
    ledger.close(word("a"));
    ledger.cashed(word("a"), false);
    expect(ledger.winners()).to.have.length(0);
    ledger.end();
  });

  it("ofAPayer_likewise", async () => {
    const first = await PayerLedger.open(path);
    hold(first, word("a"), 1_000n);
    first.ticketed(word("a"), TICKET, SIGNATURE);
    first.end();
    become(1, "held_by_worker", "held_by_inputs", "held_by_time");
    const again = await PayerLedger.open(path);
    expect(again.unsent(account("1"))).to.have.length(1);
    expect(again.find(word("a"))).to.deep.include({ ticket: TICKET, sent: false, inputs: [new Uint8Array([4, 5])] });
    again.end();
    expect(versionOf()).to.equal(3);
  });

  it("ofANewerVersion_areRefusedByName_andLeftAsTheyAre", async () => {
    for (const open of [(file: string) => WorkerLedger.open(file), (file: string) => PayerLedger.open(file)]) {
      (await open(path)).end();
      become(4);
      const error = await rejection(open(path));
      expect(error).to.be.instanceOf(DatabaseFileError);
      expect(error.message).to.contain(path).and.contain("in version 4").and.contain("reads 3");
      expect(versionOf()).to.equal(4);
      rmSync(path);
    }
  });

  it("forgetWhatNothingCanComeOfAnyMore_andKeepWinners", async () => {
    const worker = await WorkerLedger.open(path);
    reserve(worker, word("b"), word("a"), 1_000n);
    reserve(worker, word("c"), word("d"), 1_000n);
    reserve(worker, word("e"), word("f"), 5_000n);
    worker.paid(word("a"), TICKET, SIGNATURE, true);
    worker.forget(4_000n);
    expect([...worker.counts()].sort()).to.deep.equal([
      ["signed", 1],
      ["won", 1],
    ]);
    worker.close(word("a"));
    worker.forget(4_000n);
    expect(worker.find(word("a"))).to.equal(undefined);
    worker.end();
    const payer = await PayerLedger.open(join(folder, "payer.db"));
    hold(payer, word("a"), 1_000n);
    hold(payer, word("b"), 5_000n);
    payer.forget(4_000n);
    expect([payer.find(word("a")), payer.find(word("b"))?.digest]).to.deep.equal([undefined, word("b")]);
    payer.judged(word("b"), "wrong");
    payer.forget(9_000n);
    expect(payer.isLiar(account("1"))).to.equal(true);
    payer.end();
  });

  it("ofAWorker_giveAnUnpaidAnswerAgain_alsoAfterAStart_andNoOtherOne", async () => {
    let ledger = await WorkerLedger.open(path);
    const reserved = { payer: account("2"), time: 1_000n, seconds: 3, inputsRoot: word("4") };
    const inputs = [new Uint8Array(4_000_000), new Uint8Array([1])];
    const signed = { claim: claimOf(1_000n), signature: SIGNATURE, secret: word("7"), nodes: word("5") };
    const outputs = [new Uint8Array([7, 0]), new Uint8Array(9)];
    expect(ledger.given(word("b"))).to.equal(undefined);
    ledger.reserve({ ...reserved, nonce: word("b"), inputs });
    expect(ledger.given(word("b"))).to.equal("nothing");
    ledger.signed(word("b"), { digest: word("a"), ...signed }, 3, outputs);
    ledger.reserve({ ...reserved, nonce: word("c"), inputs });
    ledger.end();
    ledger = await WorkerLedger.open(path);
    expect(ledger.given(word("b"))).to.deep.equal({ claim: signed.claim, signature: SIGNATURE, outputs });
    expect(ledger.given(word("c"))).to.equal(undefined);
    expect(ledger.find(word("a"))!.inputs).to.deep.equal(inputs);
    ledger.paid(word("a"), TICKET, SIGNATURE, false);
    expect(ledger.given(word("b"))).to.equal("nothing");
    ledger.forget(4_000n);
    expect(ledger.given(word("b"))).to.equal(undefined);
    ledger.end();
    expect(statSync(path).size).to.be.below(1_000_000);
  });

  it("ofAPayer_goOnWithARequestThatNobodyWaitsFor_underItsNonce", async () => {
    const request = (nonce: Hex, time: bigint, items = 1) => ({
      ...{ worker: account("1"), programRoot: word("3"), inputsRoot: word("4"), items, firstItem: 0, time, nonce },
    });
    const inputs = [new Uint8Array([1, 2]), new Uint8Array(5_000)];
    const asks = (nonce: Hex, time = 1_000n, items = 1, since = 900n) =>
      ledger.asks({ request: request(nonce, time, items), inputs }, since);
    let ledger = await PayerLedger.open(path);
    expect(asks(word("b")).nonce).to.equal(word("b"));
    // Somebody waits for it.
    expect(asks(word("c")).nonce).to.equal(word("c"));
    ledger.unanswered(word("b"), false);
    expect(asks(word("d"), 1_100n)).to.include({ nonce: word("b"), time: 1_000n });
    expect(asks(word("e"), 1_100n, 2).nonce).to.equal(word("e"));
    ledger.unanswered(word("e"), true);
    expect(ledger.lost(account("1"), word("3"), 0n, 2_000n)).to.deep.equal([]);
    // After a kill nobody waits.
    ledger.end();
    ledger = await PayerLedger.open(path);
    const lost = ledger.lost(account("1"), word("3"), 0n, 2_000n);
    expect(lost).to.deep.equal([word("b"), word("c")].map((nonce) => ({ request: request(nonce, 1_000n), inputs })));
    expect(ledger.lost(account("1"), word("3"), 1_001n, 2_000n)).to.deep.equal([]);
    expect(asks(word("f"), 2_000n, 1, 1_500n).nonce).to.equal(word("f"));
    const claim = { claim: claimOf(1_000n), signature: SIGNATURE, nodes: word("5"), inputs, fate: "open" } as const;
    ledger.hold({ digest: word("a"), ...claim }, word("b"));
    ledger.forget(1_500n);
    ledger.unanswered(word("f"), false);
    expect(ledger.lost(account("1"), word("3"), 0n, 9_000n).map(({ request: { nonce } }) => nonce)).to.deep.equal([
      word("f"),
    ]);
    ledger.end();
  });

  it("ofAPayer_keepAClaimOnce_andZerosAsTheirNumber", async () => {
    const ledger = await PayerLedger.open(path);
    const zeros = new Uint8Array(4_000_000);
    const held = {
      digest: word("a"),
      claim: claimOf(1_000n),
      signature: SIGNATURE,
      nodes: word("5"),
      fate: "open",
    } as const;
    expect(ledger.hold({ ...held, inputs: [zeros, new Uint8Array([0, 1]), new Uint8Array()] })).to.equal(true);
    expect(ledger.hold({ ...held, inputs: [] })).to.equal(false);
    expect(ledger.find(word("a"))!.inputs).to.deep.equal([zeros, new Uint8Array([0, 1]), new Uint8Array()]);
    expect(ledger.isLiar(account("1"))).to.equal(false);
    ledger.end();
    expect(statSync(path).size).to.be.below(1_000_000);
  });
});
