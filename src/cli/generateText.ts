import { generate } from "../native/plain/decoder/generate.ts";
import { createExecutor } from "../executor/createExecutor.ts";
import type { ModelSpec } from "../compiler/wraps/modelSpec.ts";
import { TextStream } from "../model/tokenizer/textStream.ts";
import type { GenerationOptions } from "./generationOptions.ts";
import type { Output } from "./output.ts";
import { prepareGeneration } from "./prepareGeneration.ts";

/**
 * Generates a text with a wrapped decoder, exactly, and prints the text during computation: as text with a tokenizer,
 * else token by token. The text ends with a token that ends texts.
 * @throws UsageError, and as preparing does
 */
export async function generateText(spec: ModelSpec, options: GenerationOptions, output: Output): Promise<void> {
  const { compiled, given, items, tokenizer } = await prepareGeneration(spec, options, output);
  const { prompt } = given;
  const endTokens = new Set(spec.decoder?.endTokens);
  const stream = tokenizer === undefined ? undefined : new TextStream(tokenizer, prompt);
  const pieces: string[] = [];
  const give = (piece: string): void => {
    pieces.push(piece);
    output.piece(piece);
  };
  const executor = await createExecutor(compiled);
  const start = performance.now();
  const chosen: number[] = [];
  let executed = 0;
  try {
    for await (const { token } of generate(compiled, executor, given, items)) {
      if (++executed < prompt.length) continue;
      chosen.push(token);
      if (stream === undefined) output.part(String(token));
      else give(stream.next(token));
      // All further tokens are this one.
      if (endTokens.has(token)) break;
    }
  } finally {
    await executor.close();
  }
  if (stream !== undefined) give(stream.end());
  output.piece(stream === undefined ? "" : "\n");
  const milliseconds = Math.round(performance.now() - start);
  const { programRoot } = compiled;
  output.answer(
    {
      ...{ programRoot, milliseconds, prompt, tokens: chosen },
      ...(stream === undefined ? {} : { text: pieces.join("") }),
    },
    `${executed} items of ${compiled.program.steps.length} steps in ${milliseconds} ms`,
  );
}
