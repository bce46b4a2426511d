import type { Address, Hex } from "viem";
import { Database, type SqlRow } from "../../base/database/database.ts";
import type { SignedClaim, Ticket } from "../../chain/structs.ts";
import { ticketBody, ticketOfBody } from "./messageSchemas.ts";
import { claimBody, claimOfBody, type AnswerBody, type Payment } from "./messages.ts";
import { bytesOfStored, storedBytes } from "./storedBytes.ts";
import type { AnswerRequest } from "./typedData.ts";

/**
 * The fate of an answer. open: the answer is paid. drawn: the answer is executed locally before payment. wrong:
 * execution showed a lie; the claim goes on chain and is never paid.
 */
type Fate = "open" | "drawn" | "wrong";

/** A payer's record of an answer: enough to refute the answer, and to pay again with the same ticket. */
export type HeldClaim = {
  digest: Hex;
  claim: SignedClaim;
  signature: Hex;
  nodes: Hex;
  inputs: readonly Uint8Array[];
  ticket?: Ticket;
  ticketSignature?: Hex;
  /** Whether the worker has the ticket. */
  sent: boolean;
  fate: Fate;
};

const SCHEMA = `
  create table held (
    digest text primary key, worker text not null, issued integer not null, inputs_root text not null,
    claim text not null,
    signature text not null, nodes text not null, ticket text, ticket_signature text, sent integer not null default 0);
  create table inputs (
    digest text not null references held (digest) on delete cascade, number integer not null, bytes blob not null,
    primary key (digest, number));`;

/** The additions since version 1. */
const TO_VERSION_2 = `
  alter table held add column fate text not null default 'open';
  create index held_by_worker on held (worker, sent);
  create index held_by_inputs on held (inputs_root);
  create index held_by_time on held (issued);`;

/** The additions since version 2: requests without answers. */
const TO_VERSION_3 = `
  create table asked (
    nonce text primary key, worker text not null, program_root text not null, about text not null,
    request text not null, time integer not null);
  create table asked_inputs (
    nonce text not null references asked (nonce) on delete cascade, number integer not null, bytes blob not null,
    primary key (nonce, number));
  create index asked_by_worker on asked (worker, program_root);`;

const CONTENT = {
  applicationId: 0x52665450,
  what: "the ledger of a payer's answers",
  schema: SCHEMA + TO_VERSION_2 + TO_VERSION_3,
  version: 3,
  upgrades: [TO_VERSION_2, TO_VERSION_3],
};

/** A sent request without an answer. The time is the time of the first sending. */
type AskedRequest = { request: AnswerRequest; inputs: readonly Uint8Array[] };

/** The promises to a payer, and the payer's signatures. */
export class PayerLedger {
  readonly #database: Database;
  /** Nonces of the requests under way in this process. */
  readonly #waiting = new Set<string>();

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError */
  static async open(path: string): Promise<PayerLedger> {
    return new PayerLedger(await Database.open(path, CONTENT));
  }

