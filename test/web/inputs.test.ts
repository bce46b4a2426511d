import { expect } from "chai";
import { DType, type DType as DTypeCode } from "../../src/numerics/dtype.ts";
import { writeNpy } from "../../src/model/onnx/inputs/npy.ts";
import { rejection } from "../../testkit/rejection.ts";
import { drawInputs, openModel } from "../../web/playground/engine.ts";
import { givenInputs } from "../../web/playground/inputs.ts";
import { pictureTensor, planeOf, type Pixels } from "../../web/playground/picture.ts";
import { mlpBytes, mlpInput } from "../../testkit/models/mlp.ts";

const input = (shape: readonly number[], dtype: DTypeCode = DType.float32) => ({
  inputs: [{ name: "x", dtype, shape }],
});
const file = (name: string, content: string | Uint8Array) => ({
  x: { name, bytes: typeof content === "string" ? new TextEncoder().encode(content) : content },
});
/** Two pixels: a red and a grey one. */
const PIXELS = Uint8ClampedArray.of(255, 0, 0, 255, 51, 51, 51, 255) as Pixels;
const decoded = (): Promise<Pixels> => Promise.resolve(PIXELS);

describe("web: inputs of one's own", () => {
  it("json_andNpy_areReadAsByTheCommandLine", async () => {
    const expected = Float32Array.of(1, -2.5);
    const json = await givenInputs(input([1, 2]), file("x.json", "[[1, -2.5]]"), decoded);
    expect(json.get("x")).to.deep.equal(new Uint8Array(expected.buffer));
    const npy = writeNpy({ dtype: DType.float32, shape: [1, 2], bytes: new Uint8Array(expected.buffer) });
    expect((await givenInputs(input([1, 2]), file("x.npy", npy), decoded)).get("x")).to.deep.equal(json.get("x"));
  });

  for (const [name, content, message] of [
    ["x.json", "[[1]]", "x.json: is [1, 1], but the input x takes [1, 2]"],
    ["x.json", "[1, 2", "x.json: is not JSON"],
    ["x.json", '[["a", 2]]', "expected a number"],
    ["x.npy", "nothing", "x.npy: is not a NumPy file"],
    ["x.txt", "1", "expected a name that ends in .pb, .npy or .json"],
    ["x.png", "1", "is a picture, but the input x takes [1, 2]"],
  ] as const) {
    it(`whatDoesNotFit_isRefused: ${name} of ${content}`, async () => {
      expect((await rejection(givenInputs(input([1, 2]), file(name, content), decoded))).message).to.include(message);
    });
  }

  it("bytesOfOtherTypes_areRefused", async () => {
    const npy = writeNpy({ dtype: DType.int64, shape: [1, 2], bytes: new Uint8Array(16) });
    const error = await rejection(givenInputs(input([1, 2]), file("x.npy", npy), decoded));
    expect(error.message).to.include("is int64, but the input x takes float32");
    const truth = writeNpy({ dtype: DType.bool, shape: [1, 2], bytes: Uint8Array.of(1, 2) });
    const other = await rejection(givenInputs(input([1, 2], DType.bool), file("x.npy", truth), decoded));
    expect(other.message).to.include("other than 0 and 1");
  });

  it("whatIsNotGiven_isDrawn", () => {
    const { compiled } = openModel("mlp.onnx", mlpBytes(), {}, () => undefined);
    const own = mlpInput(3);
    expect(drawInputs(compiled!, new Map([["x", own]]), 1)[0]).to.equal(own);
    expect(drawInputs(compiled!, new Map(), 1)[0]).to.not.deep.equal(own);
  });

  it("pictures_lieAsTheShapeSays", async () => {
    const planar = await givenInputs(input([1, 3, 1, 2], DType.uint8), file("x.png", "any"), decoded);
    expect([...planar.get("x")!]).to.deep.equal([255, 51, 0, 51, 0, 51]);
    const interleaved = await givenInputs(input([1, 2, 1, 3], DType.uint8), file("x.JPG", "any"), decoded);
    expect([...interleaved.get("x")!]).to.deep.equal([255, 0, 0, 51, 51, 51]);
    const plane = planeOf({ shape: [1, 1, 2], dtype: DType.float32 })!;
    expect(plane).to.deep.equal({ channels: 1, height: 1, width: 2, isPlanar: true });
    const grey = new Float32Array(pictureTensor(PIXELS, plane, DType.float32).buffer);
    expect([...grey]).to.deep.equal([Math.fround(76 / 255), Math.fround(51 / 255)]);
    expect(planeOf({ shape: [2, 3, 4, 4], dtype: DType.float32 })).to.equal(undefined);
    expect(planeOf({ shape: [1, 3, 4, 4], dtype: DType.int8 })).to.equal(undefined);
  });
});
