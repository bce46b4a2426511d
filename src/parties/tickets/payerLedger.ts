import type { Address, Hex } from "viem";
import { Database, type SqlRow } from "../../base/database/database.ts";
import type { SignedClaim, Ticket } from "../../chain/structs.ts";
import type { AnswerBody, Payment } from "./messages.ts";
import { claimBody, claimOfBody, ticketBody, ticketOfBody } from "./messageSchemas.ts";

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

const CONTENT = {
  applicationId: 0x52665450,
  what: "the ledger of a payer's answers",
  schema: SCHEMA + TO_VERSION_2,
  version: 2,
  upgrades: [TO_VERSION_2],
};

/** Bytes as the file holds them: of zeros only, such as the first caches of a decoder, their number. */
const storedBytes = (bytes: Uint8Array): Uint8Array | number =>
  bytes.length > 0 && bytes.every((byte) => byte === 0) ? bytes.length : bytes;

/** The promises to a payer, and the payer's signatures. */
export class PayerLedger {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError */
  static async open(path: string): Promise<PayerLedger> {
    return new PayerLedger(await Database.open(path, CONTENT));
  }

  /** Keeps a signed claim before any payment. @returns false if the claim is held already */
  hold(held: Omit<HeldClaim, "ticket" | "ticketSignature" | "sent">): boolean {
    const { digest, claim, signature, nodes, inputs, fate } = held;
    return this.#database.transaction(() => {
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

  /** Keeps a ticket, before it leaves: of one answer one ticket is signed. */
  ticketed(digest: Hex, ticket: Ticket, signature: Hex): void {
    this.#database.run(
      "update held set ticket = ?, ticket_signature = ? where digest = ? and ticket is null",
      ...[JSON.stringify(ticketBody(ticket)), signature, digest],
    );
  }

  /** Keeps the verdict of an answer's execution, before any consequence. */
  judged(digest: Hex, fate: Fate): void {
    this.#database.run("update held set fate = ? where digest = ?", fate, digest);
  }

  sent(digest: Hex): void {
    this.#database.run("update held set sent = 1 where digest = ?", digest);
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

  #inputs(digest: string): Uint8Array[] {
    return this.#database
      .all("select bytes from inputs where digest = ? order by number", digest)
      .map(({ bytes }) => (typeof bytes === "number" ? new Uint8Array(bytes) : (bytes as Uint8Array)));
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
