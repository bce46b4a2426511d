import type { Command } from "commander";
import type { ImagePreprocessing } from "../model/onnx/preprocess.ts";
import { DEFAULT_STEP_BYTES, MAX_STEP_BYTES } from "../program/limits.ts";
import { defaultLimits, type CompileLimits } from "../compiler/budget.ts";
import type { DecideSpec } from "../model/decision/decideSpec.ts";
import type { DrawnInput } from "../compiler/wraps/withDrawnInputs.ts";
import type { DecoderOptions } from "../compiler/wraps/wrapDecoder.ts";
import type { RunWiring } from "../compiler/runWiring.ts";
import {
  lossText,
  optimiserText,
  parseLoss,
  parseOptimiser,
  parseShare,
  shareText,
  type TrainSpec,
} from "../compiler/wraps/trainSpec.ts";
import type { ModelSpec } from "../compiler/wraps/modelSpec.ts";
import { UsageError } from "./errors.ts";
import {
  bindingText,
  decideFlag,
  drawnFlag,
  parseBinding,
  parseCarry,
  parseDecide,
  parseDimension,
  parseDrawn,
  parseLength,
  parseNoise,
  parseSeed,
  parseShape,
  parseUint8,
  uint8Text,
} from "./models.ts";
import { as, whole } from "./parse.ts";
import { GROUPS } from "./words/helpGroups.ts";

/** Rows in a decoder's caches by default: an item computes with all rows. */
const SLOTS = 256;

/** The values from the flags of `modelOptions` and `seedOption`. */
export type ModelOptions = {
  shape?: Record<string, number[]>;
  dim?: Record<string, number[]>;
  bind?: Record<string, unknown>;
  length?: Record<string, number>;
  uint8?: ImagePreprocessing[];
  decide?: Record<string, DecideSpec>;
  drawn?: Record<string, DrawnInput>;
  noise?: Record<string, number>;
  loss?: Pick<TrainSpec, "loss" | "output">;
  optimiser?: Pick<TrainSpec, "optimiser" | "attributes">;
  frozen?: string[];
  rates?: number;
  share?: NonNullable<TrainSpec["share"]>;
  stepBytes?: number;
  compileSeconds?: number;
  compileMib?: number;
  compileNodes?: number;
  foldElements?: number;
  seed?: bigint;
  seedInput?: true;
  batch?: true;
  each?: string[];
  index?: string[];
  carry?: Record<string, string>;
  eachOutput?: string[];
  lastOutput?: string[];
  decoder?: true;
  slots?: number;
  endToken?: number[];
  greedy?: true;
  chain?: true;
};

