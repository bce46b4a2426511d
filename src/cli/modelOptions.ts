import type { Command } from "commander";
import type { ImagePreprocessing } from "../onnx/preprocess.ts";
import { DEFAULT_STEP_BYTES } from "../program/limits.ts";
import { defaultLimits, type CompileLimits } from "../compiler/budget.ts";
import type { ModelSpec } from "../player/programs/modelSpec.ts";
import { parseBinding, parseLimit, parseSeed, parseShape, parseStepBytes, parseUint8 } from "./models.ts";

/** What the flags of `modelOptions` and `seedOption` give. */
export type ModelOptions = {
  shape: Record<string, number[]>;
  bind: Record<string, unknown>;
  uint8: ImagePreprocessing[];
  stepBytes?: number | undefined;
  compileSeconds?: number | undefined;
  compileMib?: number | undefined;
  compileNodes?: number | undefined;
  foldElements?: number | undefined;
  seed?: bigint | undefined;
};

/** The flags that say how a model is compiled. */
export function modelOptions(command: Command): Command {
  return limitOptions(command)
    .option(
      "--shape <name=dims>",
      "shape of an input, e.g. x=1,48,192,3; repeat for more",
      (text: string, all: Record<string, number[]>) => ({ ...all, ...Object.fromEntries([parseShape(text)]) }),
      {},
    )
    .option(
      "--bind <name=value>",
      "an input that is known at compile time: a JSON value or a .pb, .npy or .json file, e.g. sr=16000",
      (text: string, all: Record<string, unknown>) => ({ ...all, ...Object.fromEntries([parseBinding(text)]) }),
      {},
    )
    .option(
      "--uint8 <spec>",
      "a picture input given as bytes, e.g. x,mean=0.5,std=0.5; repeat for more",
      (text: string, all: readonly ImagePreprocessing[]) => [...all, parseUint8(text)],
      [],
    )
    .option(
      "--step-bytes <n>",
      `bytes of the largest transaction with a step proof, at most the deployment's (default: ${DEFAULT_STEP_BYTES})`,
      parseStepBytes,
    );
}

/** The flags of what compiling may take. */
function limitOptions(command: Command): Command {
  const { seconds, mib, nodes, foldElements } = defaultLimits();
  return command
    .option("--compile-seconds <n>", `seconds that compiling may take (default: ${seconds})`, parseLimit)
    .option("--compile-mib <n>", `MiB that compiling may hold (default: ${mib})`, parseLimit)
    .option("--compile-nodes <n>", `nodes of the model, with each iteration of a loop (default: ${nodes})`, parseLimit)
    .option("--fold-elements <n>", `elements of constants that may be computed (default: ${foldElements})`, parseLimit);
}

/** The limits that the flags give. */
const limitsOf = ({
  compileSeconds,
  compileMib,
  compileNodes,
  foldElements,
}: ModelOptions): Partial<CompileLimits> => ({
  ...(compileSeconds === undefined ? {} : { seconds: compileSeconds }),
  ...(compileMib === undefined ? {} : { mib: compileMib }),
  ...(compileNodes === undefined ? {} : { nodes: compileNodes }),
  ...(foldElements === undefined ? {} : { foldElements }),
});

/** The flag of the seed of random operators. */
export const seedOption = (command: Command): Command =>
  command.option("--seed <n>", "of random operators; without it they are refused", parseSeed);

/** The model that the flags describe. */
export const modelSpec = (path: string, options: ModelOptions): ModelSpec => ({
  path,
  shapes: options.shape,
  bind: options.bind,
  uint8: options.uint8,
  stepByteLimit: options.stepBytes,
  seed: options.seed,
  limits: limitsOf(options),
});

/** Collects an option that may be given more than once. */
export const appendOption = (text: string, all: readonly string[]): string[] => [...all, text];
