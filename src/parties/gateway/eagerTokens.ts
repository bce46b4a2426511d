/** Tokens of a block before the block's signature, in order. No signature covers the tokens yet. */
export class EagerTokens {
  readonly #from: number;
  readonly #count: number;
  readonly #vocabulary: number;
  readonly #given: number[] = [];
  #isEnded = false;
  #wake = (): void => undefined;

  /**
   * @param from Item that chooses the block's first token.
   * @param count Tokens of the block.
   * @param vocabulary Number of tokens.
   */
  constructor(from: number, count: number, vocabulary: number) {
    [this.#from, this.#count, this.#vocabulary] = [from, count, vocabulary];
  }

  /** The tokens so far. */
  get given(): readonly number[] {
    return this.#given;
  }

  /** Takes a token. Only the next token of the block has an effect: a second worker begins the block anew. */
  take(item: number, token: number): void {
    const isNext = item === this.#from + this.#given.length && this.#given.length < this.#count;
    if (!isNext || this.#isEnded || token < 0 || token >= this.#vocabulary) return;
    this.#given.push(token);
    this.#wake();
  }

  /** After the end no token is taken. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Gives each token as soon as it comes. */
  async *[Symbol.asyncIterator](): AsyncGenerator<number, void, undefined> {
    for (let k = 0; ; k++) {
      while (k === this.#given.length) {
        if (this.#isEnded) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      yield this.#given[k]!;
    }
  }
}
