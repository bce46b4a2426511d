import type { CompileLimits } from "../budget.ts";
import type { DecoderInterface } from "./decoderInterface.ts";
import { withDrawnInputs, type DrawnInput } from "./withDrawnInputs.ts";
import { wrapDecoder, type DecoderOptions } from "./wrapDecoder.ts";
import { DrawnInputError, NoiseError, RunWiringError, SeedInputError, TrainingError } from "../errors.ts";
import { withNoise } from "./withNoise.ts";
import { withSeedInput } from "./withSeedInput.ts";
import { carriedByName, type RunWiring } from "../runWiring.ts";
import type { TrainSpec } from "./trainSpec.ts";
import { wrapTraining, type TrainingRun } from "./wrapTraining.ts";
import { appendDecisions } from "../../model/decision/appendDecision.ts";
import type { DecideSpec } from "../../model/decision/decideSpec.ts";
import { DecideError } from "../../model/decision/errors.ts";
import { bindInputs } from "../../model/onnx/bindInputs.ts";
import { bindDimensions } from "../../model/onnx/bindDimensions.ts";
import { boundTensors } from "../../model/onnx/inputs/boundTensors.ts";
import type { Model, TensorData } from "../../model/onnx/model.ts";
import { withImagePreprocessing, type ImagePreprocessing } from "../../model/onnx/preprocess.ts";
import { readModel } from "../../model/onnx/readModel.ts";

/** A model file, with all options that determine the program. */
export type ModelSpec = {
  path: string;
  /** The shapes to compile for, by input. */
  shapes: Record<string, readonly number[]>;
  /** Sizes for dimensions named in the model, in all inputs with the dimension. */
  dims?: Readonly<Record<string, number>> | undefined;
  /** Inputs that are known at compile time: a JSON value, or the name of a .pb, .npy or .json file. */
  bind: Readonly<Record<string, unknown>>;
  /** For sequence inputs: the number of tensors. For optional inputs: 1 if given, 0 otherwise. */
  lengths?: Readonly<Record<string, number>> | undefined;
  /** Which inputs are pictures given as bytes. */
  uint8: readonly ImagePreprocessing[];
  /** Decisions that replace float outputs, by output. */
  decide?: Readonly<Record<string, DecideSpec>> | undefined;
  /** Inputs drawn within the program from one seed, with each input's value range. */
  drawn?: Readonly<Record<string, DrawnInput>> | undefined;
  /** The scale of normal noise added to float inputs, from a seed and the item's number. */
  noise?: Readonly<Record<string, number>> | undefined;
  /** Turns the model into a training run with a separate `run`. */
  train?: TrainSpec | undefined;
  /** Bytes of the largest transaction with a step proof, if not the compiler's default. */
  stepByteLimit?: number | undefined;
  /** Connections between a run's items, by names in the model. */
  run?: RunWiring | undefined;
  /** Wraps a decoder into a run that generates text; `run` is then its own. */
  decoder?: DecoderOptions | undefined;
  /** The seed for random operators. Without `seed` or `seedInput`, random operators are refused. */
  seed?: bigint | undefined;
  /** Random operators draw from a seed given as a job input, instead of `seed`. */
  seedInput?: true | undefined;
  /** Compile limits, if not the compiler's defaults. */
  limits?: Partial<CompileLimits> | undefined;
};

/**
 * A model ready to compile, with the run's wiring, and the tensors bound to the file's inputs. For a wrapped decoder,
 * also the original model's parts.
 */
export type LoadedModel = {
  model: Model;
  /** The same model before wrapping as a decoder. */
  unwrapped: Model;
  run: RunWiring | undefined;
  bound: ReadonlyMap<string, TensorData>;
  decoder?: DecoderInterface;
  /** For a training run: the weights, and initial values for carried inputs. */
  training?: Pick<TrainingRun, "parts" | "initial">;
};

