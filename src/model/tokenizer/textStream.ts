import type { Tokenizer } from "./readTokenizer.ts";

/** What stands for bytes that are no character: the next token may complete it. */
const INCOMPLETE = /\ufffd+$/;

/**
 * The text of tokens that come one by one, in pieces: together what follows the text of the first tokens in the text of
 * all. A character whose bytes are of several tokens is in the piece of the last one.
 */
export class TextStream {
  readonly #tokenizer: Tokenizer;
  readonly #tokens: number[];
  #given: string;

  /** @param first Tokens of which the text is not given. */
  constructor(tokenizer: Tokenizer, first: readonly number[]) {
    [this.#tokenizer, this.#tokens] = [tokenizer, [...first]];
    this.#given = tokenizer.decode(first).replace(INCOMPLETE, "");
  }

  /** @returns what one more token adds, "" while a character is not complete */
  next(token: number): string {
    this.#tokens.push(token);
    return this.#upTo(this.#tokenizer.decode(this.#tokens).replace(INCOMPLETE, ""));
  }

  /** Takes tokens whose text nobody waits for: `end` gives it. */
  push(tokens: readonly number[]): void {
    this.#tokens.push(...tokens);
  }

  /** @returns what is left when no more tokens come */
  end(): string {
    return this.#upTo(this.#tokenizer.decode(this.#tokens));
  }

  #upTo(text: string): string {
    // A token may change the end of the text before it: what was given stays.
    const added = text.slice(this.#given.length);
    if (added !== "") this.#given = text;
    return added;
  }
}
