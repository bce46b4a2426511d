import { expect } from "chai";
import { InputFileError } from "../../../src/model/onnx/inputs/errors.ts";
import { jsonTensor } from "../../../src/model/onnx/inputs/jsonTensor.ts";
import { readNpy } from "../../../src/model/onnx/inputs/npy.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";

/** A NumPy file as numpy.save writes it. */
function npy(descr: string, shape: string, data: Uint8Array, fortran = "False"): Buffer {
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`;
  const header = Buffer.from(`${text.padEnd(117)}\n`, "latin1");
  const length = Buffer.alloc(2);
  length.writeUInt16LE(header.length);
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), length, header, data]);
}

describe("readNpy", () => {
  const { bytes } = floatTensor([1, 2, 3, 4, 5, 6]);

  it("array_isReadWithTypeAndShape", () => {
    expect(readNpy(npy("<f4", "(2, 3)", bytes), "x.npy")).to.deep.equal({ dtype: DType.float32, shape: [2, 3], bytes });
    expect(readNpy(npy("<f4", "(6,)", bytes), "x.npy").shape).to.deep.equal([6]);
    expect(readNpy(npy("<i8", "()", int64Tensor([7]).bytes), "x.npy")).to.include({ dtype: DType.int64 });
  });

  const refusals: [string, Buffer, RegExp][] = [
    ["complex_isRefusedByName", npy("<c8", "(3,)", bytes), /<c8/],
    ["bigEndian_isRefused", npy(">f4", "(6,)", bytes), />f4/],
    ["fortranOrder_isRefused", npy("<f4", "(2, 3)", bytes, "True"), /Fortran/],
    ["dataThatDoesNotFitTheShape_isRefused", npy("<f4", "(2, 4)", bytes), /24 bytes.*32/],
    ["anotherFormat_isRefused", Buffer.from("PK\x03\x04 not an array"), /not a NumPy file/],
    ["formatThatNobodyKnows_isRefused", npy("<f4", "(6,)", bytes).fill(9, 6, 7), /NumPy format 9, expected 1 to 3/],
    ["truncatedHeader_isRefused", npy("<f4", "(6,)", bytes).subarray(0, 40), /header/],
  ];
  for (const [name, file, expected] of refusals)
    it(name, () => expect(() => readNpy(file, "x.npy")).to.throw(InputFileError, expected));
});

describe("jsonTensor", () => {
  const read = (json: unknown, dtype: DType) => jsonTensor(json, dtype, "x.json");

  it("nestedArrays_giveShapeAndElements", () => {
    expect(read([[1, 0.5, "NaN"]], DType.float32)).to.deep.equal({
      ...floatTensor([1, 0.5, NaN]),
      shape: [1, 3],
    });
    expect(read([1, "-9223372036854775808"], DType.int64)).to.deep.equal(int64Tensor([1, -(2n ** 63n)]));
    expect([...read([true, false, 1], DType.bool).bytes]).to.deep.equal([1, 0, 1]);
    expect(read(["Infinity", "-Infinity"], DType.float16))
      .to.have.property("shape")
      .that.deep.equals([2]);
    expect([...read(65519, DType.float16).bytes]).to.deep.equal([0xff, 0x7b]);
    expect(read(5, DType.uint8)).to.deep.equal({ dtype: DType.uint8, shape: [], bytes: Uint8Array.of(5) });
  });

  const refusals: [string, unknown, DType, RegExp][] = [
    ["raggedArrays_areRefused", [[1, 2], [3]], DType.float32, /unequal length/],
    ["unequalDepth_isRefused", [[1], 2], DType.float32, /unequal depth/],
    ["textInAFloatTensor_isRefused", ["one"], DType.float32, /"one"/],
    ["fractionInAnIntegerTensor_isRefused", [1.5], DType.int32, /1\.5.*int32/],
    ["integerOutOfRange_isRefused", [256], DType.uint8, /256.*uint8/],
    ["negativeUnsigned_isRefused", [-1], DType.uint64, /-1.*uint64/],
    [
      "numberBeyondJavaScript_isRefused",
      JSON.parse("[1e999]"),
      DType.float64,
      /beyond the range of float64.*"Infinity"/,
    ],
    ["numberBeyondTheType_isRefused", [-1e39], DType.float32, /-1e\+39 beyond the range of float32/],
    ["numberThatRoundsToInfinity_isRefused", [65520], DType.float16, /65520 beyond the range of float16/],
    ["object_isRefused", { data: [1] }, DType.float32, /expected a number/],
  ];
  for (const [name, json, dtype, expected] of refusals)
    it(name, () => expect(() => read(json, dtype)).to.throw(InputFileError, expected));
});
