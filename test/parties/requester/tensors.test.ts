import { expect } from "chai";
import { DType, type DTypeName, isDType } from "../../../src/numerics/dtype.ts";
import { wordNumber } from "../../../src/numerics/numbers.ts";
import { decodeOutputs, topScores, type DecodedOutput } from "../../../src/parties/requester/decodeOutputs.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { encodeInputs } from "../../../src/parties/requester/encodeInputs.ts";
import { JobInputError, OutputError } from "../../../src/parties/requester/errors.ts";
import { bytesPerElement, elementsIn } from "../../../src/parties/requester/typedArrays.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";

const bytesOf = (data: ArrayBufferView): Uint8Array => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

describe("tensors of the SDK", function () {
  const program = describeProgram(mlpProgram());

  it("halfFloats_areTheNumbersOfTheirWords", function () {
    const words = Uint16Array.from({ length: 2 ** 16 }, (_, k) => k);
    for (const dtype of ["float16", "bfloat16"] as const) {
      const numbers = [...elementsIn(bytesOf(words), dtype)];
      const expected = [...words].map((word) => wordNumber(BigInt(word), DType[dtype]));
      // A tensor has one zero; a delivered word may be the other one.
      expect(numbers.findIndex((number, k) => !Object.is(Number(number) + 0, expected[k]! + 0))).to.equal(-1);
    }
  });

  it("everyType_hasItsElements_alsoFromBytesThatAreNotAligned", function () {
    const bytes = Uint8Array.from({ length: 33 }, (_, k) => (k * 37) & 0x7f).subarray(1);
    const view = new DataView(bytes.buffer, 1);
    const expected: Record<string, number | bigint> = {
      float32: view.getFloat32(4, true),
      float64: view.getFloat64(8, true),
      uint8: view.getUint8(1),
      bool: view.getUint8(1),
      int8: view.getInt8(1),
      uint16: view.getUint16(2, true),
      int16: view.getInt16(2, true),
      uint32: view.getUint32(4, true),
      int32: view.getInt32(4, true),
      uint64: view.getBigUint64(8, true),
      int64: view.getBigInt64(8, true),
    };
    for (const [dtype, element] of Object.entries(expected))
      expect(elementsIn(bytes, dtype as DTypeName)[1], dtype).to.equal(element);
    const all = Object.entries(DType).filter(([, code]) => isDType(code));
    for (const [dtype, code] of all)
      expect(elementsIn(bytes, dtype as DTypeName), String(code)).to.have.length(
        32 / bytesPerElement(dtype as DTypeName),
      );
  });

  it("outputs_areDecodedByTheirNames_andThoseOfOtherProgramsRefused", function () {
    const data = Float32Array.from({ length: 10 }, (_, k) => k / 8);
    const decoded = decodeOutputs(program, new Map([[0, bytesOf(data)]]));
    expect([...decoded.keys()]).to.deep.equal(["y"]);
    expect(decoded.get("y")).to.deep.include({ name: "y", dtype: "float32", shape: [1, 10], data });
    expect(() => decodeOutputs(program, new Map([[1, bytesOf(data)]]))).to.throw(OutputError, "the program has 1");
    expect(() => decodeOutputs(program, new Map([[0, new Uint8Array(4)]]))).to.throw(OutputError, "expected 40");
  });

  it("inputs_areEncodedInTheirOrder_andOthersRefusedByName", function () {
    const bytes = mlpInput(1);
    const x = new Float32Array(Uint8Array.from(bytes).buffer);
    expect(encodeInputs(program, { x }).map((input) => Buffer.from(input).equals(bytes))).to.deep.equal([true]);
    const refused = (tensors: Record<string, Float32Array | Float64Array>, words: string): void =>
      void expect(() => encodeInputs(program, tensors)).to.throw(JobInputError, words);
    refused({}, 'input "x" is missing: expected a Float32Array of 64 (float32, [1, 64])');
    refused({ x, z: x }, 'no input "z"; its inputs are x');
    refused({ x: x.subarray(1) }, "got a Float32Array of 63");
    refused({ x: new Float64Array(64) }, "got a Float64Array of 64");
  });

  it("topScores_areTheHighestOfEachRow_withLabels", function () {
    const output = (data: DecodedOutput["data"], labels?: string[]): DecodedOutput => ({
      ...{ name: "y", dtype: "float32", shape: [2, 3], data, bytes: bytesOf(data) },
      ...(labels && { labels }),
    });
    expect(topScores(output(Float32Array.of(1, 3, 3, NaN, -Infinity, 2), ["a", "b", "c"]), 2)).to.deep.equal([
      [
        { index: 1, score: 3, label: "b" },
        { index: 2, score: 3, label: "c" },
      ],
      [
        { index: 2, score: 2, label: "c" },
        { index: 1, score: -Infinity, label: "b" },
      ],
    ]);
    expect(topScores(output(BigInt64Array.of(5n, 7n, 6n, 1n, 2n, 3n)), 1)).to.deep.equal([
      [{ index: 1, score: 7 }],
      [{ index: 2, score: 3 }],
    ]);
  });
});
