import { getAddress, isHex, type Address, type Hex } from "viem";
import { Database, type SqlRow } from "../../base/database/database.ts";
import type { JobTerms } from "../requester/postJob.ts";
import { DispatchStateError } from "./errors.ts";

/** A job under which a part was posted or will be posted. */
export type Attempt = {
  part: number;
  /** From 0. */
  attempt: number;
  terms: JobTerms & { salt: Hex };
  /** The amount refunded after the job closed. */
  refund: bigint | undefined;
};

/** The outcome of checking a claim: not drawn, drawn and not yet executed, or the result. */
export type Check = "passed over" | "drawn" | "right" | "wrong";

/** The most bytes of an output: SQLite's rows end at 10^9 bytes, and a row has a key besides. */
export const MAX_OUTPUT_BYTES = 999_999_000;

/** "refd" in ASCII. */
const APPLICATION_ID = 0x72656664;

const SCHEMA = `
  create table batch (id text not null, chain integer not null, market text not null, requester text not null);
  create table attempts (
    part integer not null, attempt integer not null, terms text not null, refund text, primary key (part, attempt)
  );
  create table outputs (
    part integer not null, claim text not null, item integer not null, output integer not null, data blob not null,
    primary key (part, claim, item, output)
  ) without rowid;
  create table spending (
    hash text primary key, part integer not null, attempt integer not null, gas integer not null, cost text not null
  );
  create table checks (claim text primary key, part integer not null, outcome text not null);
  create table computed (claim text primary key);
  create table done (part integer primary key, claim text not null, worker text not null, source text not null);
`;

/** Files of earlier versions lack this table. */
const GPU_TABLE = "create table if not exists gpu (seconds real not null)";

/** The owner of a batch's state: the batch, the chain, the market and the requester. */
export type Owner = { batch: Hex; chainId: number; market: Address; requester: Address };

/** Where a part's bytes came from. */
export type BytesSource = "worker" | "chain" | "computed here" | "computed here, the claim is wrong";

/** How a part was done. */
type Done = { part: number; claim: Hex; worker: Address; source: BytesSource };

/**
 * A dispatcher's knowledge about a batch, on disk, besides the chain: planned posts (noted before posting), output
 * bytes, the checks' draws, and the gas spent by transactions.
 */
