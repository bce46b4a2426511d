import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect } from "chai";
import { AttributeProtoSchema, GraphProtoSchema, ModelProtoSchema, NodeProtoSchema, TensorProtoSchema } from "onnx-buf";
import fc from "fast-check";
import { RefuteError } from "../../../src/base/errors.ts";
import { compile } from "../../../src/compiler/compile.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import * as errors from "../../../src/model/onnx/errors.ts";
import { unpacked } from "../../../src/model/onnx/narrow.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { buildModel, type ModelSpec } from "../../../testkit/onnx/onnxBuilder.ts";

const SPEC: ModelSpec = {
  inputs: [{ name: "x", dtype: DType.float32, shape: ["batch", 2] }],
  outputs: [{ name: "y", dtype: DType.float32 }],
  nodes: [
    { op: "Add", name: "first", inputs: ["x", "w"], outputs: ["z"] },
    { op: "LeakyRelu", name: "second", inputs: ["z"], outputs: ["y"], attributes: { alpha: { float: 0.5 } } },
  ],
  initializers: { w: floatTensor([1, -2]) },
};

/** SPEC with its one initializer changed. */
function withInitializer(change: object): Uint8Array {
  return toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: 8n,
      opsetImport: [{ domain: "", version: 17n }],
      graph: create(GraphProtoSchema, {
        node: [create(NodeProtoSchema, { opType: "Identity", input: ["w"], output: ["y"] })],
        output: [{ name: "y", type: { value: { case: "tensorType", value: { elemType: 1 } } } }],
        initializer: [create(TensorProtoSchema, { name: "w", dataType: 1, dims: [2n], ...change })],
      }),
    }),
  );
}