/** Adds the flags for compiling a model. */
export function modelOptions(command: Command): Command {
  command
    .optionsGroup(GROUPS.model)
    .option("--shape <name=dims>", "shape of an input, e.g. x=1,48,192,3; repeat for more", appendEntry(parseShape))
    .option(
      "--dim <name=n>",
      "size of a dimension that the model names, in all inputs that have it, e.g. sequence=128; repeat for more",
      appendEntry(parseDimension),
    )
    .option(
      "--bind <name=value>",
      "an input that is known at compile time: a JSON value or a .pb, .npy or .json file, e.g. sr=16000",
      appendEntry(parseBinding),
    )
    .option(
      "--uint8 <spec>",
      "a picture input given as bytes, e.g. x,mean=0.5,std=0.5; repeat for more",
      (text: string, all: readonly ImagePreprocessing[] = []) => [...all, parseUint8(text)],
    )
    .option(
      "--decide <output=decision>",
      "a decision in the place of an output: argmax, top5, round=2 (decimals); repeat for more",
      appendEntry(parseDecide),
    )
    .optionsGroup(GROUPS.inputs)
    .option(
      "--length <name=n>",
      "tensors of an input that is a sequence, NAME.0 and on; of an optional input, 1 if it is given, else 0",
      appendEntry(parseLength),
    )
    .option(
      "--drawn <input=low:high>",
      "an input that is drawn within the program, all by one seed, e.g. x=-1:1 or x[1,3,48,192]=-1:1; repeat for more",
      appendEntry(parseDrawn),
    )
    .option(
      "--noise <input=scale>",
      "normal noise from a seed and the item's number, added to an input of float32; repeat for more",
      appendEntry(parseNoise),
    )
    .option("--seed-input", "random operators draw from an input of the job, random_seed, one int64")
    .optionsGroup(GROUPS.run)
    .option("--batch", "items of a run that have nothing in common: all inputs and outputs are each item's own")
    .option("--each <input>", "an input that each item of a run has of its own; repeat for more", appendOption)
    .option("--index <input>", "an input that is the item's number: int64, one element", appendOption)
    .option(
      "--carry <input=output>",
      "an input that is an output of the item before; repeat for more",
      appendEntry(parseCarry),
    )
    .option("--each-output <output>", "an output that each item of a run has; repeat for more", appendOption)
    .option(
      "--last-output <output>",
      "an output of the last item (default: all that are neither carried nor each item's)",
      appendOption,
    );
  command
    .optionsGroup(GROUPS.decoder)
    .option("--decoder", "wrap a language model with a cache into a run that generates text")
    .option(
      "--slots <n>",
      `rows of each cache; a text has one token more at most (default: ${SLOTS})`,
      as(whole(1), "--slots"),
    )
    .option(
      "--end-token <id>",
      "a token that ends a text; repeat for more",
      (text: string, all: readonly number[] = []) => [...all, whole(0)(text, "--end-token")],
    )
    .option("--greedy", "always the most probable token: a program without temperature, top-k, top-p and seed")
    .option("--chain", "the caches are outputs too: job dispatch cuts a text into jobs; each goes on with the text");
  trainingOptions(
    command
      .optionsGroup(GROUPS.training)
      .option("--loss <loss>", "a run that trains the model: crossEntropy, mse or output", parseLoss),
  );
  command.optionsGroup(GROUPS.limits);
  const { seconds, mib, nodes, foldElements } = defaultLimits();
  limit("--step-bytes", "bytes of the largest transaction with a step proof", DEFAULT_STEP_BYTES, MAX_STEP_BYTES);
  limit("--compile-seconds", "seconds that compiling may take", seconds);
  limit("--compile-mib", "MiB that compiling may hold", mib);
  limit("--compile-nodes", "nodes of the model, with each iteration of a loop", nodes);
  limit("--fold-elements", "elements of constants that may be computed", foldElements);
  return command.optionsGroup("");

  function limit(flag: string, text: string, value: number, max?: number): void {
    command.option(`${flag} <n>`, `${text} (default: ${value})`, as(whole(1, max), flag));
  }
}

/** Adds the flags for training a model, besides the loss. */
const trainingOptions = (command: Command): Command =>
  command
    .option("--optimiser <name>", "sgd, momentum, nesterov, adagrad or adam, e.g. adam,beta=0.99", parseOptimiser)
    .option("--frozen <weight>", "a weight that is not trained; repeat for more", appendOption)
    .option(
      "--rates <n>",
      "learning rates, one an item; later items use the last one (default: 1)",
      as(whole(1), "--rates"),
    )
    .option(
      "--share <share>",
      "a step over many workers: part=16, the sums over 16 examples of a batch; join=4, the update from 4 such shares",
      parseShare,
    );

/** Collects `NAME=VALUE`s. For a name given twice the last value holds. */
export const appendEntry =
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
  command
    .optionsGroup(GROUPS.inputs)
    .option("--seed <n>", "of random operators; without it, or --seed-input, they are refused", parseSeed)
    .optionsGroup("");

