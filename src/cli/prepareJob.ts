import { compile } from "../compiler/compile.ts";
import { decoderInputs, requireSlots } from "../compiler/decoder/decoderInputs.ts";
import { loadModel, type ModelSpec } from "../player/programs/modelSpec.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { UsageError } from "./errors.ts";
import { generationItems, requireNoGeneration, type GenerationOptions } from "./generateText.ts";
import { itemsOf, jobBytes, readJobInputs, shapesOfJob } from "./jobInputs.ts";
import { checkIfDecoder } from "./models.ts";
import type { Output } from "./output.ts";
import { compileProgress } from "./progress.ts";

/** A job as the flags describe it: the compiled program, its inputs in the program's order, and the number of items. */
export type PreparedJob = { compiled: CompiledModel; inputs: Uint8Array[]; items: number };

/**
 * Compiles a job's program and reads its inputs: from files, or of a decoder from a prompt.
 * @throws UsageError, and as compiling and reading do
 */
export async function prepareJob(
  { seed, ...spec }: ModelSpec,
  options: GenerationOptions & { input?: string[]; items?: number | undefined; firstItem?: number },
  output: Output,
): Promise<PreparedJob> {
  const loaded = loadModel(spec);
  const { model, run } = loaded;
  const progress = compileProgress(output.progress("compiling node"));
  if (spec.decoder !== undefined) {
    if (options.input !== undefined)
      throw new UsageError("--input: a decoder takes its inputs from --prompt and the flags beside it");
    if (options.items !== undefined)
      throw new UsageError("--items: a decoder has as many items as --prompt and --tokens ask for");
    if ((options.firstItem ?? 0) !== 0)
      throw new UsageError("--first-item: a text begins at place 0, where its caches are empty");
    const items = generationItems(options);
    const compiled = compile(model, { ...spec, run, progress });
    requireSlots(compiled, items);
    await checkIfDecoder(spec.path, compiled, loaded, output);
    return { compiled, inputs: decoderInputs(compiled, { ...options, prompt: options.prompt!, seed }), items };
  }
  requireNoGeneration(options);
  const given = readJobInputs(model, run, options.input ?? []);
  const items = itemsOf(given, run, options.items);
  const shapes = { ...shapesOfJob(given), ...spec.shapes };
  const compiled = compile(model, { ...spec, ...(seed !== undefined && { seed }), run, shapes, progress });
  const hasIndex = compiled.program.inputs.some(({ source }) => source?.kind === "index");
  if ((options.firstItem ?? 0) !== 0 && !hasIndex)
    throw new UsageError("--first-item: the program has no input that is the item's number (--index)");
  return { compiled, inputs: jobBytes(given, run, compiled.inputs), items };
}
