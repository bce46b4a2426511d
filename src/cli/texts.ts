import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod/v4";
import type { ModelSpec } from "../compiler/wraps/modelSpec.ts";
import { openEmbeddingModel, type EmbeddingModel } from "../parties/gateway/embeddings.ts";
import { openTextModel } from "../parties/gateway/textFiles.ts";
import type { TextModel } from "../parties/gateway/textModel.ts";
import type { KnownProgram } from "../dispute/run/execution.ts";
import type { ProgramLibrary } from "../runs/programLibrary.ts";
import { UsageError } from "./errors.ts";
import { readModels } from "./models.ts";
import { readJson } from "./settings.ts";

/** A model that a gateway offers under a name. */
type TextEntry = {
  name: string;
  /** The model's file, as the models file has it. */
  spec: ModelSpec;
  tokenizer: string;
  config: string | undefined;
  template: string | undefined;
  /** Whether it gives embeddings, not texts. */
  embeddings: boolean;
  /** Endpoints of workers that serve it. */
  workers: readonly string[];
};

const textsSchema = z
  .array(
    z
      .object({
        name: z.string().min(1).max(200),
        model: z.string(),
        tokenizer: z.string(),
        config: z.string().optional(),
        template: z.string().optional(),
        embeddings: z.boolean().default(false),
        workers: z.array(z.url({ protocol: /^https?$/ })).default([]),
      })
      .strict(),
  )
  .min(1);

/**
 * Reads a texts file: a JSON array of `{name, model, tokenizer, config, template, embeddings, workers}`. Paths are
 * relative to the file's folder. Each model is a decoder of the models file, or with `embeddings` an encoder.
 * @throws UsageError
 */
export function readTexts(path: string, models: string): TextEntry[] {
  const result = textsSchema.safeParse(readJson(path, "texts file"));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new UsageError(`texts file ${path}: ${issue!.path.join(".")}: ${issue!.message}`);
  }
  const specs = readModels(models);
  const beside = (file: string): string => resolve(dirname(path), file);
  const names = result.data.map(({ name }) => name);
  const twice = names.find((name, k) => names.indexOf(name) !== k);
  if (twice !== undefined) throw new UsageError(`texts file ${path}: two models are named ${twice}`);
  return result.data.map(({ name, model, tokenizer, config, template, embeddings, workers }) => {
    const isOfKind = ({ decoder }: ModelSpec): boolean => (decoder === undefined) === embeddings;
    const found = specs.filter((spec) => resolve(spec.path) === beside(model) && isOfKind(spec));
    const kind = embeddings ? "model without a decoder's slots" : "decoder";
    if (found.length !== 1)
      throw new UsageError(`texts file ${path}: ${model} must be one ${kind} of ${models}, not ${found.length}`);
    if (embeddings && (config ?? template) !== undefined)
      throw new UsageError(`texts file ${path}: ${name} gives embeddings, and has neither config nor template`);
    const files = {
      tokenizer: beside(tokenizer),
      config: config && beside(config),
      template: template && beside(template),
    };
    return { name, spec: found[0]!, ...files, embeddings, workers };
  });
}

/** Reads the files around a compiled model, as the entry says. @throws GatewayFileError, TokenizerError */
export const openModel = (entry: TextEntry, program: KnownProgram): Promise<TextModel | EmbeddingModel> =>
  (entry.embeddings ? openEmbeddingModel : openTextModel)(entry.name, program, entry.spec, entry);

/** Time between looks for a model that is compiled still, milliseconds. */
const LOOK_MS = 200;

/**
 * Opens a model once it is compiled. @returns undefined if it cannot be used, or after the signal
 */
export async function openText(
  entry: TextEntry,
  programs: ProgramLibrary,
  signal: AbortSignal,
): Promise<TextModel | EmbeddingModel | undefined> {
  for (;;) {
    const root = programs.roots.find((each) => programs.specOf(each)?.path === entry.spec.path && isSame(each));
    const program = root && (await programs.load(root));
    if (program !== undefined) return openModel(entry, program);
    if (programs.pending.length === 0 || signal.aborted) return undefined;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }

  function isSame(root: Parameters<ProgramLibrary["specOf"]>[0]): boolean {
    return JSON.stringify(programs.specOf(root)?.decoder) === JSON.stringify(entry.spec.decoder);
  }
}
