import { compile } from "../compiler/compile.ts";
import { decoderInputs } from "../compiler/wraps/decoderInputs.ts";
import { loadModel, type LoadedModel, type ModelSpec } from "../compiler/wraps/modelSpec.ts";
import { dtypeName } from "../numerics/dtype.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { Tokenizer } from "../model/tokenizer/readTokenizer.ts";
import { UsageError } from "./errors.ts";
import { requireNoGeneration, type GenerationOptions } from "./generationOptions.ts";
import { itemsOf, jobBytes, readJobInputs, shapesOfJob } from "./jobInputs.ts";
import type { Output } from "./output.ts";
import { modelFlags } from "./modelOptions.ts";
import { prepareGeneration } from "./prepareGeneration.ts";
import { compileProgress } from "./progress.ts";

/**
 * A job described by flags: the compiled program, the inputs in program order, the number of items, and the tokenizer
 * that turns a decoder's tokens into text.
 */
type PreparedJob = {
  compiled: CompiledModel;
  inputs: Uint8Array[];
  items: number;
  /** The flags with which the same program is compiled elsewhere. */
  flags: readonly string[];
  tokenizer?: Tokenizer | undefined;
  /** The tokens that a decoder's text begins with. */
  prompt?: readonly number[];
  /** Where the weights of a training run lie. */
  training?: LoadedModel["training"];
};

/**
 * Compiles a job's program and reads its inputs: from files, or of a decoder from a prompt.
 * @throws UsageError, and as compiling and reading do
 */
export async function prepareJob(spec: ModelSpec, options: BatchFlags, output: Output): Promise<PreparedJob> {
  if (spec.decoder !== undefined) {
    if (options.input !== undefined)
      throw new UsageError("--input: a decoder takes its inputs from --prompt and the flags beside it");
    if (options.items !== undefined)
      throw new UsageError("--items: a decoder has as many items as --prompt and --tokens ask for");
    if ((options.firstItem ?? 0) !== 0)
      throw new UsageError("--first-item: a text begins at place 0, where its caches are empty");
    const { compiled, given, items, tokenizer } = await prepareGeneration(spec, options, output);
    return {
      compiled,
      inputs: decoderInputs(compiled, given),
      items,
      flags: modelFlags(spec),
      tokenizer,
      prompt: given.prompt,
    };
  }
  return prepareBatch(spec, options, output);
}

/** Says what an item of a run takes: a single file with a whole batch counts for one item. */
export const itemsNote = ({ program, inputs }: CompiledModel, items: number): string => {
  const own = inputs.flatMap(({ name, dtype, shape }, k) =>
    program.inputs[k]!.source?.kind === "each" ? [`${name} ${dtypeName(dtype)}[${shape.join(", ")}]`] : [],
  );
  const each = own.length === 0 ? "" : `, each with ${own.join(" and ")}, a file an item`;
  return `a run of ${items} ${items === 1 ? "item" : "items"}${each}`;
};

/** The flags for a batch: how the program runs, and on which inputs. */
type BatchFlags = GenerationOptions & {
  input?: string[];
  items?: number | undefined;
  firstItem?: number;
  /** Inputs that need not be given, because they are drawn for each item. */
  drawnInputs?: readonly string[];
};

/**
 * Prepares any number of items, without a decoder.
 * @param hasParts True if each part of the items has a file for carried state.
 * @throws UsageError, and as compiling and reading do
 */
export function prepareBatch(spec: ModelSpec, options: BatchFlags, output: Output, hasParts = false): PreparedJob {
  if (spec.decoder !== undefined) throw new UsageError("--decoder: a text is one run: refute submit posts it");
  requireNoGeneration(options);
  const loaded = loadModel(spec);
  const { model, run } = loaded;
  const given = readJobInputs(model, run, options.input ?? [], hasParts, options.drawnInputs);
  const items = itemsOf(given, run, options.items);
  const shapes = { ...shapesOfJob(given), ...spec.shapes };
  const progress = compileProgress(output.progress("compiling node"));
  const compiled = compile(model, { ...spec, run, shapes, progress });
  const hasIndex = compiled.program.inputs.some(({ source }) => source?.kind === "index");
  if ((options.firstItem ?? 0) !== 0 && !hasIndex)
    throw new UsageError("--first-item: the program has no input that is the item's number (--index)");
  const inputs = jobBytes(given, loaded, compiled.inputs);
  const { training } = loaded;
  const flags = modelFlags(training === undefined ? { ...spec, shapes } : spec);
  return { compiled, inputs, items, flags, training };
}
