/** Float32 layers with weights above 4 GiB: exact execution against plain onnxruntime. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, TensorProto_DataLocation as Location } from "onnx-buf";
import { DType, dtypeBytes } from "../../../src/numerics/dtype.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { dataEntries } from "../../../testkit/onnx/dataFile.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { compareRuns } from "./compareRuns.ts";
import { MIB } from "./figures.ts";

/** A down projection's width in a model with 7 billion parameters: 462 MiB a layer. */
const WIDTH = 11_008;
/** Tensors that are read and held by the compiler, at most. */
const MAX_MIB = 16_384;

/** Writes the model's two files; a row of weights is another one, rotated. */
function write(path: string, layers: number): void {
  const row = new Float32Array(WIDTH);
  const prng = new Prng(1);
  const next = (): number => prng.uint32() / 2 ** 32 - 0.5;
  const data = openSync(`${path}.data`, "w");
  const bytes = dtypeBytes(DType.float32) * WIDTH;
  for (let n = 0; n < layers; n++)
    for (let k = 0; k < WIDTH; k++) {
      for (let c = k % 64; c < WIDTH; c += 64) row[c] = (4 * next()) / Math.sqrt(WIDTH);
      writeSync(data, new Uint8Array(row.buffer), 0, bytes, (n * WIDTH + k) * bytes);
    }
  closeSync(data);
  const size = (dim: number | undefined) =>
    dim === undefined
      ? { value: { case: "dimParam" as const, value: "tokens" } }
      : { value: { case: "dimValue" as const, value: BigInt(dim) } };
  const shape = { dim: [size(undefined), size(WIDTH)] };
  const tensor = (name: string) => ({
    name,
    type: { value: { case: "tensorType" as const, value: { elemType: DType.float32, shape } } },
  });
  const value = (n: number): string => (n === 0 ? "x" : n === layers ? "y" : `h${n}`);
  const names = Array.from({ length: layers }, (_, n) => n);
  const location = `${basename(path)}.data`;
  const graph = {
    name: "layers",
    input: [tensor("x")],
    output: [tensor("y")],
    initializer: names.map((n) => ({
      name: `w${n}`,
      dims: [BigInt(WIDTH), BigInt(WIDTH)],
      dataType: 1,
      dataLocation: Location.EXTERNAL,
      externalData: dataEntries({ location, offset: n * WIDTH * bytes, length: WIDTH * bytes }),
    })),
    node: names.map((n) => ({
      opType: "Gemm",
      input: [value(n), `w${n}`],
      output: [value(n + 1)],
      attribute: [{ name: "transB", type: 2, i: 1n }],
    })),
  };
  const proto = create(ModelProtoSchema, { irVersion: 8n, opsetImport: [{ domain: "", version: 17n }], graph });
  writeFileSync(path, toBinary(ModelProtoSchema, proto));
}

/** Measures both, one after the other, and prints their figures and ratios. */
export async function measureBeyond(layers: number, tokens: number, threads: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "refute-memory-"));
  try {
    const path = join(folder, "model.onnx");
    write(path, layers);
    const mib = Math.round((layers * WIDTH ** 2 * dtypeBytes(DType.float32)) / MIB);
    console.log(`${layers} layers of ${WIDTH} x ${WIDTH} float32, ${mib} MiB; ${tokens} tokens, threads: ${threads}`);
    const values = Array.from({ length: tokens * WIDTH }, (_, i) => Math.sin(i));
    const inputs = new Map([["x", floatTensor(values, [tokens, WIDTH])]]);
    await compareRuns({ path, inputs, bind: {}, threads, mib: MAX_MIB });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
