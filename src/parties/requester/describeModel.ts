import { compile } from "../../compiler/compile.ts";
import { readModel } from "../../model/onnx/readModel.ts";
import { knownProgram } from "../../dispute/run/execution.ts";
import { prepareModel } from "../../runs/programs/modelSpec.ts";
import type { ProgramDescription } from "./description.ts";
import { describeProgram, type Labels } from "./describeProgram.ts";
import type { DecoderOptions } from "../../compiler/wraps/wrapDecoder.ts";
import type { DrawnInput } from "../../compiler/wraps/withDrawnInputs.ts";
import type { TrainSpec } from "../../compiler/wraps/trainSpec.ts";
import type { DecideSpec } from "../../model/decision/decideSpec.ts";
import type { RunWiring } from "../../compiler/runWiring.ts";
import type { ImagePreprocessing } from "../../model/onnx/preprocess.ts";

/** What `loadProgram` does. */
export function describeModel(from: string | Uint8Array, options: LoadOptions): ProgramDescription {
  const { bind = {}, uint8 = [], shapes = {}, seed, stepByteLimit, labels, ...rest } = options;
  const { model, run } = prepareModel(readModel(from), { ...rest, bind, uint8, shapes });
  const compiled = compile(model, { shapes, stepByteLimit, run, ...(seed !== undefined && { seed }) });
  return describeProgram(knownProgram(compiled), labels);
}

/** How a model is compiled. Another choice may be another program: its root decides. */
export type LoadOptions = {
  /** The shapes that it is compiled for, by input; an input whose shape the model fixes may be left out. */
  shapes?: Readonly<Record<string, readonly number[]>>;
  /** The size of dimensions that the model names, in all inputs that have them. */
  dims?: Readonly<Record<string, number>>;
  /** Inputs that are known now: a JSON value, or the name of a .pb, .npy or .json file. */
  bind?: Readonly<Record<string, unknown>>;
  /** Inputs that are pictures given as bytes. */
  uint8?: readonly ImagePreprocessing[];
  /** Decisions that take the place of outputs that are floats, by output. */
  decide?: Readonly<Record<string, DecideSpec>>;
  /** Inputs that are drawn within the program from one seed, and from which values. */
  drawn?: Readonly<Record<string, DrawnInput>>;
  /** The scale of the normal noise that is added to inputs of floats, from a seed and the item's number. */
  noise?: Readonly<Record<string, number>>;
  /** Makes of the model a run that trains it. */
  train?: TrainSpec;
  /** Of random operators, 64 bits; without it they are refused. */
  seed?: bigint;
  /** Random operators draw from an input of the job, `random_seed`, instead of `seed`. */
  seedInput?: true;
  /** Bytes of the largest transaction with a step proof: at most the deployment's `maxStepBytes`. */
  stepByteLimit?: number;
  /** How the items of a run hang together, by names of the model. */
  run?: RunWiring;
  /** Wraps a decoder into a run that generates text. */
  decoder?: DecoderOptions;
  labels?: Labels;
};
