import { errorWithCode } from "../base/errors.ts";

/**
 * A program, step or header that is not well-formed (docs/program.md). Recompile it, or do not trust where it came
 * from.
 */
export class ProgramFormatError extends errorWithCode("PROGRAM_FORMAT") {}
