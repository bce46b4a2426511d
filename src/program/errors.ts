import { errorWithCode } from "../base/errors.ts";

/**
 * A program, step or header that is not well-formed (docs/program.md). Recompile the program, or distrust its source.
 */
export class ProgramFormatError extends errorWithCode("PROGRAM_FORMAT") {}
