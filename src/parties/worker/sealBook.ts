import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Hex } from "viem";
import { Database, type SqlRow } from "../../base/database/database.ts";
import { DatabaseAccessError } from "../../base/database/errors.ts";
import { writeProblem } from "../../base/writable.ts";

/** A seal's opening: all arguments of `openSeal`, to avoid another execution. */
type Opening = { jobId: Hex; seal: Hex; root: Hex; salt: Hex; nodes: Hex };

const SCHEMA = `
  create table openings (
    seal text primary key, job_id text not null, root text not null, salt text not null, nodes text not null);
  create index openings_by_job on openings (job_id, root);`;

const CONTENT = { applicationId: 0x5266534c, what: "the openings of a worker's seals", schema: SCHEMA, version: 1 };

const unwritable = (path: string, cause: unknown): DatabaseAccessError =>
  new DatabaseAccessError(
    `${path}, what opens a worker's seals, cannot be written: ${writeProblem(path, cause)}: name another folder with ` +
      "--seals",
    { cause },
  );

/**
 * A file with the openings of a worker's seals. An unopened seal costs the whole collateral: the opening reaches the
 * disk before the seal is sent, and stays until the claim ends.
 */
export class SealBook {
  readonly path: string;
  #database: Database | undefined;
  /** The jobs that have openings here. */
  readonly #jobs = new Set<Hex>();

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * Returns the book at a path. `open` creates the file when needed.
   * @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError
   */
  static async at(path: string): Promise<SealBook> {
    const book = new SealBook(path);
    if (mayExist(path)) await book.open();
    return book;
  }

  /** The jobs that have openings here. */
  get jobs(): readonly Hex[] {
    return [...this.#jobs];
  }

  /**
   * Looks whether `open` can create the file, and creates nothing: most workers never need the file.
   * @throws DatabaseAccessError
   */
  requireWritable(): void {
    if (this.#database !== undefined) return;
    let folder = dirname(this.path);
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
  }

  /** Has the file ready to be written to. @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError */
  async open(): Promise<void> {
    if (this.#database !== undefined) return;
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      // Anybody with a salt can try roots before the seal opens. SQLite gives the second file the same mode.
      closeSync(openSync(this.path, "a", 0o600));
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
    this.#database = await Database.open(this.path, CONTENT);
    for (const { job_id } of this.#database.all("select distinct job_id from openings")) this.#jobs.add(job_id as Hex);
  }

  /**
   * Keeps an opening: after the call returns, neither a kill nor a power failure loses the opening. @throws
   * DatabaseAccessError
   */
  async keep({ jobId, seal, root, salt, nodes }: Opening): Promise<void> {
    await this.open();
    const values = [seal, jobId, root, salt, nodes];
    this.#database!.run("insert into openings (seal, job_id, root, salt, nodes) values (?, ?, ?, ?, ?)", ...values);
    this.#jobs.add(jobId);
  }

  /** The opening of a seal. */
  of(seal: Hex): Opening | undefined {
    return openingOf(this.#database?.first("select * from openings where seal = ?", seal));
  }

  /** An opening of a job with a root, which may be sealed already or not. */
  ofRoot(jobId: Hex, root: Hex): Opening | undefined {
    return openingOf(this.#database?.first("select * from openings where job_id = ? and root = ?", jobId, root));
  }

  /** Whether there are openings of a job. */
  has(jobId: Hex): boolean {
    return this.#jobs.has(jobId);
  }

  /** Forgets the openings of a finished job. */
  forget(jobId: Hex): void {
    this.#database?.run("delete from openings where job_id = ?", jobId);
    this.#jobs.delete(jobId);
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}

/** Whether a file may be there: also if that cannot be seen. */
function mayExist(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes((error as { code?: string }).code ?? "");
  }
}

const openingOf = (row: SqlRow | undefined): Opening | undefined =>
  row && {
    jobId: row.job_id as Hex,
    seal: row.seal as Hex,
    root: row.root as Hex,
    salt: row.salt as Hex,
    nodes: row.nodes as Hex,
  };