  /**
   * Keeps a request before sending. An abandoned request for the same answer goes on under the old nonce: the worker
   * may have signed an answer.
   * @param since Unix seconds: answers of earlier requests are too old.
   * @returns the request with the nonce and the first time, to be ended by `hold` or `unanswered`; the given object for
   *   a new request
   */
  asks({ request, inputs }: AskedRequest, since: bigint): AnswerRequest {
    const about = aboutOf(request);
    const earlier = this.#database
      .all("select nonce, time from asked where worker = ? and program_root = ? and about = ?", ...about)
      .find(({ nonce, time }) => !this.#waiting.has(nonce as string) && BigInt(time as number) >= since);
    if (earlier !== undefined) {
      const nonce = earlier.nonce as Hex;
      this.#waiting.add(nonce);
      return { ...request, nonce, time: BigInt(earlier.time as number) };
    }
    const { nonce } = request;
    this.#database.unsynced(() => {
      const body = JSON.stringify({ ...request, time: String(request.time) });
      this.#database.run("insert into asked values (?, ?, ?, ?, ?, ?)", nonce, ...about, body, Number(request.time));
      for (const [number, bytes] of inputs.entries())
        this.#database.run("insert into asked_inputs values (?, ?, ?)", nonce, number, storedBytes(bytes));
    });
    this.#waiting.add(nonce);
    return request;
  }

  /** Ends the waiting for an answer. @param isRefused Whether the worker gave a refusal: the request is forgotten. */
  unanswered(nonce: Hex, isRefused: boolean): void {
    this.#waiting.delete(nonce);
    if (isRefused) this.#database.unsynced(() => this.#forgetAsked("nonce = ?", nonce));
  }

  /** Abandoned requests to a worker about a program, sent between two times. */
  lost(worker: Address, programRoot: Hex, since: bigint, until: bigint): AskedRequest[] {
    return this.#database
      .all(
        "select nonce, request from asked where worker = ? and program_root = ? and time between ? and ?",
        ...[worker.toLowerCase(), programRoot.toLowerCase(), Number(since), Number(until)],
      )
      .filter(({ nonce }) => !this.#waiting.has(nonce as string))
      .map(({ nonce, request }) => {
        const body = JSON.parse(request as string) as AnswerRequest & { time: string };
        const rows = this.#database.all("select bytes from asked_inputs where nonce = ? order by number", nonce!);
        return { request: { ...body, time: BigInt(body.time) }, inputs: rows.map(({ bytes }) => bytesOfStored(bytes)) };
      });
  }

  /**
   * Keeps a signed claim. Its ticket waits for the disk with it: see `flushed`.
   * @param nonce Of the answered request.
   * @returns false if the claim is held already
   */
  hold(held: Omit<HeldClaim, "ticket" | "ticketSignature" | "sent">, nonce?: Hex): boolean {
    const { digest, claim, signature, nodes, inputs, fate } = held;
    if (nonce !== undefined) this.#waiting.delete(nonce);
    return this.#database.unsynced(() => {
      if (nonce !== undefined) this.#forgetAsked("nonce = ?", nonce);
      if (this.#database.first("select 1 from held where digest = ?", digest) !== undefined) return false;
      this.#database.run(
        "insert into held (digest, worker, issued, inputs_root, claim, signature, nodes, fate) " +
          "values (?, ?, ?, ?, ?, ?, ?, ?)",
        ...[digest, claim.worker.toLowerCase(), Number(claim.issued), claim.inputsRoot],
        ...[JSON.stringify(claimBody(claim)), signature, nodes, fate],
      );
      for (const [number, bytes] of inputs.entries())
        this.#database.run("insert into inputs values (?, ?, ?)", digest, number, storedBytes(bytes));
      return true;
    });
  }

  /** Keeps a ticket, the only one for its answer. The ticket leaves once `flushed` has resolved. */
  ticketed(digest: Hex, ticket: Ticket, signature: Hex): void {
    this.#database.unsynced(() =>
      this.#database.run(
        "update held set ticket = ?, ticket_signature = ? where digest = ? and ticket is null",
        ...[JSON.stringify(ticketBody(ticket)), signature, digest],
      ),
    );
  }

  /** Waits until all kept data survive a power failure. @throws DatabaseAccessError */
  flushed(): Promise<void> {
    return this.#database.flushed();
  }

  /** Keeps the verdict of an answer's execution, before any consequence. */
  judged(digest: Hex, fate: Fate): void {
    this.#database.run("update held set fate = ? where digest = ?", fate, digest);
  }

  /** Notes that the worker has the ticket. After a power failure it may be sent again. */
  sent(digest: Hex): void {
    this.#database.unsynced(() => this.#database.run("update held set sent = 1 where digest = ?", digest));
  }

  find(digest: Hex): HeldClaim | undefined {
    const row = this.#database.first("select * from held where digest = ?", digest);
    return row && this.#held(row);
  }

  /** Returns a worker's unpaid answers, to the ledger's knowledge. */
  unsent(worker: Address): HeldClaim[] {
    return this.#database
      .all("select * from held where worker = ? and sent = 0", worker.toLowerCase())
      .map((row) => this.#held(row));
  }

  /** Whether a worker was found to lie. */
  isLiar(worker: Address): boolean {
    const row = this.#database.first(
      "select 1 from held where worker = ? and fate = 'wrong' limit 1",
      worker.toLowerCase(),
    );
    return row !== undefined;
  }

  /** Forgets what was issued before a time, which cannot be put on chain any more; of a lie all but the claim. */
  forget(before: bigint): void {
    this.#database.transaction(() => {
      this.#database.run(
        "delete from inputs where digest in (select digest from held where issued < ?)",
        Number(before),
      );
      this.#database.run("delete from held where issued < ? and fate <> 'wrong'", Number(before));
      this.#forgetAsked("time < ?", Number(before));
    });
  }

  /**
   * Returns the inputs of some answer with the root: for one program and item count, the same root means the same
   * bytes.
   */
  inputsOf(inputsRoot: Hex): Uint8Array[] | undefined {
    const row = this.#database.first("select digest from held where inputs_root = ? order by issued desc", inputsRoot);
    return row && this.#inputs(row.digest as string);
  }

  end(): void {
    this.#database.close();
  }

  #forgetAsked(which: string, value: string | number): void {
    this.#database.run(`delete from asked_inputs where nonce in (select nonce from asked where ${which})`, value);
    this.#database.run(`delete from asked where ${which}`, value);
  }

  #inputs(digest: string): Uint8Array[] {
    return this.#database
      .all("select bytes from inputs where digest = ? order by number", digest)
      .map(({ bytes }) => bytesOfStored(bytes));
  }

  #held(row: SqlRow): HeldClaim {
    const digest = row.digest as Hex;
    return {
      digest,
      claim: claimOfBody({ claim: JSON.parse(row.claim as string) as AnswerBody["claim"] }),
      signature: row.signature as Hex,
      nodes: row.nodes as Hex,
      inputs: this.#inputs(digest),
      sent: row.sent === 1,
      fate: row.fate as Fate,
      ...(row.ticket === null
        ? {}
        : {
            ticket: ticketOfBody({ ticket: JSON.parse(row.ticket as string) as Payment["ticket"] }),
            ticketSignature: row.ticket_signature as Hex,
          }),
    };
  }
}

/** What requests for the same answer have in common. */
const aboutOf = ({ worker, programRoot, inputsRoot, items, firstItem }: AnswerRequest): [string, string, string] => [
  worker.toLowerCase(),
  programRoot.toLowerCase(),
  `${inputsRoot.toLowerCase()} ${items} ${firstItem}`,
];
