import { compile } from "../compiler/compile.ts";
import { generate } from "../examine/decoder/generate.ts";
import { createExecutor } from "../executor/createExecutor.ts";
import { loadModel, type ModelSpec } from "../player/programs/modelSpec.ts";
import { UsageError } from "./errors.ts";
import { checkIfDecoder } from "./models.ts";
import type { Output } from "./output.ts";
import { as, unfit, whole } from "./parse.ts";
import { compileProgress } from "./progress.ts";
import type { Command } from "commander";

/** What the flags of a generation give. */
export type GenerationOptions = {
  prompt?: number[];
  tokens?: number;
  temperature?: number;
  topK?: number;
  topP?: number;
};

/** The flags that say what a decoder generates. */
export const generationOptions = (command: Command): Command =>
  command
    .option("--prompt <ids>", "with --decoder: the tokens that a text begins with, e.g. 1,15043,2787", parsePrompt)
    .option("--tokens <n>", "with --decoder: tokens to choose after the prompt", as(whole(1), "--tokens"))
    .option("--temperature <t>", "of drawn tokens (default: 0, the most probable token)", number("--temperature"))
    .option("--top-k <k>", "draw from the k most probable tokens (default: 0, all)", as(whole(0), "--top-k"))
    .option("--top-p <p>", "draw from tokens that together have this probability (default: 1)", number("--top-p"));

/** @throws UsageError */
function parsePrompt(text: string): number[] {
  if (/^\d{1,15}(,\d{1,15})*$/.test(text)) return text.split(",").map(Number);
  throw unfit(text, "--prompt", "tokens as whole numbers, for example 1,2,3");
}

const number =
  (flag: string) =>
  (text: string): number => {
    if (/^\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
    throw unfit(text, flag, "a number from 0 on");
  };

/** @throws UsageError if a flag says what a decoder generates, and there is none */
export function requireNoGeneration({ prompt, tokens, temperature, topK, topP }: GenerationOptions): void {
  const given = {
    "--prompt": prompt,
    "--tokens": tokens,
    "--temperature": temperature,
    "--top-k": topK,
    "--top-p": topP,
  };
  for (const [flag, value] of Object.entries(given))
    if (value !== undefined) throw new UsageError(`${flag} says what a decoder generates: give --decoder too`);
}

/** The items of a generation: one for each token of the text but the last. @throws UsageError if a flag is missing */
export function generationItems({ prompt, tokens }: Pick<GenerationOptions, "prompt" | "tokens">): number {
  if (prompt === undefined || tokens === undefined)
    throw new UsageError("a decoder generates from a prompt: give --prompt 1,2,3 and --tokens N");
  return prompt.length - 1 + tokens;
}

/** Generates a text with a wrapped decoder, exactly; its tokens are printed one by one. @throws UsageError */
export async function generateText(
  { seed, ...spec }: ModelSpec,
  options: GenerationOptions,
  output: Output,
): Promise<void> {
  const items = generationItems(options);
  const { prompt = [], temperature, topK, topP } = options;
  const loaded = loadModel(spec);
  const progress = compileProgress(output.progress("compiling node"));
  const compiled = compile(loaded.model, { ...spec, run: loaded.run, progress });
  await checkIfDecoder(spec.path, compiled, loaded, output);
  const executor = await createExecutor(compiled);
  const start = performance.now();
  const chosen: number[] = [];
  try {
    let item = 0;
    for await (const { token } of generate(compiled, executor, { prompt, temperature, topK, topP, seed }, items)) {
      if (++item < prompt.length) continue;
      chosen.push(token);
      output.part(String(token));
    }
  } finally {
    await executor.close();
  }
  const milliseconds = Math.round(performance.now() - start);
  const { programRoot } = compiled;
  output.answer(
    { programRoot, milliseconds, prompt, tokens: chosen },
    `${items} items of ${compiled.program.steps.length} steps in ${milliseconds} ms`,
  );
}
