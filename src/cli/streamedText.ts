import type { Hex } from "viem";
import { chosenToken } from "../compiler/wraps/decoderInputs.ts";
import { DECODER } from "../compiler/wraps/wrapDecoder.ts";
import type { ProgramDescription } from "../parties/requester/description.ts";
import type { JobResult } from "../parties/requester/result.ts";
import { streamedItems } from "../parties/requester/streamedItems.ts";
import type { Tokenizer } from "../model/tokenizer/readTokenizer.ts";
import { TextStream } from "../model/tokenizer/textStream.ts";
import { withoutPaths } from "../base/redact.ts";
import type { Output } from "./output.ts";

/** A text that a worker computes. */
type StreamedJob = {
  program: ProgramDescription;
  jobId: Hex;
  items: number;
  /** Tokens of it, which are not printed. */
  prompt: readonly number[];
  tokenizer: Tokenizer | undefined;
  /** The URL of the worker's server. */
  url: string;
};

/**
 * Prints a text while a worker computes the text, as reported by the worker; warns if the result differs.
 * @param wait Waits for the result. Failures in printing do not affect the wait.
 */
export async function streamUntil(
  output: Output,
  job: StreamedJob,
  wait: () => Promise<JobResult>,
): Promise<JobResult> {
  const ended = new AbortController();
  const streaming = stream(output, job, ended.signal);
  try {
    const result = await wait();
    ended.abort();
    const bytes = result.outputs.get(placeOfTokens(job));
    for (const [item, token] of await streaming)
      if (bytes !== undefined && chosenToken(bytes, item) !== token) {
        output.warn(`token ${item + 1} of the text that was shown is another one in the result: the result counts`);
        break;
      }
    return result;
  } finally {
    ended.abort();
    await streaming;
  }
}

const placeOfTokens = ({ program }: StreamedJob): number =>
  program.outputs.findIndex(({ name }) => name === DECODER.tokens);

/**
 * A failure ends the stream with a warning, because the job goes on.
 * @param signal Ends the stream: the result is known.
 * @returns the tokens reported by the worker, by the items that chose them; without the prompt's tokens
 */
async function stream(output: Output, job: StreamedJob, signal: AbortSignal): Promise<ReadonlyMap<number, number>> {
  const { program, jobId, items, prompt, tokenizer, url } = job;
  const text = tokenizer && new TextStream(tokenizer, prompt);
  const tokens = new Map<number, number>();
  // Item i chooses the token at place i + 1; those of the prompt are known.
  let next = prompt.length - 1;
  try {
    for await (const { item, outputs } of streamedItems(program, jobId, { url, items, signal })) {
      const bytes = outputs.get(placeOfTokens(job));
      if (bytes === undefined) continue;
      for (; next <= item; next++) {
        const token = chosenToken(bytes, next);
        tokens.set(next, token);
        if (text === undefined) output.part(String(token));
        else output.piece(text.next(token));
      }
    }
  } catch (error) {
    if (!signal.aborted)
      output.warn(`the text is not shown as it is computed: ${withoutPaths((error as Error).message)}`);
  }
  if (text !== undefined && tokens.size > 0) output.piece(`${text.end()}\n`);
  return tokens;
}
