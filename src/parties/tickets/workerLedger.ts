import type { Address, Hex } from "viem";
import { Database, type SqlRow } from "../../base/database/database.ts";
import type { SignedClaim, Ticket } from "../../chain/structs.ts";
import { ticketBody, ticketOfBody } from "./messageSchemas.ts";
import { claimBody, claimOfBody, type AnswerBody, type Payment } from "./messages.ts";
import { bytesOfStored, storedBytes } from "./storedBytes.ts";

/**
 * How far an answer is. reserved: its request was taken, nothing is signed. signed: the claim was given away. paid: its
 * ticket is there, and did not win. won: it is to be cashed. cashed: its face has left the payer's deposit, and is paid
 * after the window. closed: nothing is to come of it.
 */
type AnswerState = "reserved" | "signed" | "paid" | "won" | "cashed" | "closed";

/** A worker's record of an answer: enough to defend the answer and to cash the ticket. */
export type KeptAnswer = {
  digest: Hex;
  payer: Address;
  claim: SignedClaim;
  signature: Hex;
  secret: Hex;
  nodes: Hex;
  inputs: readonly Uint8Array[];
  state: AnswerState;
  ticket?: Ticket;
  ticketSignature?: Hex;
};

/** An answer in the form for a payer. */
export type GivenAnswer = Pick<KeptAnswer, "claim" | "signature"> & { outputs: readonly Uint8Array[] };

/** A request that is taken. */
type Reserved = {
  nonce: Hex;
  payer: Address;
  time: bigint;
  /** Seconds for the slowest execution. */
  seconds: number;
  inputsRoot: Hex;
  inputs: readonly Uint8Array[];
};

const SCHEMA = `
  create table answers (
    nonce text primary key, payer text not null, time integer not null, seconds real not null,
    inputs_root text not null, state text not null,
    digest text unique, issued integer, claim text, signature text, secret text, nodes text,
    ticket text, ticket_signature text);
  create table inputs (
    nonce text not null references answers (nonce) on delete cascade, number integer not null, bytes blob not null,
    primary key (nonce, number));
  create index answers_by_inputs on answers (inputs_root);
  create index answers_by_payer on answers (payer, state);
  create index answers_by_state on answers (state, issued);`;

/** The additions since version 1: before each execution, all answers that can still go on chain are summed. */
const TO_VERSION_2 = "create index answers_by_time on answers (issued);";

/** The additions since version 2: outputs of unpaid answers. */
const TO_VERSION_3 = `
  create table outputs (
    nonce text not null references answers (nonce) on delete cascade, number integer not null, bytes blob not null,
    primary key (nonce, number));`;

/** Both ledgers hold money: opening a file from an earlier version upgrades the file. */
const CONTENT = {
  applicationId: 0x52665457,
  what: "the ledger of a worker's answers",
  schema: SCHEMA + TO_VERSION_2 + TO_VERSION_3,
  version: 3,
  upgrades: [TO_VERSION_2, TO_VERSION_3],
};

/** A worker's signatures, and the amounts owed to the worker. Every outgoing message is written first. */
export class WorkerLedger {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError */
  static async open(path: string): Promise<WorkerLedger> {
    const database = await Database.open(path, CONTENT);
    // The worker signed nothing for these requests.
    database.run("delete from inputs where nonce in (select nonce from answers where state = 'reserved')");
    database.run("delete from answers where state = 'reserved'");
    return new WorkerLedger(database);
  }

