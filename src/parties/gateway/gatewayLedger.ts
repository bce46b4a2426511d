import { Database, type SqlRow } from "../../base/database/database.ts";
import type { BoughtBlock } from "./receiptParts.ts";

/** What is fixed when a request is taken: the same request, sent again, gives the same text. */
type Taken = { seed: string; clock: number };

export type NewRequest = {
  owner: string;
  idempotency: string | undefined;
  fingerprint: string;
  taken: Taken;
  time: number;
};

/** A request that is worked on. */
export type UnderWay = {
  number: number;
  /** The rest of the highest cost, smallest units. */
  reserved: bigint;
  /** Whether its client has the whole answer. */
  isGiven: boolean;
};

/** A request, with the blocks that were bought for it. */
export type KeptRequest = { number: number; fingerprint: string; taken: Taken; blocks: BoughtBlock[] };

/** Money reserved by requests under way is no part of the file: after a start, no request is under way. */
const TO_VERSION_2 = "alter table money drop column reserved;";

/** Requests without a key of idempotency; the name in place of a key once the client left, impossible in a header. */
const [ANONYMOUS, LEFT] = ["idempotency is null", "char(10) || fingerprint"];

const CONTENT = {
  applicationId: 0x52665447,
  what: "the ledger of a gateway",
  schema: `
    create table requests (
      number integer primary key autoincrement, owner text not null, idempotency text, fingerprint text not null,
      taken text not null, time integer not null, receipt_id text unique, receipt text, unique (owner, idempotency));
    create table blocks (
      request integer not null references requests (number) on delete cascade, number integer not null,
      body text not null, primary key (request, number));
    create table money (owner text primary key, spent text not null, reserved text not null);
    ${TO_VERSION_2}`,
  version: 2,
  upgrades: [TO_VERSION_2],
};

/** What a gateway sold: money by key, blocks by request, receipts by id. It holds no prompt. */
export class GatewayLedger {
  readonly #database: Database;
  /** By owner, the highest cost for all requests under way. */
  readonly #reserved = new Map<string, bigint>();

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError */
  static async open(path: string): Promise<GatewayLedger> {
    const database = await Database.open(path, CONTENT);
    // The clients got no answers to the requests under way.
    database.run(`update or ignore requests set idempotency = ${LEFT} where ${ANONYMOUS} and receipt is null`);
    return new GatewayLedger(database);
  }

