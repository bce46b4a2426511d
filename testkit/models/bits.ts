import { createExecutor } from "../../src/executor/createExecutor.ts";
import { stepSources } from "../../src/executor/sources.ts";
import { readWord, type Word } from "../../src/numerics/dtype.ts";
import { evaluateElement } from "../../src/program/evaluate.ts";
import { Prng } from "../random/prng.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { programTerms } from "../../src/program/work.ts";
import { executorsDisagree, type Variant } from "../graphs/check.ts";
import type { CatalogueModel } from "./catalogue.ts";
import { compileModel } from "./compileModel.ts";

/** Elements of a step that are compared with the definition, and about how many terms they may have. */
const SAMPLES = 12;
const SAMPLED_TERMS = 8_000;

/** Returns a compiled catalogue model with the inputs in order. */
function compiledModel(one: CatalogueModel): { model: CompiledModel; inputs: Uint8Array[] } {
  const given = one.inputs();
  const { model } = compileModel(one, given);
  return { model, inputs: model.inputs.map(({ name }) => given.get(name)!.bytes) };
}

/**
 * Runs a model on all executors, on the definition too if it has at most `maxWork` terms.
 * @returns the judge, and the first tensor that differs in words
 */
export async function bitsDisagree(
  one: CatalogueModel,
  variants: readonly Variant[],
  maxWork: number,
): Promise<{ judge: string; steps: number; difference: string | undefined }> {
  const { model, inputs } = compiledModel(one);
  const byDefinition = programTerms(model.program.steps) <= BigInt(maxWork);
  const [first, ...others] = variants as [Variant, ...Variant[]];
  const expected = byDefinition ? executeReference(model, inputs) : await executed(model, inputs, first);
  const sampled = byDefinition ? undefined : samplesDiffer(model, inputs, expected);
  const difference = sampled ?? (await executorsDisagree(model, inputs, expected, byDefinition ? variants : others));
  return {
    judge: byDefinition ? "the definition" : `${first.name} and samples of the definition`,
    steps: model.program.steps.length,
    difference,
  };
}

/** Compares some elements of every step with the definition. */
function samplesDiffer(
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  tensors: readonly Uint8Array[],
): string | undefined {
  const prng = new Prng(1);
  for (const [s, step] of model.program.steps.entries()) {
    const sources = stepSources(model, step, inputs, tensors);
    const read = (input: number, offset: number): Word => readWord(sources[input]!, offset, step.inputs[input]!.dtype);
    const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
    for (let n = 0; n < Math.max(1, Math.min(SAMPLES, Math.floor(SAMPLED_TERMS / terms))); n++) {
      const element = prng.below(step.count);
      const [got, wanted] = [readWord(tensors[s]!, element, step.dtype), evaluateElement(step, element, read)];
      if (got !== wanted)
        return (
          `step ${s} (${model.origins[s]!.operator}), element ${element}: ` +
          `${got.toString(16)}, by definition ${wanted.toString(16)}`
        );
    }
  }
  return undefined;
}

async function executed(
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  { options }: Variant,
): Promise<Uint8Array[]> {
  const executor = await createExecutor(model, options);
  try {
    return (await executor.run(inputs)).tensors;
  } finally {
    await executor.close();
  }
}