/** The specification's fields for preparing a model. */
type Preparation = Pick<ModelSpec, "bind" | "uint8" | "decide" | "drawn" | "noise" | "run" | "decoder" | "train"> &
  Pick<ModelSpec, "dims" | "seedInput"> &
  Partial<Pick<ModelSpec, "shapes">>;

/**
 * Reads a model, binds the inputs known at compile time, prepends the preprocessing of pictures, and appends decisions.
 * @param externalFile Called with the path of each read file beside the model's file.
 * @throws the reader's errors
 */
export const loadModel = (
  spec: Preparation & Pick<ModelSpec, "path" | "limits" | "lengths">,
  externalFile?: (path: string) => void,
): LoadedModel => {
  const { path, limits, lengths } = spec;
  return prepareModel(readModel(path, { mib: limits?.mib, lengths, ...(externalFile && { externalFile }) }), spec);
};

/**
 * Prepares an already read model in the same way.
 * @throws DimensionError, InputBindingError, PreprocessingError, DecideError, DrawnInputError, NoiseError,
 *   SeedInputError, DecoderError, DecoderRequestError, TrainingError
 */
export function prepareModel(file: Model, preparation: Preparation): LoadedModel {
  const { bind, uint8, decide = {}, drawn = {}, noise = {}, decoder, train, shapes, seedInput } = preparation;
  const own = bindDimensions(file, preparation.dims);
  const run = preparation.run && carriedByName(own.graph, preparation.run);
  const bound = boundTensors(own, bind);
  const given = uint8.reduce(withImagePreprocessing, bindInputs(own, bound));
  const drawing = withDrawnInputs(appendDecisions(given, decide), drawn);
  if (train !== undefined) return { ...trained(drawing, preparation, train, shapes), unwrapped: drawing, bound };
  const noisy = withNoise(drawing, noise, run);
  if (decoder === undefined) {
    const { model, run: wiring } = seedInput === true ? withSeedInput(noisy.model, noisy.run) : noisy;
    return { model, unwrapped: model, run: wiring, bound };
  }
  const { model } = noisy;
  if (Object.keys(decide).length > 0)
    throw new DecideError("a wrapped decoder gives tokens, which are decisions already: leave the other decisions out");
  if (Object.keys(noise).length > 0) throw new NoiseError("a wrapped decoder has no input of floats to add noise to");
  if (Object.keys(drawn).length > 0)
    throw new DrawnInputError("a wrapped decoder takes a prompt: its inputs cannot be drawn");
  if (seedInput === true)
    throw new SeedInputError("a wrapped decoder has a seed of its own, an input: leave --seed-input out");
  if (run !== undefined) throw new RunWiringError("a wrapped decoder has a run of its own: leave the other wiring out");
  return { ...wrapDecoder(model, decoder), unwrapped: model, bound };
}

/** The training run of a prepared model. @throws TrainingError, and as wrapping does */
function trained(
  model: Model,
  { decide = {}, drawn = {}, noise = {}, run, decoder, seedInput }: Preparation,
  train: TrainSpec,
  shapes: ModelSpec["shapes"] | undefined,
): Pick<LoadedModel, "model" | "run" | "training"> {
  const refuse = (what: string): never => {
    throw new TrainingError(`a training run ${what}`);
  };
  if (decoder !== undefined) refuse("is no generation: leave the decoder's flags out");
  if (run !== undefined) refuse("has a run of its own: leave the other wiring out");
  if (Object.keys(decide).length > 0) refuse("gives weights and losses: leave the decisions out");
  if (Object.keys(drawn).length > 0) refuse("takes batches: its inputs cannot be drawn");
  const wrapped = wrapTraining(model, train, shapes);
  const { parts, initial } = wrapped;
  const noisy = withNoise(wrapped.model, noise, wrapped.run);
  const { model: seeded, run: wiring } = seedInput === true ? withSeedInput(noisy.model, noisy.run) : noisy;
  return { model: seeded, run: wiring, training: { parts, initial } };
}
