import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect } from "chai";
import { GraphProtoSchema, ModelProtoSchema, NodeProtoSchema, TensorProtoSchema } from "onnx-buf";
import { DType } from "../../../src/numerics/dtype.ts";
import { ExternalDataError, ModelFileError, ModelGraphError } from "../../../src/model/onnx/errors.ts";
import { InputFileError } from "../../../src/model/onnx/inputs/errors.ts";
import { readInputFile } from "../../../src/model/onnx/inputs/readInputFile.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { ModelSizeError } from "../../../src/model/onnx/tensorMemory.ts";

/** A model that returns its initializers; each is given by what differs from a float32 tensor of two elements. */
function model(...initializers: readonly object[]): Uint8Array {
  return toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: 8n,
      opsetImport: [{ domain: "", version: 17n }],
      graph: create(GraphProtoSchema, {
        node: [create(NodeProtoSchema, { opType: "Identity", input: ["w0"], output: ["y"] })],
        output: [{ name: "y", type: { value: { case: "tensorType", value: { elemType: 1 } } } }],
        initializer: initializers.map((change, k) =>
          create(TensorProtoSchema, { name: `w${k}`, dataType: 1, dims: [2n], ...change }),
        ),
      }),
    }),
  );
}

const external = (location: string, entries: Readonly<Record<string, string>> = {}): object => ({
  dataLocation: 1,
  externalData: Object.entries({ location, ...entries }).map(([key, value]) => ({ key, value })),
});

describe("hostile files", () => {
  let folder: string;
  const path = (name: string): string => join(folder, name);
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-hostile-"));
    execFileSync("mkfifo", [path("pipe.onnx"), path("pipe.bin"), path("pipe.npy")]);
    mkdirSync(path("folder.bin"));
    writeFileSync(path("sparse.bin"), "");
    truncateSync(path("sparse.bin"), 60 * 2 ** 30);
  });
  after(() => rmSync(folder, { recursive: true }));

  const read = (bytes: Uint8Array, mib?: number) => () => readModel(bytes, { externalDataDir: folder, mib });

  it("modelThatIsNoRegularFile_isRefused", () => {
    expect(() => readModel(path("pipe.onnx"))).to.throw(ModelFileError, "it is a pipe");
    expect(() => readModel(path("folder.bin"))).to.throw(ModelFileError, "it is a folder");
    expect(() => readModel(path("sparse.bin"))).to.throw(ModelFileError, "64424509440 bytes");
  });

  it("externalDataThatIsNoRegularFile_namesTensorAndFile", () => {
    expect(read(model(external("pipe.bin")))).to.throw(ExternalDataError, /"w0" \(pipe\.bin\) is a pipe/);
    expect(read(model(external("folder.bin")))).to.throw(ExternalDataError, /\(folder\.bin\) is a folder/);
  });

  it("externalDataLargerThanMemory_isRefused", () => {
    const dims = [15n * 2n ** 30n];
    expect(read(model({ ...external("sparse.bin"), dims }))).to.throw(ModelSizeError, /"w0".*--compile-mib/);
  });

  it("oneFileReadManyTimes_countsEachTime", () => {
    const half = { ...external("sparse.bin", { length: String(2 ** 19) }), dims: [2n ** 17n] };
    expect(read(model(half, half), 1)).to.not.throw();
    expect(read(model(half, half, half), 1)).to.throw(ModelSizeError, '"w2" its tensors take more than 1 MiB');
  });

  it("externalDataBeyondItsFile_isRefused", () => {
    const wrong: Record<string, string>[] = [{ offset: "-1" }, { length: "1e30" }, { offset: "x" }, { length: "1.5" }];
    for (const entries of wrong)
      expect(read(model(external("sparse.bin", entries))), JSON.stringify(entries)).to.throw(ExternalDataError);
  });

  it("shapeWithoutItsData_takesNoMemory", () => {
    for (const dims of [[2n ** 50n], [2n ** 31n, 2n ** 31n], [-1n], new Array<bigint>(70).fill(1n)])
      expect(read(model({ dims })), dims.join()).to.throw(ModelGraphError, '"w0"');
  });

  it("inputThatIsNoRegularFile_isRefused", () => {
    const input = { name: "x", dtype: DType.float32, shape: [2] };
    expect(() => readInputFile(input, path("pipe.npy"))).to.throw(InputFileError, "is a pipe");
  });
});