  /**
   * Records a request before execution, with all data that a dispute on the answer needs. A power failure may undo the
   * record, but not after the answer is signed.
   * @returns false if the nonce already exists
   */
  reserve({ nonce, payer, time, seconds, inputsRoot, inputs }: Reserved): boolean {
    return this.#database.unsynced(() => {
      if (this.#database.first("select 1 from answers where nonce = ?", nonce) !== undefined) return false;
      this.#database.run(
        "insert into answers (nonce, payer, time, seconds, inputs_root, state) values (?, ?, ?, ?, ?, 'reserved')",
        ...[nonce, payer.toLowerCase(), Number(time), seconds, inputsRoot],
      );
      for (const [number, bytes] of inputs.entries())
        this.#database.run("insert into inputs values (?, ?, ?)", nonce, number, storedBytes(bytes));
      return true;
    });
  }

  /** Gives a request up whose answer failed. */
  release(nonce: Hex): void {
    this.#database.transaction(() => {
      this.#database.run("delete from inputs where nonce = ?", nonce);
      this.#database.run("delete from answers where nonce = ? and state = 'reserved'", nonce);
    });
  }

  /**
   * Keeps a signed claim. Only after that it may be given away.
   * @param seconds That count for it from now on; by default those of the reservation.
   * @param outputs To be given again until the answer is paid.
   */
  signed(
    nonce: Hex,
    answer: Pick<KeptAnswer, "digest" | "claim" | "signature" | "secret" | "nodes">,
    seconds?: number,
    outputs: readonly Uint8Array[] = [],
  ): void {
    const { digest, claim, signature, secret, nodes } = answer;
    this.#database.transaction(() => {
      this.#database.run(
        "update answers set state = 'signed', digest = ?, issued = ?, claim = ?, signature = ?, secret = ?, " +
          "nodes = ?, seconds = coalesce(?, seconds) where nonce = ?",
        ...[digest, Number(claim.issued), JSON.stringify(claimBody(claim)), signature, secret, nodes],
        ...[seconds ?? null, nonce],
      );
      for (const [number, bytes] of outputs.entries())
        this.#database.run("insert into outputs values (?, ?, ?)", nonce, number, storedBytes(bytes));
    });
  }

  /**
   * The answer given for a nonce.
   * @returns undefined for a new nonce; "nothing" for a paid or unsigned answer
   */
  given(nonce: Hex): GivenAnswer | "nothing" | undefined {
    const row = this.#database.first("select state, claim, signature from answers where nonce = ?", nonce);
    if (row === undefined) return undefined;
    const stored = this.#database.all("select bytes from outputs where nonce = ? order by number", nonce);
    if (row.state !== "signed" || stored.length === 0) return "nothing";
    const outputs = stored.map(({ bytes }) => bytesOfStored(bytes));
    const claim = JSON.parse(row.claim as string) as AnswerBody["claim"];
    return { claim: claimOfBody({ claim }), signature: row.signature as Hex, outputs };
  }

  /** Keeps the ticket of an answer. The payer has the outputs then. */
  paid(digest: Hex, ticket: Ticket, signature: Hex, wins: boolean): void {
    this.#database.transaction(() => {
      this.#database.run(
        "update answers set state = ?, ticket = ?, ticket_signature = ? where digest = ? and state = 'signed'",
        ...[wins ? "won" : "paid", JSON.stringify(ticketBody(ticket)), signature, digest],
      );
      this.#database.run("delete from outputs where nonce in (select nonce from answers where digest = ?)", digest);
    });
  }

  /** Notes that a winner is cashed, or is not, after a reorganisation. */
  cashed(digest: Hex, isCashed: boolean): void {
    const [from, to] = isCashed ? ["won", "cashed"] : ["cashed", "won"];
    this.#database.run("update answers set state = ? where digest = ? and state = ?", to, digest, from);
  }

  /** Marks an answer's ticket as finished. */
  close(digest: Hex): void {
    this.#database.run("update answers set state = 'closed' where digest = ?", digest);
  }

  /** Counts a payer's unpaid answers issued after a time, plus answers under way. */
  unpaid(payer: Address, since: bigint): number {
    const row = this.#database.first(
      "select count(*) as n from answers where payer = ? and " +
        "(state = 'reserved' or (state = 'signed' and issued > ?))",
      ...[payer.toLowerCase(), Number(since)],
    );
    return Number(row!.n);
  }

  /** Returns the debt of the payer's deposit for winning, uncashed tickets. */
  owed(payer: Address): bigint {
    const rows = this.#database.all(
      "select ticket from answers where payer = ? and state = 'won'",
      payer.toLowerCase(),
    );
    return rows.reduce((sum, row) => sum + ticketOf(row).face, 0n);
  }

  /** Seconds that the slowest exact executions of all answers take that can be put on chain, or are to be cashed. */
  liveSeconds(since: bigint): number {
    const row = this.#database.first(
      "select coalesce(sum(seconds), 0) as s from answers where state in ('reserved', 'won', 'cashed') or issued > ?",
      Number(since),
    );
    return Number(row!.s);
  }

  /** The programs of claims that were signed after a time, each with the time of its latest claim. */
  programsSince(since: bigint): { programRoot: Hex; issued: bigint }[] {
    const rows = this.#database.all(
      "select json_extract(claim, '$.programRoot') as root, max(issued) as issued from answers " +
        "where issued > ? and claim is not null group by root",
      Number(since),
    );
    return rows.map(({ root, issued }) => ({ programRoot: root as Hex, issued: BigInt(issued as number) }));
  }

  /** The answer whose signed claim has a digest. */
  find(digest: Hex): KeptAnswer | undefined {
    const row = this.#database.first("select * from answers where digest = ?", digest);
    return row && this.#answerOf(row);
  }

  /** The answers whose tickets won, and are to be cashed or paid. */
  winners(): KeptAnswer[] {
    const rows = this.#database.all("select * from answers where state in ('won', 'cashed')");
    return rows.map((row) => this.#answerOf(row));
  }

  /** How many answers there are of each state. */
  counts(): Map<AnswerState, number> {
    const rows = this.#database.all("select state, count(*) as n from answers group by state");
    return new Map(rows.map(({ state, n }) => [state as AnswerState, Number(n)]));
  }

  /**
   * Forgets answers issued before a time, except answers still to be cashed: nothing about the forgotten answers can go
   * on chain.
   */
  forget(before: bigint): void {
    this.#database.transaction(() => {
      const old = "select nonce from answers where issued < ? and state in ('signed', 'paid', 'closed')";
      for (const table of ["inputs", "outputs"])
        this.#database.run(`delete from ${table} where nonce in (${old})`, Number(before));
      this.#database.run(`delete from answers where nonce in (${old})`, Number(before));
    });
  }

  /**
   * Returns the inputs of some answer with the root: for one program and item count, the same root means the same
   * bytes.
   */
  inputsOf(inputsRoot: Hex): Uint8Array[] | undefined {
    const row = this.#database.first("select nonce from answers where inputs_root = ?", inputsRoot);
    return row && this.#inputs(row.nonce as string);
  }

  end(): void {
    this.#database.close();
  }

  #inputs(nonce: string): Uint8Array[] {
    return this.#database
      .all("select bytes from inputs where nonce = ? order by number", nonce)
      .map(({ bytes }) => bytesOfStored(bytes));
  }

  #answerOf(row: SqlRow): KeptAnswer {
    return {
      digest: row.digest as Hex,
      payer: row.payer as Address,
      claim: claimOfBody({ claim: JSON.parse(row.claim as string) as AnswerBody["claim"] }),
      signature: row.signature as Hex,
      secret: row.secret as Hex,
      nodes: row.nodes as Hex,
      inputs: this.#inputs(row.nonce as string),
      state: row.state as AnswerState,
      ...(row.ticket === null ? {} : { ticket: ticketOf(row), ticketSignature: row.ticket_signature as Hex }),
    };
  }
}

const ticketOf = ({ ticket }: SqlRow): Ticket =>
  ticketOfBody({ ticket: JSON.parse(ticket as string) as Payment["ticket"] });
