import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, type ModelProto } from "onnx-buf";

const FOLDER = dirname(createRequire(import.meta.url).resolve("@imgly/background-removal-data/package.json"));
/** The size of the model's input pictures. */
export const IMGLY_SIZE = 1024;

/** The background remover `small` (dynamically quantised to 8 bits), put together from its chunks. */
export function imglySmall(): Uint8Array {
  const dist = join(FOLDER, "dist");
  type Resources = Record<string, { size: number; chunks: { hash: string }[] }>;
  const { size, chunks } = (JSON.parse(readFileSync(join(dist, "resources.json"), "utf8")) as Resources)[
    "/models/small"
  ]!;
  const bytes = Buffer.concat(chunks.map(({ hash }) => readFileSync(join(dist, hash))));
  if (bytes.length !== size) throw new Error(`the chunks hold ${bytes.length} bytes, expected ${size}`);
  return bytes;
}

/**
 * Returns the same network for smaller pictures: the input size, and the constant sizes in Resize nodes, are divided by
 * `divisor`.
 */
export function imglyReduced(divisor: number): Uint8Array {
  const proto: ModelProto = fromBinary(ModelProtoSchema, imglySmall());
  const graph = proto.graph!;
  for (const info of [...graph.input, ...graph.output]) {
    if (info.type?.value.case !== "tensorType") continue;
    for (const dim of info.type.value.value.shape!.dim.slice(2))
      if (dim.value.case === "dimValue") dim.value.value /= BigInt(divisor);
  }
  const sizes = new Set(graph.node.filter(({ opType }) => opType === "Resize").map(({ input }) => input[3]));
  for (const tensor of graph.initializer) {
    if (!sizes.has(tensor.name)) continue;
    const raw = Uint8Array.from(tensor.rawData);
    const dims = new BigInt64Array(raw.buffer);
    for (const d of [2, 3]) dims[d] = dims[d]! / BigInt(divisor);
    tensor.rawData = raw;
  }
  graph.valueInfo = [];
  return toBinary(ModelProtoSchema, proto);
}
