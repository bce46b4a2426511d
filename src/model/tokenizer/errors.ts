import { errorWithCode } from "../../base/errors.ts";

/** A file is not a tokenizer, or a tokenizer has no tokens for a text. */
export class TokenizerError extends errorWithCode("TOKENIZER") {}