describe("readModel", () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-onnx-"))));
  after(() => rmSync(folder, { recursive: true }));

  it("plainModel_givesTypedGraph", () => {
    const model = readModel(buildModel(SPEC));
    expect(model.opsets.get("")).to.equal(17);
    expect(model.graph.inputs).to.deep.equal([{ name: "x", dtype: DType.float32, shape: ["batch", 2] }]);
    expect(model.graph.nodes.map((n) => n.operator)).to.deep.equal(["Add", "LeakyRelu"]);
    expect(model.graph.nodes[1]!.attributes.get("alpha")).to.deep.equal({ kind: "float", value: 0.5 });
    expect(model.graph.initializers.get("w")).to.deep.equal(floatTensor([1, -2]));
  });

  it("typedDataFields_equalRawData", () => {
    const model = readModel(withInitializer({ floatData: [1.5, -2] }));
    expect(model.graph.initializers.get("w")).to.deep.equal(floatTensor([1.5, -2]));
    const int64 = readModel(withInitializer({ dataType: 7, int64Data: [5n, -6n] })).graph.initializers.get("w")!;
    expect([...new BigInt64Array(int64.bytes.buffer)]).to.deep.equal([5n, -6n]);
    const uint8 = readModel(withInitializer({ dataType: 2, int32Data: [5, 250] })).graph.initializers.get("w")!;
    expect([...uint8.bytes]).to.deep.equal([5, 250]);
  });

  it("fourBits_areReadPacked", () => {
    const model = readModel(withInitializer({ dataType: 22, rawData: Uint8Array.of(0x8f) }));
    const tensor = model.graph.initializers.get("w")!;
    expect(tensor).to.include({ dtype: DType.int8, narrow: "int4", fourBits: true });
    expect([...unpacked({ ...tensor, narrow: "int4" }).bytes]).to.deep.equal([0xff, 0xf8]);
  });

  it("missingFile_isRefused", () => {
    expect(() => readModel(join(folder, "absent.onnx"))).to.throw(errors.ModelFileError, "absent.onnx");
  });

  it("otherFormat_isRefused", () => {
    const file = join(folder, "picture.onnx");
    writeFileSync(file, Buffer.from("\x89PNG\r\n\x1a\n0000000000000000"));
    expect(() => readModel(file)).to.throw(errors.ModelFormatError, "picture.onnx");
    expect(() => readModel(new Uint8Array(0))).to.throw(errors.ModelFormatError);
  });

  it("truncatedAnywhere_isRefusedWithATypedError", () => {
    const bytes = buildModel(SPEC);
    for (let length = 0; length < bytes.length; length++)
      expect(() => readModel(bytes.subarray(0, length)), `${length} bytes`).to.throw(RefuteError);
  });

  it("damagedByte_givesAModelOrATypedError", () => {
    const bytes = buildModel(SPEC);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
        const damaged = Uint8Array.from(bytes);
        damaged[at] = value;
        try {
          readModel(damaged);
        } catch (error) {
          expect(error).to.be.instanceOf(RefuteError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("unknownVersions_areRefused", () => {
    expect(() => readModel(buildModel({ ...SPEC, opset: 0 }))).to.throw(errors.ModelVersionError, "operator set 0");
    expect(() => readModel(buildModel({ ...SPEC, opset: 99 }))).to.throw(errors.ModelVersionError, "operator set 99");
    expect(() => readModel(buildModel({ ...SPEC, irVersion: 99 }))).to.throw(errors.ModelVersionError, "IR version 99");
  });

  it("unknownDType_namesTensorAndType", () => {
    expect(() => readModel(withInitializer({ dataType: 14, floatData: [1, 2] }))).to.throw(
      errors.DTypeError,
      /"w".*complex64/,
    );
  });

  it("attributeOfUnknownDType_namesFileNodeAndAttribute", () => {
    const bytes = toBinary(
      ModelProtoSchema,
      create(ModelProtoSchema, {
        irVersion: 8n,
        opsetImport: [{ domain: "", version: 17n }],
        graph: create(GraphProtoSchema, {
          node: [
            create(NodeProtoSchema, {
              opType: "Constant",
              name: "constant_7",
              output: ["y"],
              attribute: [
                create(AttributeProtoSchema, {
                  name: "value",
                  type: 4,
                  t: { dataType: 14, dims: [1n], rawData: new Uint8Array(8) },
                }),
              ],
            }),
          ],
          output: [{ name: "y", type: { value: { case: "tensorType", value: { elemType: 1 } } } }],
        }),
      }),
    );
    const file = join(folder, "complex.onnx");
    writeFileSync(file, bytes);
    expect(() => readModel(file)).to.throw(errors.DTypeError, /complex\.onnx.*"value".*constant_7.*complex64/);
  });

  it("dataThatDoesNotFitTheShape_isRefused", () => {
    expect(() => readModel(withInitializer({ floatData: [1] }))).to.throw(errors.ModelGraphError, /"w".*shape \[2\]/);
    expect(() => readModel(withInitializer({ rawData: new Uint8Array(7) }))).to.throw(errors.ModelGraphError);
  });

  it("outputWithoutAType_isTheNodesBusiness_andAnInputWithoutOneIsRefused", () => {
    const missing = 0 as DType;
    const outputs = [{ name: "y", dtype: missing }];
    expect(readModel(buildModel({ ...SPEC, outputs })).graph.outputs).to.deep.equal([{ name: "y", shape: undefined }]);
    const bare = fromBinary(ModelProtoSchema, buildModel(SPEC));
    delete bare.graph!.output[0]!.type;
    const model = readModel(toBinary(ModelProtoSchema, bare));
    expect(compile(model, { shapes: { x: [1, 2] } }).outputs).to.deep.equal([
      { name: "y", dtype: DType.float32, shape: [1, 2] },
    ]);
    delete bare.graph!.input[0]!.type;
    expect(() => readModel(toBinary(ModelProtoSchema, bare))).to.throw(errors.ModelGraphError, /"x".*has no type/);
  });

  it("outputThatIsAnInitializer_hasItsValue", () => {
    const k = floatTensor([7, 8]);
    const outputs = ["y", "k", "w"].map((name) => ({ name, dtype: DType.float32 }));
    const model = compile(readModel(buildModel({ ...SPEC, outputs, initializers: { ...SPEC.initializers, k } })), {
      shapes: { x: [1, 2] },
    });
    expect(model.outputs.map(({ name }) => name)).to.deep.equal(["y", "k", "w"]);
    const tensors = executeReference(model, [floatTensor([1, 1]).bytes]);
    const found = model.program.outputs.map((at) => tensors[model.program.checkpoints[at]!.step]!);
    expect(found.slice(1)).to.deep.equal([k.bytes, floatTensor([1, -2]).bytes]);
  });

  it("textThatNothingReads_isLeftOut_andAnotherIsRefused", () => {
    const proto = fromBinary(ModelProtoSchema, buildModel(SPEC));
    const text = (name: string) =>
      create(TensorProtoSchema, { name, dataType: 8, dims: [1n], stringData: [Uint8Array.of(65)] });
    const constant = (output: string, attribute: object) =>
      create(NodeProtoSchema, {
        opType: "Constant",
        output: [output],
        attribute: [create(AttributeProtoSchema, attribute)],
      });
    const { node, initializer } = proto.graph!;
    initializer.push(text("words"));
    node.push(
      constant("one", { name: "value_string", type: 3, s: Uint8Array.of(65) }),
      constant("some", { name: "value_strings", type: 8, strings: [Uint8Array.of(65)] }),
      constant("all", { name: "value", type: 4, t: text("") }),
    );
    const { graph } = readModel(toBinary(ModelProtoSchema, proto));
    expect(graph.nodes.map(({ operator }) => operator)).to.deep.equal(["Add", "LeakyRelu"]);
    expect([...graph.initializers.keys()]).to.deep.equal(["w"]);
    node.push(create(NodeProtoSchema, { opType: "Identity", input: ["words"], output: ["read"] }));
    expect(() => readModel(toBinary(ModelProtoSchema, proto))).to.throw(errors.DTypeError, /"words".*string/);
  });

  it("nameWithoutProducer_isRefused", () => {
    const spec: ModelSpec = { ...SPEC, nodes: [SPEC.nodes[1]!] };
    expect(() => readModel(buildModel(spec))).to.throw(errors.ModelGraphError, /second.*"z"/);
    const output: ModelSpec = { ...SPEC, outputs: [{ name: "q", dtype: DType.float32 }] };
    expect(() => readModel(buildModel(output))).to.throw(errors.ModelGraphError, '"q"');
  });

  describe("external data", () => {
    const external = (location: string, offset = 0): Uint8Array =>
      withInitializer({
        dataLocation: 1,
        externalData: [
          { key: "location", value: location },
          { key: "offset", value: String(offset) },
          { key: "length", value: "8" },
        ],
      });

    it("besideTheModel_isRead", () => {
      writeFileSync(join(folder, "w.bin"), Buffer.concat([new Uint8Array(4), floatTensor([3, 4]).bytes]));
      writeFileSync(join(folder, "m.onnx"), external("w.bin", 4));
      expect(readModel(join(folder, "m.onnx")).graph.initializers.get("w")).to.deep.equal(floatTensor([3, 4]));
    });

    it("lengthLeftOutOrZero_isThatOfTheShape", () => {
      writeFileSync(join(folder, "two.bin"), Buffer.concat([floatTensor([1, 2]).bytes, floatTensor([3, 4, 5]).bytes]));
      const read = (...entries: { key: string; value: string }[]) =>
        readModel(
          withInitializer({ dataLocation: 1, externalData: [{ key: "location", value: "two.bin" }, ...entries] }),
          { externalDataDir: folder },
        ).graph.initializers.get("w");
      const [none, offset] = [
        { key: "length", value: "0" },
        { key: "offset", value: "8" },
      ];
      expect(read()).to.deep.equal(floatTensor([1, 2]));
      expect(read(offset)).to.deep.equal(floatTensor([3, 4]));
      expect(read(offset, none)).to.deep.equal(floatTensor([3, 4]));
      expect(() => read({ key: "offset", value: "16" })).to.throw(errors.ExternalDataError, "byte 24");
      expect(() => read(offset, { key: "length", value: "4" })).to.throw(errors.ModelGraphError, "shape [2]");
      for (const value of ["-8", "0x8", "8.0", ""])
        expect(() => read({ key: "offset", value }), value).to.throw(errors.ExternalDataError, `offset "${value}"`);
    });

    it("missing_namesTensorAndFile", () => {
      writeFileSync(join(folder, "n.onnx"), external("gone.bin"));
      expect(() => readModel(join(folder, "n.onnx"))).to.throw(errors.ExternalDataError, /n\.onnx.*"w".*gone\.bin/);
      expect(() => readModel(external("gone.bin"))).to.throw(errors.ExternalDataError, "no folder");
    });

    it("tooShort_isRefused", () => {
      writeFileSync(join(folder, "short.bin"), new Uint8Array(9));
      expect(() => readModel(external("short.bin", 4), { externalDataDir: folder })).to.throw(
        errors.ExternalDataError,
        "byte 12",
      );
    });

    it("beyondTwoGigabytes_isRead", () => {
      const path = join(folder, "large.bin");
      // Sparse: it takes no room.
      writeFileSync(path, "");
      truncateSync(path, 2 ** 32 + 8);
      const file = openSync(path, "r+");
      writeSync(file, floatTensor([5, 6]).bytes, 0, 8, 2 ** 32);
      closeSync(file);
      const { graph } = readModel(external("large.bin", 2 ** 32), { externalDataDir: folder });
      expect(graph.initializers.get("w")).to.deep.equal(floatTensor([5, 6]));
    });

    it("linkOutOfTheFolder_isRefused", () => {
      const inner = join(folder, "inner");
      mkdirSync(inner);
      writeFileSync(join(folder, "w2.bin"), floatTensor([3, 4]).bytes);
      symlinkSync(join(folder, "w2.bin"), join(inner, "link.bin"));
      const read = (location: string) => () => readModel(external(location), { externalDataDir: inner });
      expect(read("link.bin")).to.throw(errors.ExternalDataError, "outside");
      symlinkSync(folder, join(inner, "up"));
      expect(read("up/w2.bin")).to.throw(errors.ExternalDataError, "outside");
    });

    it("outsideTheFolder_isRefused", () => {
      for (const location of ["../w.bin", "/etc/passwd", "a/../../w.bin"])
        expect(() => readModel(external(location), { externalDataDir: folder })).to.throw(
          errors.ExternalDataError,
          "outside",
        );
    });
  });
});

describe("order of nodes", () => {
  const io = (name: string) => ({ name, dtype: DType.float32, shape: [2] });
  const node = (op: string, input: string, output: string) => ({ op, inputs: [input], outputs: [output] });
  const namesOf = (nodes: readonly ReturnType<typeof node>[]): string[] =>
    readModel(buildModel({ inputs: [io("x")], outputs: [io("y")], nodes })).graph.nodes.flatMap(
      ({ outputs }) => outputs,
    );

  it("appendedNode_isPutBeforeWhatReadsIt_andTheRestStays", () => {
    expect(
      namesOf([node("Relu", "c", "a"), node("Abs", "a", "b"), node("Neg", "b", "y"), node("Exp", "x", "c")]),
    ).to.deep.equal(["c", "a", "b", "y"]);
    expect(namesOf([node("Exp", "x", "b"), node("Exp", "x", "a"), node("Neg", "a", "y")])).to.deep.equal([
      "b",
      "a",
      "y",
    ]);
  });

  it("cycle_isRefused", () => {
    expect(() => namesOf([node("Relu", "b", "a"), node("Abs", "a", "b"), node("Neg", "b", "y")])).to.throw(
      errors.ModelGraphError,
      "nothing before it",
    );
  });
});
