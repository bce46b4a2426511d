import { readFileSync } from "node:fs";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, TensorProto_DataLocation, ValueInfoProtoSchema } from "onnx-buf";
import * as ort from "onnxruntime-node";
import type { TensorData } from "../../onnx/model.ts";
import { fromOrt, toOrt } from "./ortTensor.ts";

/** Runs a model in plain onnxruntime with its default options. @param from path of a file, or its bytes @returns the outputs by name */
export async function plainOutputs(
  from: string | Uint8Array,
  inputs: ReadonlyMap<string, TensorData>,
): Promise<Map<string, TensorData>> {
  const options = { logSeverityLevel: 3 } as const;
  const session =
    typeof from === "string" ? ort.InferenceSession.create(from, options) : ort.InferenceSession.create(from, options);
  return runSession(await session, inputs);
}

/**
 * Runs a model in plain onnxruntime, unoptimised, with values inside the graph exposed as outputs.
 * @returns the values by name; undefined if the model keeps data in other files, which onnxruntime finds only beside the file itself
 */
export async function plainValues(
  from: string | Uint8Array,
  inputs: ReadonlyMap<string, TensorData>,
  names: Iterable<string>,
): Promise<Map<string, TensorData> | undefined> {
  const proto = fromBinary(ModelProtoSchema, typeof from === "string" ? readFileSync(from) : from);
  const { graph } = proto;
  if (graph === undefined || graph.initializer.some((t) => t.dataLocation === TensorProto_DataLocation.EXTERNAL))
    return undefined;
  const made = new Set(graph.node.flatMap((node) => node.output));
  const known = new Set(graph.output.map((output) => output.name));
  for (const name of names)
    if (made.has(name) && !known.has(name)) graph.output.push(create(ValueInfoProtoSchema, { name }));
  const options = { graphOptimizationLevel: "disabled", logSeverityLevel: 3 } as const;
  return runSession(await ort.InferenceSession.create(toBinary(ModelProtoSchema, proto), options), inputs);
}

async function runSession(
  session: ort.InferenceSession,
  inputs: ReadonlyMap<string, TensorData>,
): Promise<Map<string, TensorData>> {
  const results = await session.run(Object.fromEntries([...inputs].map(([name, tensor]) => [name, toOrt(tensor)])));
  await session.release();
  const values = new Map<string, TensorData>();
  for (const [name, tensor] of Object.entries(results)) {
    const value = fromOrt(tensor);
    if (value !== undefined) values.set(name, value);
  }
  return values;
}
