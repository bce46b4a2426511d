import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, TensorProto_DataLocation as DataLocation, TypeProtoSchema, type GraphProto } from "onnx-buf";
import { decidedFile } from "../model/decision/decidedFile.ts";
import type { DecideSpec } from "../model/decision/decideSpec.ts";
import { DType } from "../numerics/dtype.ts";
import type { Model, TensorData } from "../model/onnx/model.ts";
import { withImagePreprocessing, type ImagePreprocessing } from "../model/onnx/preprocess.ts";
import { nodeProto, tensorProto } from "../model/onnx/toProto.ts";
import { NativeModelError } from "./errors.ts";

/** What stands between a model's file and its program, besides the compiler. */
export type FilePreparation = {
  /** Inputs that are known at compile time. */
  bound: ReadonlyMap<string, TensorData>;
  /** Which inputs are pictures given as bytes. */
  uint8: readonly ImagePreprocessing[];
  /** Decisions that take the place of outputs, by output. */
  decide: Readonly<Record<string, DecideSpec>>;
};

/** An ONNX file that takes what the program takes, and the names of its inputs by the program's. */
type PreparedFile = { bytes: Uint8Array; inputNames: ReadonlyMap<string, string> };

/**
 * The model's own file, with the same inputs bound, the same preprocessing of pictures before it and the same decisions
 * behind it as its program has.
 * @param model As the file was read.
 * @throws NativeModelError if tensors of it lie in other files; DecideError
 */
export function preparedFile(own: Uint8Array, model: Model, { bound, uint8, decide }: FilePreparation): PreparedFile {
  const file = Object.keys(decide).length === 0 ? own : decidedFile(own, model, decide);
  const proto = fromBinary(ModelProtoSchema, file);
  const graph = proto.graph!;
  if (graph.initializer.some(({ dataLocation }) => dataLocation === DataLocation.EXTERNAL))
    throw new NativeModelError(
      `${model.source}: tensors of it lie in other files, which onnxruntime is not given here: ` +
        "serve it by a process of its own (--native-url), or execute it exactly",
    );
  const inputNames = new Map<string, string>();
  if (bound.size === 0 && uint8.length === 0) return { bytes: file, inputNames };
  graph.input = graph.input.filter(({ name }) => !bound.has(name));
  for (const [name, tensor] of bound) graph.initializer.push(tensorProto(name, tensor));
  for (const picture of uint8) inputNames.set(picture.input, prependPreprocessing(graph, model, picture));
  return { bytes: toBinary(ModelProtoSchema, proto), inputNames };
}

/**
 * Puts the nodes of `withImagePreprocessing` before a picture input. The last one makes the value that the input was,
 * so that nothing that reads it is renamed; the bytes are an input of another name.
 * @returns that name
 */
function prependPreprocessing(graph: GraphProto, model: Model, picture: ImagePreprocessing): string {
  const { graph: prepared } = withImagePreprocessing(model, picture);
  const made = prepared.nodes.slice(0, prepared.nodes.length - model.graph.nodes.length);
  const bytes = `${picture.input}.bytes`;
  const last = made.at(-1)!.outputs[0]!;
  const renamed = new Map([
    [picture.input, bytes],
    [last, picture.input],
  ]);
  const named = (names: readonly string[]): string[] => names.map((name) => renamed.get(name) ?? name);
  graph.node.unshift(
    ...made.map((node) => nodeProto({ ...node, inputs: named(node.inputs), outputs: named(node.outputs) })),
  );
  for (const [name, tensor] of prepared.initializers)
    if (!model.graph.initializers.has(name)) graph.initializer.push(tensorProto(name, tensor));
  const input = graph.input.find(({ name }) => name === picture.input)!;
  input.name = bytes;
  // Of its shape nothing is said: the order of its dimensions may be another one.
  input.type = create(TypeProtoSchema, {
    value: { case: "tensorType", value: { $typeName: "onnx.TypeProto.Tensor", elemType: DType.uint8 } },
  });
  return bytes;
}
