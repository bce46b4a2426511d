import { errorWithCode } from "../errors.ts";

/** A file that is no database, or holds something else than what it is opened for. */
export class DatabaseFileError extends errorWithCode("DATABASE_FILE") {}

/** A database that another process has open. */
export class DatabaseInUseError extends errorWithCode("DATABASE_IN_USE", { retryable: true }) {}

/** A database that cannot be read or written: a folder that is missing, a full disk, no permission. */
export class DatabaseAccessError extends errorWithCode("DATABASE_ACCESS") {}
