/** Prints the cost table for docs/large-data.md: a large input's cost by calldata, by blobs and by reference. */
import { compile } from "../../../src/compiler/compile.ts";
import { BLOBS_PER_TRANSACTION, blobCount, FILE_BYTES_PER_BLOB } from "../../../src/chain/market/blobs.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { postingGas } from "../../../src/parties/requester/postingGas.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { readOptions } from "../../options.ts";

readOptions({});
const SHAPE = [1, 3, 640, 640];
const TRANSACTION_GAS = 21_000;
const BLOB_GAS = 131_072;

const model = buildModel({
  inputs: [{ name: "x", dtype: DType.float32, shape: SHAPE }],
  outputs: [{ name: "y", dtype: DType.float32, shape: SHAPE }],
  nodes: [{ op: "Neg", inputs: ["x"], outputs: ["y"] }],
});
const program = describeProgram(knownProgram(compile(readModel(model), { shapes: {} })));
const bytes = SHAPE.reduce((product, extent) => product * extent, 4);
const blobs = blobCount(bytes);
const transactions = Math.ceil(blobs / BLOBS_PER_TRANSACTION);
const hash = `0x${"ab".repeat(32)}`;

const calldata = postingGas(program);
const byBlobs = postingGas(program, 1, undefined, [`blobs:${Array.from({ length: transactions }, () => hash).join()}`]);
const byReference = postingGas(program, 1, undefined, ["https://files.example/jobs/inputs.bin"]);
const number = (value: number): string => value.toLocaleString("en");
const rows = [
  ["calldata", calldata.gas, 0, calldata.transactions],
  ["blobs", byBlobs.gas + transactions * TRANSACTION_GAS, blobs * BLOB_GAS, byBlobs.transactions + transactions],
  ["reference", byReference.gas, 0, byReference.transactions],
] as const;
console.log(`${number(bytes)} bytes; ${blobs} blobs of ${number(FILE_BYTES_PER_BLOB)} bytes\n`);
console.log("| inputs by | gas | blob gas | transactions |\n| --- | ---: | ---: | ---: |");
for (const [name, gas, blobGas, sent] of rows)
  console.log(`| ${name} | ${number(gas)} | ${number(blobGas)} | ${sent} |`);
