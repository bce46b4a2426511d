import { errorWithCode } from "../../base/errors.ts";

/** A file that is no tokenizer, or a text for which a tokenizer has no tokens. */
export class TokenizerError extends errorWithCode("TOKENIZER") {}
