import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DType } from "../../../src/numerics/dtype.ts";
import { readNpy, writeNpy } from "../../../src/model/onnx/inputs/npy.ts";

const NUMPY = `
import sys, json, numpy
def read(path):
    a = numpy.load(path)
    return [str(a.dtype), list(a.shape), bool(a.flags["C_CONTIGUOUS"]), a.tobytes().hex()]
print(json.dumps([read(path) for path in sys.argv[1:]]))
`;

const CASES = [
  ["float32", DType.float32, [2, 3], 24],
  ["float64", DType.float64, [3], 24],
  ["float16", DType.float16, [1, 2, 2], 8],
  ["int64", DType.int64, [], 8],
  ["uint8", DType.uint8, [5], 5],
  ["int8", DType.int8, [5, 1], 5],
  ["uint16", DType.uint16, [2], 4],
  ["bool", DType.bool, [3], 3],
] as const;
const contents = (length: number): Uint8Array => Uint8Array.from({ length }, (_, k) => (k * 37 + 1) % 2);

describe("writeNpy", () => {
  for (const [name, dtype, shape, length] of CASES) {
    it(`${name}_writtenAndReadBack_isTheSame`, () => {
      const tensor = { dtype, shape, bytes: contents(length) };
      const file = writeNpy(tensor);
      expect(readNpy(file, "x.npy")).to.deep.equal(tensor);
      // Format version 1.0: data begins at a multiple of 64, and the header ends in a line break.
      const start = 10 + (file[8]! | (file[9]! << 8));
      expect([...file.subarray(0, 8), start % 64, file[start - 1]]).to.deep.equal([
        ...Buffer.from("\x93NUMPY\x01\x00", "latin1"),
        0,
        10,
      ]);
    });
  }

  it("bfloat16_isWrittenAsFloat32OfTheSameValue", () => {
    const { dtype, bytes } = readNpy(
      writeNpy({ dtype: DType.bfloat16, shape: [2], bytes: Uint8Array.of(0xc0, 0x3f, 0x49, 0xc0) }),
      "x.npy",
    );
    expect(dtype).to.equal(DType.float32);
    expect([...new Float32Array(bytes.buffer)]).to.deep.equal([1.5, -3.140625]);
  });

  it("everyType_numpyReadsIt", function () {
    if (spawnSync("python3", ["-c", "import numpy"]).status !== 0) {
      console.log("      skipped: no numpy (python3-numpy) on this machine");
      return this.skip();
    }
    const folder = mkdtempSync(join(tmpdir(), "npy-"));
    try {
      const paths = CASES.map(([name, dtype, shape, length]) => {
        const path = join(folder, `${name}.npy`);
        writeFileSync(path, writeNpy({ dtype, shape, bytes: contents(length) }));
        return path;
      });
      const { stdout } = spawnSync("python3", ["-c", NUMPY, ...paths], { encoding: "utf8" });
      expect(JSON.parse(stdout)).to.deep.equal(
        CASES.map(([name, , shape, length]) => [name, [...shape], true, Buffer.from(contents(length)).toString("hex")]),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