/** How the items of a run hang together; undefined if no flag says it. */
function wiringOf({ batch, each, index, carry: carried, eachOutput, lastOutput }: ModelOptions): RunWiring | undefined {
  const given = { batch, each, index, carried, eachOutputs: eachOutput, lastOutputs: lastOutput };
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** How a decoder is wrapped; undefined if it is not. @throws UsageError */
function decoderOf({ decoder, slots, endToken, greedy, chain }: ModelOptions): DecoderOptions | undefined {
  if (decoder === true) return { slots: slots ?? SLOTS, endTokens: endToken, greedy, chain };
  const flags = { "--slots": slots, "--end-token": endToken, "--greedy": greedy, "--chain": chain };
  const [given] = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
  if (given) throw new UsageError(`${given} says how a decoder is wrapped: give --decoder too`);
  return undefined;
}

/** How a model is trained; undefined if it is not. @throws UsageError */
function trainOf({ loss, optimiser, frozen, rates, share }: ModelOptions): TrainSpec | undefined {
  const optional = { ...(frozen && { frozen }), ...(rates !== undefined && { rates }), ...(share && { share }) };
  if (loss !== undefined) return { ...loss, ...(optimiser ?? { optimiser: "sgd" }), ...optional };
  const flags = { "--optimiser": optimiser, "--frozen": frozen, "--rates": rates, "--share": share };
  const [given] = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
  if (given) throw new UsageError(`${given} says how a model is trained: give --loss too`);
  return undefined;
}

/** Returns the source for random operators. @throws UsageError */
function seedsOf({ seed, seedInput }: ModelOptions): Pick<ModelSpec, "seed" | "seedInput"> {
  if (seed !== undefined && seedInput === true)
    throw new UsageError("--seed: with --seed-input the seed is an input of the job: give one of both flags");
  return { seed, seedInput };
}

/** The one size of each dimension; undefined if no flag names one. @throws UsageError */
function dimsOf({ dim }: ModelOptions): ModelSpec["dims"] {
  if (dim === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(dim).map(([name, [size, ...others]]) => {
      if (others.length > 0)
        throw new UsageError(`--dim ${name}: a program has one size of it; refute model compile takes several`);
      return [name, size!];
    }),
  );
}

/** The model that the flags describe. @throws UsageError */
export const modelSpec = (path: string, options: ModelOptions): ModelSpec => ({
  path,
  shapes: options.shape ?? {},
  dims: dimsOf(options),
  bind: options.bind ?? {},
  lengths: options.length,
  uint8: options.uint8 ?? [],
  decide: options.decide,
  drawn: options.drawn,
  noise: options.noise,
  train: trainOf(options),
  run: wiringOf(options),
  decoder: decoderOf(options),
  stepByteLimit: options.stepBytes,
  ...seedsOf(options),
  limits: limitsOf(options),
});

/** Returns the flags that describe a model, for compiling the same program elsewhere: the inverse of `modelSpec`. */
export function modelFlags(spec: ModelSpec): string[] {
  const { shapes, dims = {}, bind, lengths = {}, uint8, decide = {}, drawn = {}, noise = {}, run = {} } = spec;
  const { decoder, train, stepByteLimit, seed, seedInput, limits = {} } = spec;
  const { seconds, mib, nodes, foldElements } = limits;
  const numbers = {
    ...{ "step-bytes": stepByteLimit, "compile-seconds": seconds, "compile-mib": mib, "compile-nodes": nodes },
    ...{ "fold-elements": foldElements, seed },
  };
  return [
    ...Object.entries(shapes).flatMap(([name, shape]) => ["--shape", `${name}=${shape.join(",")}`]),
    ...Object.entries(dims).flatMap(([name, size]) => ["--dim", `${name}=${size}`]),
    ...Object.entries(bind).flatMap(([name, value]) => ["--bind", `${name}=${bindingText(value)}`]),
    ...Object.entries(lengths).flatMap(([name, length]) => ["--length", `${name}=${length}`]),
    ...uint8.flatMap((picture) => ["--uint8", uint8Text(picture)]),
    ...Object.entries(decide).flatMap(([output, decision]) => ["--decide", decideFlag(output, decision)]),
    ...Object.entries(drawn).flatMap(([input, range]) => ["--drawn", drawnFlag(input, range)]),
    ...Object.entries(noise).flatMap(([input, scale]) => ["--noise", `${input}=${scale}`]),
    ...(seedInput === true ? ["--seed-input"] : []),
    ...(train === undefined ? [] : trainFlags(train)),
    ...wiringFlags(run),
    ...(decoder === undefined ? [] : decoderFlags(decoder)),
    ...Object.entries(numbers).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, String(value)])),
  ];
}

const decoderFlags = ({ slots, endTokens = [], greedy, chain }: DecoderOptions): string[] => [
  ...["--decoder", "--slots", String(slots)],
  ...endTokens.flatMap((token) => ["--end-token", String(token)]),
  ...(greedy === true ? ["--greedy"] : []),
  ...(chain === true ? ["--chain"] : []),
];

const trainFlags = (train: TrainSpec): string[] => [
  ...["--loss", lossText(train), "--optimiser", optimiserText(train)],
  ...(train.frozen ?? []).flatMap((name) => ["--frozen", name]),
  ...(train.rates === undefined ? [] : ["--rates", String(train.rates)]),
  ...(train.share === undefined ? [] : ["--share", shareText(train.share)]),
];

function wiringFlags({ batch, each, index, carried = {}, eachOutputs, lastOutputs }: RunWiring): string[] {
  const names = { each, index, "each-output": eachOutputs, "last-output": lastOutputs };
  return [
    ...(batch === true ? ["--batch"] : []),
    ...Object.entries(names).flatMap(([flag, all = []]) => all.flatMap((name) => [`--${flag}`, name])),
    ...Object.entries(carried).flatMap(([input, output]) => ["--carry", `${input}=${output}`]),
  ];
}

/** Collects an option that may be given more than once. */
export const appendOption = (text: string, all: readonly string[] = []): string[] => [...all, text];
