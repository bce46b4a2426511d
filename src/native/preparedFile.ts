import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, TensorProto_DataLocation as DataLocation, TypeProtoSchema, type GraphProto } from "onnx-buf";
import { decidedFile } from "../model/decision/decidedFile.ts";
import type { DecideSpec } from "../model/decision/decideSpec.ts";
import { DType } from "../numerics/dtype.ts";
import type { Model, TensorData } from "../model/onnx/model.ts";
import { withImagePreprocessing, type ImagePreprocessing } from "../model/onnx/preprocess.ts";
import { nodeProto, tensorProto } from "../model/onnx/toProto.ts";
import { NativeModelError } from "./errors.ts";

/** The preparation between a model's file and its program, besides compiling. */
export type FilePreparation = {
  /** Inputs that are known at compile time. */
  bound: ReadonlyMap<string, TensorData>;
  /** Which inputs are pictures given as bytes. */
  uint8: readonly ImagePreprocessing[];
  /** Decisions that replace outputs, by output. */
  decide: Readonly<Record<string, DecideSpec>>;
};

/** An ONNX file with the program's inputs, and a map from the program's input names to the file's names. */
type PreparedFile = { bytes: Uint8Array; inputNames: ReadonlyMap<string, string> };

/**
 * Prepares the model's own file like its program: with the same bound inputs, the same picture preprocessing in front,
 * and the same decisions at the end.
 * @param model The model read from the file.
 * @throws NativeModelError if the file's tensors lie in other files; DecideError
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
 * Puts the nodes from `withImagePreprocessing` before a picture input. The last node produces the former input's value
 * under the same name, so its readers keep their names. The bytes become an input with another name.
 * @returns the bytes input's name
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
  // The shape stays unspecified: the order of its dimensions may differ.
  input.type = create(TypeProtoSchema, {
    value: { case: "tensorType", value: { $typeName: "onnx.TypeProto.Tensor", elemType: DType.uint8 } },
  });
  return bytes;
}
