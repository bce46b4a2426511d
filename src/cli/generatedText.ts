import { DECODER } from "../compiler/wraps/wrapDecoder.ts";
import type { ProgramDescription } from "../parties/requester/description.ts";
import { elementsIn } from "../parties/requester/typedArrays.ts";
import { readTokenizer, type Tokenizer } from "../model/tokenizer/readTokenizer.ts";
import { TextStream } from "../model/tokenizer/textStream.ts";
import { UsageError } from "./errors.ts";

/** The known facts about a wrapped decoder's job. */
type DecoderJob = {
  /** Items that are executed: so many tokens follow the first one. */
  items: number;
  /** Undefined if they are not known: the text then begins with the second token of the prompt. */
  inputs: readonly Uint8Array[] | undefined;
  outputs: ReadonlyMap<number, Uint8Array>;
};

/** Returns a job's text, undefined while the tokens are not delivered. */
export type TextOf = (job: DecoderJob) => string | undefined;

/**
 * Returns a function from the tokens in a program's jobs to text; undefined if no file is given.
 * @throws UsageError if the program generates none, TokenizerError
 */
export function textOfJobs(path: string | undefined, program: ProgramDescription | undefined): TextOf | undefined {
  if (path === undefined) return undefined;
  if (program === undefined)
    throw new UsageError(
      "--tokenizer needs the program, which has the tokens: give --model FILE or --program FILE too",
    );
  return textOf(readTokenizer(path), program);
}

/** @throws UsageError if the program is no wrapped decoder */
export function textOf(tokenizer: Tokenizer, { inputs: taken, outputs: given }: ProgramDescription): TextOf {
  const place = (tensors: readonly { name: string }[], name: string): number => {
    const found = tensors.findIndex((tensor) => tensor.name === name);
    if (found < 0) throw new UsageError("--tokenizer: the program generates no text: it is no wrapped decoder");
    return found;
  };
  const [tokens, prompt, length] = [
    place(given, DECODER.tokens),
    place(taken, DECODER.prompt),
    place(taken, DECODER.promptLength),
  ];
  return ({ items, inputs, outputs }) => {
    const bytes = outputs.get(tokens);
    if (bytes === undefined) return undefined;
    const following = numbersIn(bytes).slice(0, items);
    if (inputs === undefined) return tokenizer.decode(following);
    const [first] = numbersIn(inputs[prompt]!);
    const [count] = numbersIn(inputs[length]!);
    const stream = new TextStream(tokenizer, [first!, ...following.slice(0, count! - 1)]);
    stream.push(following.slice(count! - 1));
    return stream.end();
  };
}

const numbersIn = (bytes: Uint8Array): number[] => Array.from(elementsIn(bytes, "int64") as BigInt64Array, Number);

/** A text as one line, for people. */
export const textLines = (text: string | undefined): string[] =>
  text === undefined ? [] : [`text ${JSON.stringify(text)}`];
