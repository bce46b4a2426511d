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

/** A request, with the blocks that were bought for it. */
export type KeptRequest = { number: number; fingerprint: string; taken: Taken; blocks: BoughtBlock[] };

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
    create table money (owner text primary key, spent text not null, reserved text not null);`,
  version: 1,
};

/** What a gateway sold: money by key, blocks by request, receipts by id. It holds no prompt. */
export class GatewayLedger {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError */
  static async open(path: string): Promise<GatewayLedger> {
    const database = await Database.open(path, CONTENT);
    // No request is under way: each block that was bought is counted already.
    database.run("update money set reserved = '0'");
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

  /**
   * Keeps a new request and reserves the highest cost of the request.
   * @param time Unix seconds. @returns undefined, and keeps nothing, if the budget is too small
   */
  add(
    { owner, idempotency, fingerprint, taken, time }: NewRequest,
    amount: bigint,
    budget: bigint | undefined,
  ): KeptRequest | undefined {
    return this.#database.unsynced(() => {
      if (!this.#reserve(owner, amount, budget)) return undefined;
      this.#database.run(
        "insert into requests (owner, idempotency, fingerprint, taken, time) values (?, ?, ?, ?, ?)",
        ...[owner, idempotency ?? null, fingerprint, JSON.stringify(taken), time],
      );
      const number = Number(this.#database.first("select last_insert_rowid() as n")!.n);
      return { number, fingerprint, taken, blocks: [] };
    });
  }

  /**
   * Reserves the highest cost for the rest of a request, smallest units.
   * @param budget Undefined: without limit. @returns false if the budget does not have it
   */
  reserve(owner: string, amount: bigint, budget: bigint | undefined): boolean {
    return this.#database.unsynced(() => this.#reserve(owner, amount, budget));
  }

  /** Gives a rest of the reserve back, and forgets a request without blocks and without a key of idempotency. */
  release(owner: string, amount: bigint, request: number): void {
    this.#database.unsynced(() => {
      const { spent, reserved } = this.money(owner);
      this.#write(owner, spent, reserved - amount);
      this.#database.run(
        "delete from requests where number = ? and idempotency is null and " +
          "not exists (select 1 from blocks where request = requests.number)",
        request,
      );
    });
  }

  /** Keeps a block, and counts the reserved price as spent. */
  bought(owner: string, request: number, number: number, block: BoughtBlock, price: bigint, reserved: bigint): void {
    this.#database.transaction(() => {
      this.#database.run("insert into blocks values (?, ?, ?)", request, number, JSON.stringify(block));
      const money = this.money(owner);
      this.#write(owner, money.spent + price, money.reserved - reserved);
    });
  }

  /** Keeps a receipt, under its id. */
  ended(request: number, id: string, receipt: object): void {
    this.#database.run(
      "update requests set receipt_id = ?, receipt = ? where number = ?",
      ...[id, JSON.stringify(receipt), request],
    );
  }

  /** A receipt of this owner as JSON. */
  receipt(owner: string, id: string): string | undefined {
    const row = this.#database.first("select receipt from requests where owner = ? and receipt_id = ?", owner, id);
    return row?.receipt as string | undefined;
  }

  /** Returns what an owner spent, and what its requests under way may cost. */
  money(owner: string): { spent: bigint; reserved: bigint } {
    const row = this.#database.first("select spent, reserved from money where owner = ?", owner);
    return { spent: BigInt((row?.spent as string) ?? 0), reserved: BigInt((row?.reserved as string) ?? 0) };
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

  #reserve(owner: string, amount: bigint, budget: bigint | undefined): boolean {
    const { spent, reserved } = this.money(owner);
    if (budget !== undefined && spent + reserved + amount > budget) return false;
    this.#write(owner, spent, reserved + amount);
    return true;
  }

  #write(owner: string, spent: bigint, reserved: bigint): void {
    this.#database.run(
      "insert into money values (?, ?, ?) on conflict (owner) do update set spent = excluded.spent, " +
        "reserved = excluded.reserved",
      ...[owner, String(spent), String(reserved)],
    );
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
