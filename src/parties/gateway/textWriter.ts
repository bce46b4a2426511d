import { TextStream } from "../../model/tokenizer/textStream.ts";
import { StopText } from "./stopText.ts";
import type { TextModel } from "./textModel.ts";

/** Why a text ended: a stop or an end token, or no more tokens were asked for. */
type Finish = "stop" | "length";

/** Turns chosen tokens into the text that is given to a client, and says where the text ends. */
export class TextWriter {
  readonly #stream: TextStream;
  readonly #stop: StopText;
  readonly #ends: ReadonlySet<number>;
  readonly #most: number;
  #text = "";
  #chosen = 0;
  #finish: Finish | undefined;

  /** @param most Tokens after the prompt. */
  constructor(
    { tokenizer, endTokens }: Pick<TextModel, "tokenizer" | "endTokens">,
    prompt: readonly number[],
    stops: readonly string[],
    most: number,
  ) {
    [this.#stream, this.#stop] = [new TextStream(tokenizer, prompt), new StopText(stops)];
    [this.#ends, this.#most] = [new Set(endTokens), most];
  }

  /** Undefined while more tokens are needed. */
  get finish(): Finish | undefined {
    return this.#finish;
  }

  /** Tokens up to the one that ended the text. */
  get chosen(): number {
    return this.#chosen;
  }

  /** The text given so far. */
  get text(): string {
    return this.#text;
  }

  /** Takes the tokens of a block; those after the end of the text have no effect. @returns the text that they add */
  take(tokens: readonly number[]): string {
    const before = this.#text.length;
    for (const token of tokens) {
      if (this.#finish !== undefined) break;
      this.#chosen++;
      if (this.#ends.has(token)) this.#end("stop");
      else {
        this.#give(this.#stream.next(token));
        if (this.#finish === undefined && this.#chosen >= this.#most) this.#end("length");
      }
    }
    return this.#text.slice(before);
  }

  #give(piece: string): void {
    this.#text += this.#stop.next(piece);
    if (this.#stop.isStopped) this.#finish = "stop";
  }

  #end(finish: Finish): void {
    this.#give(this.#stream.end());
    this.#text += this.#stop.end();
    this.#finish ??= finish;
  }
}
