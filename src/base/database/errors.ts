import { errorWithCode } from "../errors.ts";

/** A file without a database, or with other data than expected. */
export class DatabaseFileError extends errorWithCode("DATABASE_FILE") {}

/** A database that another process has open. */
export class DatabaseInUseError extends errorWithCode("DATABASE_IN_USE", { retryable: true }) {}

/** A database that cannot be read or written: a missing folder, a full disk, no permission. */
export class DatabaseAccessError extends errorWithCode("DATABASE_ACCESS") {}
