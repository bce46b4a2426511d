import { errorWithCode } from "../../base/errors.ts";
import { DType } from "../../numerics/dtype.ts";
import type { Attribute, Model, Node, TensorData, ValueInfo } from "./model.ts";
import { renamed } from "./names.ts";
import { floatTensor, int64Tensor } from "./tensorData.ts";

/** The model has no float32 image input with the given name. */
export class PreprocessingError extends errorWithCode("MODEL_PREPROCESSING") {}

/** How an image's bytes become the model's float32 input: `(x * scale - mean) / std`, channel by channel. */
export type ImagePreprocessing = {
  /** The name of the model's float32 input with shape [N, C, H, W]; the byte input keeps the name. */
  input: string;
  /** Order of the byte input: pixels of interleaved channels, or planes. */
  layout: "NHWC" | "NCHW";
  scale: number;
  /** One value, or a value for each channel in the model's order. */
  mean: readonly number[];
  std: readonly number[];
  /** Whether the bytes' channels are in the reverse of the model's order (RGB bytes for a BGR model). */
  reverseChannels?: boolean;
};

/** PaddleOCR's preprocessing for a line of text: `(x / 255 - 0.5) / 0.5`, channels in the order blue, green, red. */
export const PADDLE_OCR_LINE: ImagePreprocessing = {
  input: "x",
  layout: "NHWC",
  scale: 1 / 255,
  mean: [0.5],
  std: [0.5],
};

const node = (operator: string, inputs: string[], output: string, attributes: [string, Attribute][] = []): Node => ({
  name: `refute.preprocess.${operator}`,
  operator,
  domain: "",
  inputs,
  outputs: [output],
  attributes: new Map(attributes),
});

/** Broadcast against [N, C, H, W]. One value stays a scalar: it then costs the step no read. */
const perChannel = (values: readonly number[]): TensorData =>
  values.length === 1 ? floatTensor(values, []) : floatTensor(values, [values.length, 1, 1]);

/**
 * Replaces a float32 image input by a uint8 one of the same name, followed by a Transpose (NHWC only), a Gather that
 * reverses the channels (reverseChannels only), Cast, Mul, Sub and Div. Deterministic: whoever holds the model file and
 * these parameters gets the same graph, hence the same program root.
 * @throws PreprocessingError
 */
export function withImagePreprocessing(model: Model, options: ImagePreprocessing): Model {
  const { graph } = model;
  const input = graph.inputs.find((candidate) => candidate.name === options.input);
  if (input?.dtype !== DType.float32 || input.shape?.length !== 4)
    throw new PreprocessingError(`${model.source}: "${options.input}" is not a float32 input of rank 4`);
  for (const values of [options.mean, options.std])
    if (values.length !== 1 && values.length !== input.shape[1])
      throw new PreprocessingError(`mean and std need 1 value or ${String(input.shape[1])}, got ${values.length}`);

  const [n, c, h, w] = input.shape;
  const shape = options.layout === "NHWC" ? [n, h, w, c] : [n, c, h, w];
  const byteInput: ValueInfo = { name: options.input, dtype: DType.uint8, shape };
  const name = (stage: string): string => `${options.input}.${stage}`;

  const nodes: Node[] = [];
  const initializers = new Map(graph.initializers);
  let last = options.input;
  const push = (
    stage: string,
    operator: string,
    constants: [string, TensorData][],
    attributes: [string, Attribute][] = [],
  ) => {
    for (const [key, value] of constants) initializers.set(name(key), value);
    nodes.push(node(operator, [last, ...constants.map(([key]) => name(key))], name(stage), attributes));
    last = name(stage);
  };
  if (options.layout === "NHWC") push("planes", "Transpose", [], [["perm", { kind: "ints", value: [0n, 3n, 1n, 2n] }]]);
  if (options.reverseChannels === true) {
    // Not a Slice: before opset 10 it has no steps.
    const channels = input.shape[1];
    if (typeof channels !== "number") throw new PreprocessingError("reverseChannels needs a fixed number of channels");
    const reversed = Array.from({ length: channels }, (_, i) => channels - 1 - i);
    push("reversed", "Gather", [["order", int64Tensor(reversed)]], [["axis", { kind: "int", value: 1n }]]);
  }
  push("float", "Cast", [], [["to", { kind: "int", value: BigInt(DType.float32) }]]);
  push("scaled", "Mul", [["scale", floatTensor([options.scale], [])]]);
  push("centred", "Sub", [["mean", perChannel(options.mean)]]);
  push("normalised", "Div", [["std", perChannel(options.std)]]);

  const names = new Map([[options.input, last]]);
  return {
    ...model,
    graph: {
      ...graph,
      inputs: graph.inputs.map((i) => (i === input ? byteInput : i)),
      nodes: [...nodes, ...graph.nodes.map((n) => ({ ...n, ...renamed(n, names) }))],
      initializers,
    },
  };
}
