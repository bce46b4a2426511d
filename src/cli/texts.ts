import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod/v4";
import type { ModelSpec } from "../compiler/wraps/modelSpec.ts";
import { openTextModel, type TextModel } from "../parties/gateway/textModel.ts";
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
        workers: z.array(z.url({ protocol: /^https?$/ })).default([]),
      })
      .strict(),
  )
  .min(1);

/**
 * Reads a texts file: a JSON array of `{name, model, tokenizer, config, template, workers}`. Paths are relative to the
 * file's folder. Each model is a decoder of the models file.
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
  return result.data.map(({ name, model, tokenizer, config, template, workers }) => {
    const found = specs.filter((spec) => resolve(spec.path) === beside(model) && spec.decoder !== undefined);
    if (found.length !== 1)
      throw new UsageError(`texts file ${path}: ${model} must be one decoder of ${models}, not ${found.length}`);
    const files = {
      tokenizer: beside(tokenizer),
      config: config && beside(config),
      template: template && beside(template),
    };
    return { name, spec: found[0]!, ...files, workers };
  });
}

/** Time between looks for a model that is compiled still, milliseconds. */
const LOOK_MS = 200;

/**
 * Opens a model once it is compiled. @returns undefined if it cannot be used, or after the signal
 */
export async function openText(
  entry: TextEntry,
  programs: ProgramLibrary,
  signal: AbortSignal,
): Promise<TextModel | undefined> {
  for (;;) {
    const root = programs.roots.find((each) => programs.specOf(each)?.path === entry.spec.path && isSame(each));
    const program = root && (await programs.load(root));
    if (program !== undefined) return openTextModel(entry.name, program, entry.spec, entry);
    if (programs.pending.length === 0 || signal.aborted) return undefined;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }

  function isSame(root: Parameters<ProgramLibrary["specOf"]>[0]): boolean {
    return JSON.stringify(programs.specOf(root)?.decoder) === JSON.stringify(entry.spec.decoder);
  }
}