export class DispatchStore {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Opens a batch's state, or begins it.
   * @throws DispatchStateError, DatabaseFileError, DatabaseInUseError, DatabaseAccessError
   */
  static async open(path: string, owner: Owner): Promise<DispatchStore> {
    const content = { applicationId: APPLICATION_ID, what: "the state of a batch", schema: SCHEMA, version: 1 };
    const database = await Database.open(path, content);
    try {
      database.run(GPU_TABLE);
      const { batch, chainId, market, requester } = owner;
      const has = database.first("select * from batch");
      if (has === undefined) {
        database.run("insert into batch values (?, ?, ?, ?)", batch, chainId, market, requester);
        return new DispatchStore(database);
      }
      const differs = [
        ["inputs, program, parts or name", has.id, batch],
        ["chain", has.chain, chainId],
        ["market", getAddress(has.market as string), getAddress(market)],
        ["account", getAddress(has.requester as string), getAddress(requester)],
      ].filter(([, kept, given]) => kept !== given);
      if (differs.length > 0)
        throw new DispatchStateError(
          `${path} is of another batch (${differs.map(([what]) => String(what)).join(", ")}): give the same ` +
            "flags as then, or another state file",
        );
      return new DispatchStore(database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** All attempts of all parts, in order. */
  attempts(): Attempt[] {
    return this.#database.all("select * from attempts order by part, attempt").map(attemptOf);
  }

  /** Writes down what is about to be posted. */
  begin({ part, attempt, terms }: Omit<Attempt, "refund">): void {
    const text = JSON.stringify(terms, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
    this.#database.run("insert into attempts values (?, ?, ?, null)", part, attempt, text);
  }

  /** Notes what of an attempt's fee came back. */
  refunded(part: number, attempt: number, refund: bigint): void {
    const sql = "update attempts set refund = ? where part = ? and attempt = ?";
    this.#database.run(sql, String(refund), part, attempt);
  }

  /** Notes a transaction, once. @param cost wei. */
  spent(part: number, attempt: number, hash: Hex, gas: number, cost: bigint): void {
    const sql = "insert or ignore into spending values (?, ?, ?, ?, ?)";
    this.#database.run(sql, hash, part, attempt, gas, String(cost));
  }

  /** Notes the seconds of an execution on the dispatcher's own GPU. */
  usedGpu(seconds: number): void {
    this.#database.run("insert into gpu values (?)", seconds);
  }

  /** All seconds of the dispatcher's own GPU. */
  gpuSeconds(): number {
    return Number(this.#database.first("select coalesce(sum(seconds), 0) as seconds from gpu")!.seconds);
  }

  /** Gas and wei of a part's transactions. @param attempt Of this attempt alone, if given. */
  spending(part: number, attempt?: number): { transactions: number; gas: number; cost: bigint } {
    const rows = this.#database
      .all("select attempt, gas, cost from spending where part = ?", part)
      .filter((row) => attempt === undefined || row.attempt === attempt);
    return {
      transactions: rows.length,
      gas: rows.reduce((sum, { gas }) => sum + Number(gas), 0),
      cost: rows.reduce((sum, { cost }) => sum + BigInt(cost as string), 0n),
    };
  }

  /** Returns an output's bytes, if stored. */
  output(part: number, claim: Hex, item: number, output: number): Uint8Array | undefined {
    const sql = "select data from outputs where part = ? and claim = ? and item = ? and output = ?";
    return this.#database.first(sql, part, claim, item, output)?.data as Uint8Array | undefined;
  }

  /** Whether the bytes of an output are here. */
  hasOutput(part: number, claim: Hex, item: number, output: number): boolean {
    const sql = "select 1 from outputs where part = ? and claim = ? and item = ? and output = ?";
    return this.#database.first(sql, part, claim, item, output) !== undefined;
  }

  /** Keeps the outputs of an item. */
  keep(part: number, claim: Hex, item: number, outputs: ReadonlyMap<number, Uint8Array>): void {
    this.#database.transaction(() => {
      for (const [output, data] of outputs)
        this.#database.run("insert or replace into outputs values (?, ?, ?, ?, ?)", part, claim, item, output, data);
    });
  }

  /** Returns the outcome of checking a claim, if the draw took place. */
  check(claim: Hex): Check | undefined {
    return this.#database.first("select outcome from checks where claim = ?", claim)?.outcome as Check | undefined;
  }

  /** Notes how a claim was checked. */
  checked(part: number, claim: Hex, outcome: Check): void {
    this.#database.run("insert or replace into checks values (?, ?, ?)", claim, part, outcome);
  }

  /** Notes that the outputs for a claim's part were computed locally. */
  markComputed(claim: Hex): void {
    this.#database.run("insert or ignore into computed values (?)", claim);
  }

  isComputed(claim: Hex): boolean {
    return this.#database.first("select 1 from computed where claim = ?", claim) !== undefined;
  }

  /** Returns the number of checked claims, by outcome. */
  checks(): Record<Check, number> {
    const counts: Record<Check, number> = { "passed over": 0, drawn: 0, right: 0, wrong: 0 };
    for (const { outcome } of this.#database.all("select outcome from checks")) counts[outcome as Check]++;
    return counts;
  }

  /** Notes that a part is done, and deletes bytes under other claims on the part. */
  finish({ part, claim, worker, source }: Done): void {
    this.#database.transaction(() => {
      this.#database.run("insert or replace into done values (?, ?, ?, ?)", part, claim, worker, source);
      this.#database.run("delete from outputs where part = ? and claim != ?", part, claim);
    });
  }

  /** A reliable claim on a part: the part is done, or a check found the claim right. */
  rightClaim(part: number): Hex | undefined {
    const row =
      this.#database.first("select claim from done where part = ?", part) ??
      this.#database.first("select claim from checks where part = ? and outcome = 'right'", part);
    return row?.claim as Hex | undefined;
  }

  /** The parts that are done, in order. */
  done(): Done[] {
    return this.#database.all("select * from done order by part") as unknown as Done[];
  }

  close(): void {
    this.#database.close();
  }
}

function attemptOf({ part, attempt, terms, refund }: SqlRow): Attempt {
  const revived: unknown = JSON.parse(terms as string, (_, value: unknown) =>
    typeof value === "string" && !isHex(value) && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
  return {
    part: part as number,
    attempt: attempt as number,
    terms: revived as Attempt["terms"],
    refund: refund === null ? undefined : BigInt(refund as string),
  };
}
