import type { Command } from "commander";
import type { ImagePreprocessing } from "../onnx/preprocess.ts";
import { DEFAULT_STEP_BYTES, MAX_STEP_BYTES } from "../program/limits.ts";
import { defaultLimits, type CompileLimits } from "../compiler/budget.ts";
import type { ModelSpec } from "../player/programs/modelSpec.ts";
import { bindingText, parseBinding, parseSeed, parseShape, parseUint8, uint8Text } from "./models.ts";
import { as, whole } from "./parse.ts";

/** What the flags of `modelOptions` and `seedOption` give. */
export type ModelOptions = {
  shape?: Record<string, number[]>;
  bind?: Record<string, unknown>;
  uint8?: ImagePreprocessing[];
  stepBytes?: number;
  compileSeconds?: number;
  compileMib?: number;
  compileNodes?: number;
  foldElements?: number;
  seed?: bigint;
};

/** The flags that say how a model is compiled. */
export function modelOptions(command: Command): Command {
  command
    .option("--shape <name=dims>", "shape of an input, e.g. x=1,48,192,3; repeat for more", appendEntry(parseShape))
    .option(
      "--bind <name=value>",
      "an input that is known at compile time: a JSON value or a .pb, .npy or .json file, e.g. sr=16000",
      appendEntry(parseBinding),
    )
    .option(
      "--uint8 <spec>",
      "a picture input given as bytes, e.g. x,mean=0.5,std=0.5; repeat for more",
      (text: string, all: readonly ImagePreprocessing[] = []) => [...all, parseUint8(text)],
    );
  const { seconds, mib, nodes, foldElements } = defaultLimits();
  limit("--step-bytes", "bytes of the largest transaction with a step proof", DEFAULT_STEP_BYTES, MAX_STEP_BYTES);
  limit("--compile-seconds", "seconds that compiling may take", seconds);
  limit("--compile-mib", "MiB that compiling may hold", mib);
  limit("--compile-nodes", "nodes of the model, with each iteration of a loop", nodes);
  limit("--fold-elements", "elements of constants that may be computed", foldElements);
  return command;

  function limit(flag: string, text: string, value: number, max?: number): void {
    command.option(`${flag} <n>`, `${text} (default: ${value})`, as(whole(1, max), flag));
  }
}

/** Collects `NAME=VALUE`s. Of a name that is given twice the last one holds. */
const appendEntry =
  <T>(parse: (text: string) => [name: string, value: T]) =>
  (text: string, all: Record<string, T> = {}): Record<string, T> => ({ ...all, ...Object.fromEntries([parse(text)]) });

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
  shapes: options.shape ?? {},
  bind: options.bind ?? {},
  uint8: options.uint8 ?? [],
  stepByteLimit: options.stepBytes,
  seed: options.seed,
  limits: limitsOf(options),
});

/** The flags that describe a model, for whoever must compile the same program: the other way of `modelSpec`. */
export function modelFlags({ shapes, bind, uint8, stepByteLimit, seed, limits = {} }: ModelSpec): string[] {
  const { seconds, mib, nodes, foldElements } = limits;
  const numbers = {
    ...{ "step-bytes": stepByteLimit, "compile-seconds": seconds, "compile-mib": mib, "compile-nodes": nodes },
    ...{ "fold-elements": foldElements, seed },
  };
  return [
    ...Object.entries(shapes).flatMap(([name, shape]) => ["--shape", `${name}=${shape.join(",")}`]),
    ...Object.entries(bind).flatMap(([name, value]) => ["--bind", `${name}=${bindingText(value)}`]),
    ...uint8.flatMap((picture) => ["--uint8", uint8Text(picture)]),
    ...Object.entries(numbers).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, String(value)])),
  ];
}

/** Collects an option that may be given more than once. */
export const appendOption = (text: string, all: readonly string[] = []): string[] => [...all, text];
