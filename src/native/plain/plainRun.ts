import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, TensorProto_DataLocation, ValueInfoProtoSchema } from "onnx-buf";
import type * as ort from "onnxruntime-node";
import { errorWithCode } from "../../base/errors.ts";
import { onnxruntime } from "../../executor/engine/binding.ts";
import type { TensorData } from "../../model/onnx/model.ts";
import { readRegularFile } from "../../base/regularFile.ts";
import { fromOrt, toOrt } from "./ortTensor.ts";

/** onnxruntime refuses a model, or its inputs. */
export class PlainRefusalError extends errorWithCode("PLAIN_REFUSAL") {}

/** Runs onnxruntime code and turns its errors into Refute's errors. @throws PlainRefusalError */
async function plainly<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw new PlainRefusalError(`onnxruntime refuses the model: ${(cause as Error).message}`, { cause });
  }
}

/** A model in plain onnxruntime: it can run repeatedly, and gives outputs by name. */
type PlainSession = {
  run: (inputs: ReadonlyMap<string, TensorData>) => Promise<Map<string, TensorData>>;
  close: () => Promise<void>;
};

/**
 * Opens a model in plain onnxruntime with its default options.
 * @param from path of a file, or the file's bytes
 * @throws PlainRefusalError, also from its runs
 */
export async function openPlain(from: string | Uint8Array): Promise<PlainSession> {
  const options = { logSeverityLevel: 3 } as const;
  const { InferenceSession } = onnxruntime();
  const session = await plainly(() =>
    typeof from === "string" ? InferenceSession.create(from, options) : InferenceSession.create(from, options),
  );
  return { run: (inputs) => plainly(() => runSession(session, inputs)), close: () => session.release() };
}

/**
 * Runs a model once in plain onnxruntime with default options.
 * @param from path of a file, or the file's bytes
 */
export async function plainOutputs(
  from: string | Uint8Array,
  inputs: ReadonlyMap<string, TensorData>,
): Promise<Map<string, TensorData>> {
  const plain = await openPlain(from);
  try {
    return await plain.run(inputs);
  } finally {
    await plain.close();
  }
}

/**
 * Runs a model in plain onnxruntime, unoptimised, with values inside the graph exposed as outputs.
 * @returns the values by name; undefined if the model keeps data in other files, which onnxruntime finds only beside
 *   the file itself
 */
export async function plainValues(
  from: string | Uint8Array,
  inputs: ReadonlyMap<string, TensorData>,
  names: Iterable<string>,
): Promise<Map<string, TensorData> | undefined> {
  const proto = fromBinary(ModelProtoSchema, typeof from === "string" ? readRegularFile(from) : from);
  const { graph } = proto;
  if (graph === undefined || graph.initializer.some((t) => t.dataLocation === TensorProto_DataLocation.EXTERNAL))
    return undefined;
  const made = new Set(graph.node.flatMap((node) => node.output));
  const known = new Set(graph.output.map((output) => output.name));
  for (const name of names)
    if (made.has(name) && !known.has(name)) graph.output.push(create(ValueInfoProtoSchema, { name }));
  const options = { graphOptimizationLevel: "disabled", logSeverityLevel: 3 } as const;
  const file = toBinary(ModelProtoSchema, proto);
  const session = await plainly(() => onnxruntime().InferenceSession.create(file, options));
  try {
    return await plainly(() => runSession(session, inputs));
  } finally {
    await session.release();
  }
}

async function runSession(
  session: ort.InferenceSession,
  inputs: ReadonlyMap<string, TensorData>,
): Promise<Map<string, TensorData>> {
  const results = await session.run(Object.fromEntries([...inputs].map(([name, tensor]) => [name, toOrt(tensor)])));
  const values = new Map<string, TensorData>();
  for (const [name, tensor] of Object.entries(results)) {
    const value = fromOrt(tensor);
    if (value !== undefined) values.set(name, value);
  }
  return values;
}
