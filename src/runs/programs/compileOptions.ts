import { z } from "zod/v4";
import { FORM_NAMES, parseForm, type SumForm } from "../../compiler/passes/shares/sumSteps.ts";
import { LOSSES, OPTIMISERS, type OptimiserName } from "../../compiler/wraps/trainSpec.ts";
import { parseDecideSpec } from "../../model/decision/decideSpec.ts";
import { DecideError } from "../../model/decision/errors.ts";
import type { ImagePreprocessing } from "../../model/onnx/preprocess.ts";
import { MAX_STEP_BYTES } from "../../program/limits.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";

/** The notation of a picture input given as bytes, in files and flags. */
export const uint8Schema = z
  .object({
    input: z.string().min(1),
    layout: z.enum(["NHWC", "NCHW"]).default("NHWC"),
    scale: z.coerce
      .number()
      .positive()
      .default(1 / 255),
    mean: z.array(z.coerce.number()).default([0]),
    std: z.array(z.coerce.number().positive()).default([1]),
    reverse: z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]).default(false),
  })
  .strict();

/** A seed of random operators: a number, or text beyond 2^53. */
export const seedSchema = z
  .union([z.number(), z.string()])
  .transform(String)
  .refine((text) => /^\d{1,20}$/.test(text) && BigInt(text) < 1n << 64n, {
    error: "expected a whole number below 2^64",
    abort: true,
  })
  .transform(BigInt);

/** A decision that replaces an output, as text: `argmax`, `top5`, `round=2`. */
const decideSchema = z.string().transform((text, context) => {
  try {
    return parseDecideSpec(text);
  } catch (error) {
    if (!(error instanceof DecideError)) throw error;
    context.addIssue({ code: "custom", message: error.message });
    return z.NEVER;
  }
});

/** The range of values for an input drawn within the program. */
const drawnSchema = z
  .object({ low: z.number(), high: z.number(), shape: z.array(z.number().int().positive()).optional() })
  .strict();

/** How the items of a run hang together, by names of the model's inputs and outputs. */
const runSchema = z
  .object({
    batch: z.literal(true).optional(),
    each: z.array(z.string()).min(1).optional(),
    index: z.array(z.string()).min(1).optional(),
    carried: z.record(z.string(), z.string()).optional(),
    eachOutputs: z.array(z.string()).min(1).optional(),
    lastOutputs: z.array(z.string()).min(1).optional(),
  })
  .strict();

/** How a decoder becomes a run that generates text. */
const decoderSchema = z
  .object({
    slots: z.number().int().positive(),
    endTokens: z.array(z.number().int().nonnegative()).optional(),
    greedy: z.literal(true).optional(),
    chain: z.literal(true).optional(),
  })
  .strict();

const examples = z.number().int().positive();
const sums = z
  .custom<SumForm>((form) => typeof form === "string" && form !== "exact" && parseForm(form) !== undefined, {
    error: `expected ${FORM_NAMES.slice(1).join(", ")}`,
  })
  .optional();

/** Options that turn a model into a training run. */
const trainSchema = z
  .object({
    loss: z.enum(LOSSES),
    output: z.string().optional(),
    optimiser: z.enum(Object.keys(OPTIMISERS) as [OptimiserName, ...OptimiserName[]]),
    attributes: z.record(z.string(), z.number()).optional(),
    frozen: z.array(z.string()).optional(),
    rates: z.number().int().positive().optional(),
    share: z.union([z.strictObject({ part: examples, sums }), z.strictObject({ join: examples, sums })]).optional(),
  })
  .strict();

/** A model's compile options, in the form used by a models file and a catalogue. */
export const compileOptions = {
  shapes: z.record(z.string(), z.array(z.number().int().positive())).default({}),
  dims: z.record(z.string(), z.number().int().positive()).optional(),
  bind: z.record(z.string(), z.unknown()).default({}),
  lengths: z.record(z.string(), z.number().int().nonnegative()).optional(),
  uint8: z.array(uint8Schema).default([]),
  decide: z.record(z.string(), decideSchema).optional(),
  drawn: z.record(z.string(), drawnSchema).optional(),
  noise: z.record(z.string(), z.number().positive()).optional(),
  train: trainSchema.optional(),
  stepBytes: z.number().int().min(1).max(MAX_STEP_BYTES).optional(),
  seed: seedSchema.optional(),
  seedInput: z.literal(true).optional(),
  run: runSchema.optional(),
  decoder: decoderSchema.optional(),
};

type CompileOptions = z.output<z.ZodObject<typeof compileOptions>>;

export function preprocessingOf({ reverse, ...rest }: z.output<typeof uint8Schema>): ImagePreprocessing {
  return { ...rest, reverseChannels: reverse };
}

/** A model file with its options. */
export const modelSpecOf = (path: string, { stepBytes, uint8, ...options }: CompileOptions): ModelSpec => ({
  path,
  ...options,
  uint8: uint8.map(preprocessingOf),
  stepByteLimit: stepBytes,
});