  /** A request that came before under the same key of idempotency. */
  find(owner: string, idempotency: string): KeptRequest | undefined {
    const row = this.#database.first(
      "select * from requests where owner = ? and idempotency = ?",
      ...[owner, idempotency],
    );
    return row && this.#kept(row);
  }

  /** An earlier request with a fingerprint and without a key of idempotency, if the client left without an answer. */
  findLeft(owner: string, fingerprint: string): KeptRequest | undefined {
    const row = this.#database.first(
      "select * from requests where owner = ? and idempotency = char(10) || ?",
      ...[owner, fingerprint],
    );
    return row && this.#kept(row);
  }

  /** Notes that a retry goes on with an abandoned request: no other retry finds the request. */
  resume(number: number): void {
    this.#database.unsynced(() =>
      this.#database.run("update requests set idempotency = null where number = ?", number),
    );
  }

  /**
   * Keeps a new request and reserves the highest cost of the request.
   * @param time Unix seconds. @returns undefined, and keeps nothing, if the budget is too small
   */
  add(
    { owner, idempotency, fingerprint, taken, time }: NewRequest,
    amount: bigint,
    budget: bigint | undefined,
  ): KeptRequest | undefined {
    if (!this.#has(owner, amount, budget)) return undefined;
    const number = this.#database.unsynced(() => {
      this.#database.run(
        "insert into requests (owner, idempotency, fingerprint, taken, time) values (?, ?, ?, ?, ?)",
        ...[owner, idempotency ?? null, fingerprint, JSON.stringify(taken), time],
      );
      return Number(this.#database.first("select last_insert_rowid() as n")!.n);
    });
    this.#add(owner, amount);
    return { number, fingerprint, taken, blocks: [] };
  }

  /**
   * Reserves the highest cost for the rest of a request, smallest units.
   * @param budget Undefined: without limit. @returns false if the budget does not have it
   */
  reserve(owner: string, amount: bigint, budget: bigint | undefined): boolean {
    if (!this.#has(owner, amount, budget)) return false;
    this.#add(owner, amount);
    return true;
  }

  /**
   * Ends a request: gives the rest of the reserve back. Without a key of idempotency, a request without blocks is
   * forgotten, and a request without an answer is kept for a retry.
   */
  release(owner: string, { number, reserved, isGiven }: UnderWay): void {
    this.#add(owner, -reserved);
    this.#database.unsynced(() => {
      this.#database.run(
        `delete from requests where number = ? and ${ANONYMOUS} and ` +
          "not exists (select 1 from blocks where request = requests.number)",
        number,
      );
      if (isGiven) return;
      // If an equal request was abandoned before, a retry finds only the earlier request.
      this.#database.run(
        `update or ignore requests set idempotency = ${LEFT} where number = ? and ${ANONYMOUS}`,
        number,
      );
    });
  }

  /** Keeps a block, and counts the reserved price as spent. The block is given once `flushed` has resolved. */
  bought(owner: string, request: number, number: number, block: BoughtBlock, price: bigint, reserved: bigint): void {
    this.#database.unsynced(() => {
      this.#database.run("insert into blocks values (?, ?, ?)", request, number, JSON.stringify(block));
      this.#database.run(
        "insert into money values (?, ?) on conflict (owner) do update set spent = excluded.spent",
        ...[owner, String(this.money(owner).spent + price)],
      );
    });
    this.#add(owner, -reserved);
  }

  /** Waits until all kept data survive a power failure. @throws DatabaseAccessError */
  flushed(): Promise<void> {
    return this.#database.flushed();
  }

  /** Keeps a receipt, under its id. The blocks it has are kept before. */
  ended(request: number, id: string, receipt: object): void {
    this.#database.unsynced(() =>
      this.#database.run(
        "update requests set receipt_id = ?, receipt = ? where number = ?",
        ...[id, JSON.stringify(receipt), request],
      ),
    );
  }

  /** A receipt of this owner as JSON. */
  receipt(owner: string, id: string): string | undefined {
    const row = this.#database.first("select receipt from requests where owner = ? and receipt_id = ?", owner, id);
    return row?.receipt as string | undefined;
  }

  /** Returns what an owner spent, and what its requests under way may cost. */
  money(owner: string): { spent: bigint; reserved: bigint } {
    const row = this.#database.first("select spent from money where owner = ?", owner);
    return { spent: BigInt((row?.spent as string) ?? 0), reserved: this.#reserved.get(owner) ?? 0n };
  }

  /** Forgets requests from before a time, unix seconds, with their receipts. */
  forget(before: number): void {
    this.#database.transaction(() => {
      this.#database.run("delete from blocks where request in (select number from requests where time < ?)", before);
      this.#database.run("delete from requests where time < ?", before);
    });
  }

  end(): void {
    this.#database.close();
  }

  /** Whether a budget has an amount. */
  #has(owner: string, amount: bigint, budget: bigint | undefined): boolean {
    const { spent, reserved } = this.money(owner);
    return budget === undefined || spent + reserved + amount <= budget;
  }

  #add(owner: string, amount: bigint): void {
    const sum = (this.#reserved.get(owner) ?? 0n) + amount;
    if (sum === 0n) this.#reserved.delete(owner);
    else this.#reserved.set(owner, sum);
  }

  #kept({ number, fingerprint, taken }: SqlRow): KeptRequest {
    const rows = this.#database.all("select body from blocks where request = ? order by number", number as number);
    return {
      number: number as number,
      fingerprint: fingerprint as string,
      taken: JSON.parse(taken as string) as Taken,
      blocks: rows.map(({ body }) => JSON.parse(body as string) as BoughtBlock),
    };
  }
}
