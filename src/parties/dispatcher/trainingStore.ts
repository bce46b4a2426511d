import { getAddress, type Address, type Hex } from "viem";
import { Database } from "../../base/database/database.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { concatenated } from "../../program/merkle/concatenated.ts";
import { DispatchStateError } from "./errors.ts";

/** "reft" in ASCII. */
const APPLICATION_ID = 0x72656674;

/** The most bytes of a tensor in a row: SQLite's rows end at 10^9 bytes, all shares' feedbacks may be longer. */
const ROW_BYTES = 2 ** 24;

/** A loss is text: SQLite has no NaN. */
const SCHEMA = `
  create table run (id text not null, chain integer not null, market text not null, requester text not null);
  create table steps (
    step integer primary key, loss text not null, fee text not null, gas integer not null, jobs integer not null,
    bytes integer not null
  );
  create table state (name text not null, row integer not null, data blob not null, primary key (name, row));
`;

/** Whose training it is: the run, the chain, the market and the requester. */
type TrainingOwner = { run: Hex; chainId: number; market: Address; requester: Address };

/** A finished step of a training over many workers. */
export type TrainedStep = {
  /** From 0. */
  step: number;
  loss: number;
  /** In the stake asset's smallest unit, refunds subtracted. */
  fee: bigint;
  /** Spent by the dispatcher's own transactions. */
  gas: number;
  jobs: number;
  /** All shares' sums together. */
  bytes: number;
};

/** How far a training over many workers is, on disk: finished steps and the latest state. */
export class TrainingStore {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Opens a training's state, or begins it.
   * @throws DispatchStateError, DatabaseFileError, DatabaseInUseError, DatabaseAccessError
   */
  static async open(path: string, { run, chainId, market, requester }: TrainingOwner): Promise<TrainingStore> {
    const content = { applicationId: APPLICATION_ID, what: "the state of a training", schema: SCHEMA, version: 2 };
    const database = await Database.open(path, content);
    const has = database.first("select * from run");
    if (has === undefined) database.run("insert into run values (?, ?, ?, ?)", run, chainId, market, requester);
    const isOwn =
      has === undefined ||
      (has.id === run &&
        has.chain === chainId &&
        getAddress(has.market as string) === getAddress(market) &&
        getAddress(has.requester as string) === getAddress(requester));
    if (isOwn) return new TrainingStore(database);
    database.close();
    throw new DispatchStateError(
      `${path} is of another training (model, inputs, shares, chain, market or account): give the same as then, or ` +
        "another state file",
    );
  }

  /** The path of the file. */
  get path(): string {
    return this.#database.path;
  }

  /** The finished steps, in order. */
  steps(): TrainedStep[] {
    return this.#database.all("select * from steps order by step").map((row) => ({
      ...{ step: Number(row.step), loss: Number(row.loss), fee: BigInt(row.fee as string) },
      ...{ gas: Number(row.gas), jobs: Number(row.jobs), bytes: Number(row.bytes) },
    }));
  }

  /** The state after the last finished step, by the names of carried inputs; empty before the first one. */
  state(): Map<string, Uint8Array> {
    const tensors = new Map<string, Uint8Array[]>();
    for (const { name, data } of this.#database.all("select name, data from state order by name, row"))
      getOrAdd(tensors, name as string, () => []).push(data as Uint8Array);
    return new Map([...tensors].map(([name, rows]) => [name, concatenated(rows)]));
  }

  /** Notes a finished step with the state after it. */
  finish({ step, loss, fee, gas, jobs, bytes }: TrainedStep, state: ReadonlyMap<string, Uint8Array>): void {
    this.#database.transaction(() => {
      const sql = "insert into steps values (?, ?, ?, ?, ?, ?)";
      this.#database.run(sql, step, String(loss), String(fee), gas, jobs, bytes);
      this.#database.run("delete from state");
      for (const [name, data] of state)
        for (let row = 0; row * ROW_BYTES < data.length; row++)
          this.#database.run(
            "insert into state values (?, ?, ?)",
            ...[name, row, data.subarray(row * ROW_BYTES, (row + 1) * ROW_BYTES)],
          );
    });
  }

  close(): void {
    this.#database.close();
  }
}
