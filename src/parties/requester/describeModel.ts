import { compile } from "../../compiler/compile.ts";
import { readModel } from "../../model/onnx/readModel.ts";
import { knownProgram } from "../../dispute/run/execution.ts";
import { prepareModel } from "../../compiler/wraps/modelSpec.ts";
import type { ProgramDescription } from "./description.ts";
import { describeProgram, type Labels } from "./describeProgram.ts";
import type { DecoderOptions } from "../../compiler/wraps/wrapDecoder.ts";
import type { DrawnInput } from "../../compiler/wraps/withDrawnInputs.ts";
import type { TrainSpec } from "../../compiler/wraps/trainSpec.ts";
import type { DecideSpec } from "../../model/decision/decideSpec.ts";
import type { RunWiring } from "../../compiler/runWiring.ts";
import type { ImagePreprocessing } from "../../model/onnx/preprocess.ts";

/** Implements `loadProgram`. */
export function describeModel(from: string | Uint8Array, options: LoadOptions): ProgramDescription {
  const { bind = {}, uint8 = [], shapes = {}, seed, stepByteLimit, labels, ...rest } = options;
  const { model, run } = prepareModel(readModel(from), { ...rest, bind, uint8, shapes });
  const compiled = compile(model, { shapes, stepByteLimit, run, ...(seed !== undefined && { seed }) });
  return describeProgram(knownProgram(compiled), labels);
}

/** How a model is compiled. Another choice may be another program: its root decides. */
export type LoadOptions = {
  /** The input shapes for compilation, by input; an input with a shape fixed by the model may be omitted. */
  shapes?: Readonly<Record<string, readonly number[]>>;
  /** Sizes for the model's named dimensions, applied to all inputs with the name. */
  dims?: Readonly<Record<string, number>>;
  /** Inputs that are known now: a JSON value, or the name of a .pb, .npy or .json file. */
  bind?: Readonly<Record<string, unknown>>;
  /** Inputs that are pictures given as bytes. */
  uint8?: readonly ImagePreprocessing[];
  /** Decisions that replace float outputs, by output. */
  decide?: Readonly<Record<string, DecideSpec>>;
  /** Inputs that the program draws from one seed, with the values to draw from. */
  drawn?: Readonly<Record<string, DrawnInput>>;
  /** The scale of normal noise added to float inputs, drawn from a seed and the item's number. */
  noise?: Readonly<Record<string, number>>;
  /** Turns the model into a run that trains the model. */
  train?: TrainSpec;
  /** Seed of random operators, 64 bits; without a seed random operators are refused. */
  seed?: bigint;
  /** Random operators draw from an input of the job, `random_seed`, instead of `seed`. */
  seedInput?: true;
  /** Bytes of the largest transaction with a step proof: at most the deployment's `maxStepBytes`. */
  stepByteLimit?: number;
  /** Connections between the items of a run, by names in the model. */
  run?: RunWiring;
  /** Wraps a decoder into a run that generates text. */
  decoder?: DecoderOptions;
  labels?: Labels;
};
