import { z } from "zod/v4";
import { chosenToken } from "../../compiler/wraps/decoderInputs.ts";
import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";

/**
 * Tokens of a decoder's run, sent while a worker executes the run: one JSON object a line, then the answer in the last
 * line. No signature covers a token before the answer.
 */
export const TOKEN_STREAM = "application/x-ndjson";

/** Called with an item, and with the item's token. */
export type OnToken = (item: number, token: number) => void;

const lineSchema = z.object({ item: z.int().min(0), token: z.int() });

/** @returns reads an item's outputs and reports its token; undefined for a program that is no decoder */
export function tokenReader(
  { model }: Pick<KnownProgram, "model">,
  onToken: OnToken,
): ((item: number, outputs: readonly Uint8Array[]) => void) | undefined {
  const place = model.outputs.findIndex(({ name }) => name === DECODER.tokens);
  if (place < 0) return undefined;
  const slots = model.outputs[place]!.shape[0]!;
  return (item, outputs) => {
    if (item < slots) onToken(item, chosenToken(outputs[place]!, item));
  };
}

/**
 * Begins a response with the first token, or with an answer that comes without tokens.
 * @param answer Gives the answer, and reports tokens before.
 * @param failure The last line for an error that comes after a token.
 * @throws the errors of `answer` that come before any token
 */
export async function streamTokens(
  answer: (onToken: OnToken) => Promise<object>,
  failure: (error: unknown) => object,
): Promise<Response> {
  const encoder = new TextEncoder();
  let write!: (line: object) => void;
  let close!: () => void;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      write = (line) => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      close = () => controller.close();
    },
    cancel() {
      // The payer left: the answer is executed to its end, and kept for a repeated request.
      write = close = () => undefined;
    },
  });
  let begin!: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ended = answer((item, token) => {
    write({ item, token });
    begin();
  }).then((last) => write(last));
  await Promise.race([begun, ended]);
  void ended.catch((error: unknown) => write(failure(error))).then(() => close());
  return new Response(body, { headers: { "content-type": TOKEN_STREAM } });
}

/** Reports the tokens of a response. @returns the last line @throws SyntaxError, and what reading throws */
export async function readTokens(response: Response, onToken: OnToken): Promise<unknown> {
  const decoder = new TextDecoder();
  let rest = "";
  let last: unknown;
  const take = (line: string): void => {
    if (line === "") return;
    last = JSON.parse(line) as unknown;
    const parsed = lineSchema.safeParse(last);
    if (parsed.success) onToken(parsed.data.item, parsed.data.token);
  };
  for await (const chunk of (response.body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    const lines = decoder.decode(chunk, { stream: true }).split("\n");
    // Only the chunk is searched: the answer's line is long, and comes in many chunks.
    lines[0] = rest + lines[0];
    rest = lines.pop()!;
    lines.forEach(take);
  }
  take(rest);
  return last;
}
