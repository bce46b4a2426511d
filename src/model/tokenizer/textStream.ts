import type { Tokenizer } from "./readTokenizer.ts";

/** The placeholder for the bytes of an unfinished character: the next token may complete it. */
const INCOMPLETE = /\ufffd$/;
/** Earlier tokens decoded together with the next token; more if they have fewer characters than the second. */
const KEPT = 16;
/** More than the three bytes that UTF-8 depends on. Cuts at the beginning of a text lie before the characters. */
const KEPT_CHARACTERS = 16;

/**
 * Streams the text of successive tokens in pieces. All pieces together give the full text without the text of the first
 * tokens. A character spread over several tokens belongs to the last token's piece. The work for a token does not grow
 * with the text, if the tokenizer is local.
 */
export class TextStream {
  readonly #tokenizer: Tokenizer;
  /** The last tokens. */
  #tokens: number[];
  /** Characters already returned from the last tokens' decoded text. */
  #given: number;
  /** The number of last tokens at which the earlier ones are dropped. */
  #limit = 2 * KEPT;

  /** @param first Tokens whose text is not returned. */
  constructor(tokenizer: Tokenizer, first: readonly number[]) {
    [this.#tokenizer, this.#tokens] = [tokenizer, first.filter(tokenizer.hasText)];
    const text = tokenizer.decode(this.#tokens);
    this.#given = text.replace(INCOMPLETE, "").length;
    this.#drop(text.length);
  }

  /** @returns the text added by one more token, "" while a character stays incomplete */
  next(token: number): string {
    this.push([token]);
    const text = this.#tokenizer.decode(this.#tokens);
    const added = this.#upTo(text.replace(INCOMPLETE, ""));
    this.#drop(text.length);
    return added;
  }

  /** Takes tokens whose text nobody waits for: `end` gives it. */
  push(tokens: readonly number[]): void {
    for (const token of tokens) if (this.#tokenizer.hasText(token)) this.#tokens.push(token);
  }

  /** @returns the remaining text when no more tokens come */
  end(): string {
    return this.#upTo(this.#tokenizer.decode(this.#tokens));
  }

  #upTo(text: string): string {
    // A token may change the end of the earlier text: text already returned stays.
    const added = text.slice(this.#given);
    this.#given += added.length;
    return added;
  }

  /** Drops tokens that no later text depends on. @param length Characters of the text of the last tokens. */
  #drop(length: number): void {
    if (!this.#tokenizer.isLocal || this.#tokens.length < this.#limit) return;
    for (let kept = KEPT; kept <= this.#tokens.length / 2; kept *= 2) {
      const tokens = this.#tokens.slice(-kept);
      const characters = this.#tokenizer.decode(tokens).length;
      if (characters < KEPT_CHARACTERS) continue;
      // What was not returned of the text's end is not returned of the shorter text's end either.
      this.#given += characters - length;
      this.#tokens = tokens;
      break;
    }
    this.#limit = 2 * Math.max(KEPT, this.#tokens.length);
  }
}
