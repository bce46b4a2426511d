import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect } from "chai";
import { ModelProtoSchema, TensorProtoSchema } from "onnx-buf";
import { runCase } from "../../src/examine/conform/runCase.ts";
import { runFolder } from "../../src/examine/conform/runFolder.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { buildModel, tensorProto } from "../../testkit/onnx/onnxBuilder.ts";

const io = (name: string) => ({ name, dtype: DType.float32, shape: [2] });
/** y = (a - w) / b and z = -y; the initializer w is an input too, the first. */
const MODEL = (): Uint8Array => {
  const proto = fromBinary(
    ModelProtoSchema,
    buildModel({
      inputs: [io("w"), io("a"), io("b")],
      outputs: [io("y"), io("z")],
      nodes: [
        { op: "Sub", inputs: ["a", "w"], outputs: ["d"] },
        { op: "Div", inputs: ["d", "b"], outputs: ["y"] },
        { op: "Neg", inputs: ["y"], outputs: ["z"] },
      ],
      initializers: { w: floatTensor([1, 1]) },
    }),
  );
  return toBinary(ModelProtoSchema, proto);
};
const [A, B, Y, Z] = [
  [3, 5],
  [2, 4],
  [1, 1],
  [-1, -1],
].map((values) => floatTensor(values)) as [TensorData, TensorData, TensorData, TensorData];

describe("an ONNX case", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-case-"));
    writeFileSync(join(folder, "model.onnx"), MODEL());
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Writes files, each with the name inside. */
  function write(files: Readonly<Record<string, readonly [name: string, tensor: TensorData]>>): void {
    mkdirSync(join(folder, "test_data_set_0"));
    for (const [file, [name, tensor]] of Object.entries(files))
      writeFileSync(
        join(folder, "test_data_set_0", `${file}.pb`),
        toBinary(TensorProtoSchema, create(TensorProtoSchema, tensorProto(name, tensor))),
      );
  }

  it("goesByTheNamesInItsFiles", async () => {
    write({ input_0: ["b", B], input_1: ["a", A], output_0: ["z", Z], output_1: ["y", Y] });
    expect(await runCase(folder)).to.deep.include({ kind: "passed", bound: false });
  });

  it("withoutNames_goesByPlace_andInitializersThatAreInputsNeedNoFile", async () => {
    write({ input_0: ["", A], input_1: ["", B], output_0: ["", Y], output_1: ["", Z] });
    expect((await runCase(folder)).kind).to.equal("passed");
  });

  it("withAFileForEachInput_givesInitializersTheirValue", async () => {
    const w = floatTensor([-1, 3]);
    const [y, z] = [floatTensor([2, 0.5]), floatTensor([-2, -0.5])];
    write({ input_0: ["", w], input_1: ["", A], input_2: ["", B], output_0: ["", y], output_1: ["", z] });
    expect((await runCase(folder)).kind).to.equal("passed");
  });

  it("withAWrongValue_fails", async () => {
    write({ input_0: ["a", A], input_1: ["b", B], output_0: ["y", Z], output_1: ["z", Y] });
    expect(await runCase(folder)).to.deep.include({ kind: "failed" });
  });

  it("withoutAnInput_isRefused_andSaysWhich", async () => {
    write({ input_0: ["a", A], output_0: ["y", Y], output_1: ["z", Z] });
    expect((await runCase(folder)).detail).to.include('of the input "b"');
    rmSync(join(folder, "test_data_set_0"), { recursive: true });
    write({ input_0: ["a", A], input_1: ["a", A], output_0: ["y", Y], output_1: ["z", Z] });
    expect(await runCase(folder)).to.deep.include({ kind: "refused" });
  });

  it("withoutData_isNone", async () => {
    expect(await runCase(folder)).to.deep.include({ kind: "refused" });
    let error: unknown;
    await runFolder(folder).catch((thrown: unknown) => (error = thrown));
    expect(error).to.have.property("code", "CASE_FOLDER");
  });
});
