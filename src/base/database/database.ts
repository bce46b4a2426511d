import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { rmSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { folderProblem } from "../writable.ts";
import { DatabaseAccessError, DatabaseFileError, DatabaseInUseError } from "./errors.ts";

/** A value that a row holds. Whole numbers beyond 2^53 are kept as text. */
type SqlValue = SQLInputValue;

/** A row, by the names of its columns. */
export type SqlRow = Record<string, SQLOutputValue>;

/** The purpose and schema of a database. */
export type Content = {
  /** An id for the kind of data, 1 to 2^31 - 1: a file of another kind is refused. */
  applicationId: number;
  /** For messages, such as `a batch's state`. */
  what: string;
  /** SQL for creating a new file's tables. */
  schema: string;
  /** The schema's version, from 1 on. */
  version: number;
  /**
   * SQL for upgrading a file, one version per entry; the last entry upgrades to `version`, the entry before to the
   * version below, and so on. Older files are refused, and newer files always.
   */
  upgrades?: readonly string[];
};

/** SQLite's own codes of errors (https://www.sqlite.org/rescode.html); the lowest byte says the kind. */
const [BUSY, LOCKED, NOT_A_DATABASE, CORRUPT, KIND] = [5, 6, 26, 11, 0xff];

/** How long to wait if another process has the file open: some processes only look briefly. */
const PATIENCE_MS = 500;

/**
 * A small database in one file, used only by this process while open. Data written before a process kill or a power
 * failure survive: a transaction happens completely or not at all. While the database is open, and after a kill, the
 * latest data are in a second file, named like the first plus `-wal`.
 */
export class Database {
  readonly path: string;
  readonly #database: DatabaseSync;
  /** The wait for the disk under way, and the next. */
  #flushing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  /** The write-ahead log, once opened. SQLite's locks are on the other file. */
  #log: FileHandle | undefined;

  private constructor(path: string, database: DatabaseSync) {
    [this.path, this.#database] = [path, database];
  }

  /**
   * Opens a file, or makes it.
   * @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError
   */
  static async open(path: string, content: Content): Promise<Database> {
    const { DatabaseSync } = await loadSqlite();
    let opened: DatabaseSync | undefined;
    try {
      opened = new DatabaseSync(path);
      const database = new Database(path, opened);
      database.#prepare(content);
      return database;
    } catch (error) {
      opened?.close();
      throw explained(error, path, content.what);
    }
  }

  /** Removes a closed database, if any, with all its files. */
  static remove(path: string): void {
    for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });
  }

  /** Does something of which nothing is asked back. */
  run(sql: string, ...values: SqlValue[]): void {
    this.#guarded(() => this.#database.prepare(sql).run(...values));
  }

  /** The first row, if there is one. */
  first(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.#guarded(() => this.#database.prepare(sql).get(...values));
  }

  /** All rows. */
  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#guarded(() => this.#database.prepare(sql).all(...values));
  }

  /** Executes an action completely or, if the action throws, not at all. The action must not wait for anything. */
  transaction<T>(action: () => T): T {
    this.run("begin immediate");
    try {
      const result = action();
      this.run("commit");
      return result;
    } catch (error) {
      try {
        this.#database.exec("rollback");
      } catch {
        // SQLite has ended the transaction itself: on a full disk, for example. The first error is the cause.
      }
      throw error;
    }
  }

  /**
   * Executes a transaction without waiting for the disk. The data survive a process kill. They survive a power failure
   * once `flushed` has resolved, or a later transaction has waited for the disk.
   */
  unsynced<T>(action: () => T): T {
    this.#database.exec("pragma synchronous = normal");
    try {
      return this.transaction(action);
    } finally {
      this.#database.exec("pragma synchronous = full");
    }
  }

  /**
   * Waits until all data written before survive a power failure. The process does other work meanwhile, and calls at
   * the same time share a wait.
   * @throws DatabaseAccessError
   */
  flushed(): Promise<void> {
    this.#next ??= this.#flushing
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return (this.#flushing = this.#flush());
      });
    return this.#next;
  }

  async #flush(): Promise<void> {
    try {
      this.#log ??= await open(`${this.path}-wal`, "r+");
      await this.#log.datasync();
    } catch (error) {
      throw new DatabaseAccessError(`${this.path}: what was written cannot be kept (${(error as Error).message})`, {
        cause: error,
      });
    }
  }

  close(): void {
    this.#database.close();
    void this.#flushing.catch(() => undefined).then(() => this.#log?.close());
  }

  /** Locks the file, creates the tables of a new file, and upgrades a file with an older version. */
  #prepare({ applicationId, what, schema, version, upgrades = [] }: Content): void {
    // The first write takes the lock and keeps it until the file is closed, or the process ends.
    this.#database.exec(`pragma busy_timeout = ${PATIENCE_MS}`);
    this.#database.exec("pragma locking_mode = exclusive; pragma synchronous = full; begin immediate");
    const { application_id: id } = this.#database.prepare("pragma application_id").get() as { application_id: number };
    const { user_version: has } = this.#database.prepare("pragma user_version").get() as { user_version: number };
    const { tables } = this.#database.prepare("select count(*) as tables from sqlite_schema").get() as {
      tables: number;
    };
    const isNew = id === 0 && tables === 0;
    if (!isNew && id !== applicationId)
      throw new DatabaseFileError(`${this.path} is a database, but not ${what}: name another file`);
    if (!isNew && (has > version || has < version - upgrades.length))
      throw new DatabaseFileError(
        `${this.path} has ${what} in version ${has}, this version of Refute reads ${version}: name another file, or ` +
          "go on with the version that wrote it",
      );
    // SAFETY: the upgrade runs inside the open transaction: a kill leaves the complete old version.
    if (!isNew && has < version)
      for (const sql of [...upgrades.slice(has - version), `pragma user_version = ${version}`])
        this.#database.exec(sql);
    if (isNew)
      this.#database.exec(`pragma application_id = ${applicationId}; pragma user_version = ${version}; ${schema}`);
    this.#database.exec("commit");
    // With a write-ahead log, a transaction waits for the disk only once. Only our own file is changed this way.
    this.#database.exec("pragma journal_mode = wal");
  }

  #guarded<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw explained(error, this.path, "the database");
    }
  }
}

let sqlite: Promise<typeof import("node:sqlite")> | undefined;

/** Loads the module once: with two parallel loads, each would restore the other's replacement. */
const loadSqlite = (): Promise<typeof import("node:sqlite")> => (sqlite ??= loadQuietly());

/**
 * Node 22 prints a warning when loading the module. The functions used here are the same in Node 24, which prints no
 * warning.
 */
async function loadQuietly(): Promise<typeof import("node:sqlite")> {
  const warn = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return await import("node:sqlite");
  } finally {
    process.emitWarning = warn;
  }
}

/** An error of SQLite as one of ours; any other one as it is. */
function explained(error: unknown, path: string, what: string): unknown {
  const { code, errcode, message } = error as { code?: string; errcode?: number; message: string };
  if (code !== "ERR_SQLITE_ERROR" || errcode === undefined) return error;
  switch (errcode & KIND) {
    case BUSY:
    case LOCKED:
      return new DatabaseInUseError(`${path} is in use by another process: wait until that has ended`, {
        cause: error,
      });
    case NOT_A_DATABASE:
    case CORRUPT:
      return new DatabaseFileError(`${path} is not ${what} (${message}): name another file`, { cause: error });
    default: {
      const why = folderProblem(dirname(path)) ?? message;
      return new DatabaseAccessError(`${path}: ${what} cannot be read or written: ${why}: name another file`, {
        cause: error,
      });
    }
  }
}
