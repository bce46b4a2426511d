import type { Tokenizer } from "./readTokenizer.ts";

/** The placeholder for bytes that are not a character: the next token may complete it. */
const INCOMPLETE = /\ufffd+$/;

/**
 * Streams the text of successive tokens in pieces. All pieces together give the full text without the text of the first
 * tokens. A character spread over several tokens belongs to the last token's piece.
 */
export class TextStream {
  readonly #tokenizer: Tokenizer;
  readonly #tokens: number[];
  #given: string;

  /** @param first Tokens whose text is not returned. */
  constructor(tokenizer: Tokenizer, first: readonly number[]) {
    [this.#tokenizer, this.#tokens] = [tokenizer, [...first]];
    this.#given = tokenizer.decode(first).replace(INCOMPLETE, "");
  }

  /** @returns the text added by one more token, "" while a character stays incomplete */
  next(token: number): string {
    this.#tokens.push(token);
    return this.#upTo(this.#tokenizer.decode(this.#tokens).replace(INCOMPLETE, ""));
  }

  /** Takes tokens whose text nobody waits for: `end` gives it. */
  push(tokens: readonly number[]): void {
    this.#tokens.push(...tokens);
  }

  /** @returns the remaining text when no more tokens come */
  end(): string {
    return this.#upTo(this.#tokenizer.decode(this.#tokens));
  }

  #upTo(text: string): string {
    // A token may change the end of the earlier text: text already returned stays.
    const added = text.slice(this.#given.length);
    if (added !== "") this.#given = text;
    return added;
  }
}
