import { errorWithCode } from "../base/errors.ts";

/** A program was known, but its cached compilation cannot be read: it is compiled again. */
export class ProgramUnavailableError extends errorWithCode("PROGRAM_UNAVAILABLE", { retryable: true }) {}

/** The process that compiles a model ended without a result, or did not keep its limits. */
export class CompileProcessError extends errorWithCode("COMPILE_PROCESS") {}

/** The model catalogue is unreadable or malformed. */
export class CatalogueError extends errorWithCode("CATALOGUE") {}
