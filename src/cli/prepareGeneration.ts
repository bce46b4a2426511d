import { compile } from "../compiler/compile.ts";
import { requireGeneration } from "../compiler/wraps/decoderInputs.ts";
import { loadModel, type ModelSpec } from "../compiler/wraps/modelSpec.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { generationRequest, type GenerationOptions, type GenerationRequest } from "./generationOptions.ts";
import { checkIfDecoder } from "./models.ts";
import type { Output } from "./output.ts";
import { compileProgress } from "./progress.ts";

/**
 * Compiles a decoder for the request in the flags. A request beyond the decoder's abilities is refused before.
 * @throws UsageError, TokenizerError, DecoderRequestError, and the errors from reading, compiling and checking
 *   decoders
 */
export async function prepareGeneration(
  { seed, ...spec }: ModelSpec,
  options: GenerationOptions,
  output: Output,
): Promise<GenerationRequest & { compiled: CompiledModel }> {
  const request = generationRequest(options, seed);
  const loaded = loadModel(spec);
  const { slots, greedy = false } = spec.decoder!;
  requireGeneration({ slots, vocabulary: loaded.decoder!.vocabulary, isGreedy: greedy }, request.given, request.items);
  const progress = compileProgress(output.progress("compiling node"));
  const compiled = compile(loaded.model, { ...spec, run: loaded.run, progress });
  await checkIfDecoder(spec.path, compiled, loaded, output);
  return { ...request, compiled };
}
