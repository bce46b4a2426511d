import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { GraphProtoSchema, ModelProtoSchema, ValueInfoProtoSchema, type GraphProto } from "onnx-buf";
import { ModelFormatError } from "../onnx/errors.ts";
import { ValueNameError } from "./errors.ts";

/**
 * Returns the same ONNX file with further graph values as outputs: inputs, initializers, or node outputs. Names already
 * among the outputs change nothing. Weights in other files stay outside: the new file must lie next to the weight
 * files.
 * @throws ModelFormatError, ValueNameError for a name without a value in the file's graph
 */
export function withOutputs(onnxBytes: Uint8Array, names: readonly string[]): Uint8Array {
  const graph = graphOf(onnxBytes);
  const outputs = new Set(graph.output.map(({ name }) => name));
  const added = [...new Set(names)].filter((name) => !outputs.has(name));
  const values = new Set([
    ...[...graph.input, ...graph.initializer].map(({ name }) => name),
    ...graph.node.flatMap((node) => node.output),
  ]);
  const unknown = added.find((name) => name === "" || !values.has(name));
  if (unknown !== undefined)
    throw new ValueNameError(
      `the file's graph has no value "${unknown}": values of its functions and bodies are hidden`,
    );
  return appendToGraph(onnxBytes, { output: added.map((name) => create(ValueInfoProtoSchema, { name })) });
}

/** The graph of an ONNX file. @throws ModelFormatError */
function graphOf(onnxBytes: Uint8Array): GraphProto {
  const source = "the model";
  try {
    const { graph } = fromBinary(ModelProtoSchema, onnxBytes, { readUnknownFields: false });
    if (graph !== undefined) return graph;
  } catch (cause) {
    throw new ModelFormatError(source, "its bytes do not decode", { cause });
  }
  throw new ModelFormatError(source, "it holds no graph");
}

/**
 * Returns the same file with additions at the end of its graph's lists. No part of the file is rewritten: readers merge
 * consecutive messages, by the protocol buffers encoding.
 */
export function appendToGraph(
  onnxBytes: Uint8Array,
  more: Partial<Pick<GraphProto, "node" | "initializer" | "output">>,
): Uint8Array {
  const graph = create(GraphProtoSchema, more);
  const tail = toBinary(ModelProtoSchema, create(ModelProtoSchema, { graph }));
  const bytes = new Uint8Array(onnxBytes.length + tail.length);
  bytes.set(onnxBytes);
  bytes.set(tail, onnxBytes.length);
  return bytes;
}
