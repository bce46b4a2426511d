import type { Command } from "commander";
import type { Generation } from "../compiler/wraps/decoderInputs.ts";
import { readTokenizer, type Tokenizer } from "../model/tokenizer/readTokenizer.ts";
import { UsageError } from "./errors.ts";
import { as, unfit, whole } from "./parse.ts";
import { GROUPS } from "./words/helpGroups.ts";

/** The values from a generation's flags. */
export type GenerationOptions = {
  prompt?: string;
  tokens?: number;
  tokenizer?: string;
  temperature?: number;
  topK?: number;
  topP?: number;
};

/** A text to generate: the run, and the tokenizer that turns tokens into text, if given. */
export type GenerationRequest = {
  given: Generation;
  /** One item per text token except the last. */
  items: number;
  tokenizer: Tokenizer | undefined;
};

/** The flags that say what a decoder generates. */
export const generationOptions = (command: Command): Command =>
  tokenizerOption(
    command
      .optionsGroup(GROUPS.decoder)
      .option(
        "--prompt <text>",
        "with --decoder: what a text begins with: tokens, e.g. 1,15043, or with --tokenizer text",
      )
      .option("--tokens <n>", "with --decoder: tokens to choose after the prompt", as(whole(1), "--tokens")),
  )
    .option("--temperature <t>", "of drawn tokens (default: 0, the most probable token)", number("--temperature"))
    .option("--top-k <k>", "draw from the k most probable tokens (default: 0, all)", as(whole(0), "--top-k"))
    .option("--top-p <p>", "draw from tokens that together have this probability (default: 1)", number("--top-p"))
    .optionsGroup("");

/** Adds the flag for the file that turns texts into tokens and back. */
export const tokenizerOption = (command: Command): Command =>
  command
    .optionsGroup(GROUPS.decoder)
    .option("--tokenizer <file>", "the model's tokenizer.json: texts in place of tokens");

const number =
  (flag: string) =>
  (text: string): number => {
    if (/^\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
    throw unfit(text, flag, "a number from 0 on");
  };

/** @throws UsageError if a flag requests a generation, and the model is no decoder */
export function requireNoGeneration({ prompt, tokens, tokenizer, temperature, topK, topP }: GenerationOptions): void {
  const given = {
    "--prompt": prompt,
    "--tokens": tokens,
    "--tokenizer": tokenizer,
    "--temperature": temperature,
    "--top-k": topK,
    "--top-p": topP,
  };
  for (const [flag, value] of Object.entries(given))
    if (value !== undefined) throw new UsageError(`${flag} says what a decoder generates: give --decoder too`);
}

/**
 * Returns the request in a decoder's flags.
 * @throws UsageError if a flag is missing or does not fit, TokenizerError
 */
export function generationRequest(options: GenerationOptions, seed: bigint | undefined): GenerationRequest {
  const { prompt: text, tokens, temperature, topK, topP } = options;
  if (text === undefined || tokens === undefined)
    throw new UsageError("a decoder generates from a prompt: give --prompt 1,2,3 and --tokens N");
  const tokenizer = options.tokenizer === undefined ? undefined : readTokenizer(options.tokenizer);
  const prompt = tokenizer === undefined ? tokensIn(text) : tokenizer.encode(text);
  return { given: { prompt, temperature, topK, topP, seed }, items: prompt.length - 1 + tokens, tokenizer };
}

/** @throws UsageError */
function tokensIn(text: string): number[] {
  if (/^\d{1,15}(,\d{1,15})*$/.test(text)) return text.split(",").map(Number);
  throw unfit(text, "--prompt", "tokens as whole numbers, for example 1,2,3, or a text and --tokenizer FILE");
}
