import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { itemsOf, jobBytes, readJobInputs, shapesOfJob } from "../../src/cli/jobInputs.ts";
import { InputFileError } from "../../src/model/onnx/inputs/errors.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";

const F = DType.float32;
const shape = [2];

/** `y = x + s`, and the item's number. */
const model = readModel(
  buildModel({
    inputs: [
      { name: "x", dtype: F, shape },
      { name: "s", dtype: F, shape },
      { name: "i", dtype: DType.int64, shape: [1] },
    ],
    outputs: [
      { name: "y", dtype: F, shape },
      { name: "j", dtype: DType.int64, shape: [1] },
    ],
    nodes: [
      { op: "Add", inputs: ["x", "s"], outputs: ["y"] },
      { op: "Identity", inputs: ["i"], outputs: ["j"] },
    ],
  }),
);
const run = { each: ["x"], index: ["i"], eachOutputs: ["y", "j"] };
const taken = [
  { name: "x", dtype: F, shape },
  { name: "s", dtype: F, shape },
  { name: "i", dtype: DType.int64, shape: [1] },
];

describe("the inputs of a job", () => {
  let folder: string;
  const file = (name: string, ...values: number[]): string => {
    const path = join(folder, name);
    writeFileSync(path, new Uint8Array(Float32Array.from(values).buffer));
    return path;
  };

  before(() => void (folder = mkdtempSync(join(tmpdir(), "refute-inputs-"))));
  after(() => rmSync(folder, { recursive: true }));

  it("folder_givesEachItemAFile_inTheOrderOfNumbers_andTheIndexTakesNone", () => {
    mkdirSync(join(folder, "x"));
    for (const item of [10, 2, 1]) file(`x/picture${item}.bin`, item, -item);
    file("x/.hidden", 7);
    const given = readJobInputs(model, run, [`x=${join(folder, "x")}`, `s=${file("s.bin", 5, 6)}`]);
    expect(itemsOf(given, run, undefined)).to.equal(3);
    expect(itemsOf(given, run, 3)).to.equal(3);
    const [x, s, i] = jobBytes(given, { run: run }, taken);
    expect([...new Float32Array(x!.slice().buffer)]).to.deep.equal([1, -1, 2, -2, 10, -10]);
    expect([...new Float32Array(s!.slice().buffer)]).to.deep.equal([5, 6]);
    expect(i).to.have.length(0);
  });

  it("filesThatAreRepeated_areItems_andTensorFilesBindTheShape", () => {
    const json = join(folder, "x.json");
    writeFileSync(json, "[3, 4]");
    const given = readJobInputs(model, run, [`x=${json}`, `x=${json}`, `s=${file("s.bin", 5, 6)}`]);
    expect(itemsOf(given, run, undefined)).to.equal(2);
    expect(shapesOfJob(given)).to.deep.equal({ x: [2] });
    expect(jobBytes(given, { run: run }, taken)[0]).to.have.length(16);
  });

  it("batch_takesAFileOfEachInputForEachItem", () => {
    const s = file("s.bin", 5, 6);
    const i = join(folder, "i.bin");
    writeFileSync(i, new Uint8Array(8));
    const files = [`x=${s}`, `x=${s}`, `s=${s}`, `i=${i}`, `i=${i}`];
    const given = readJobInputs(model, { batch: true }, files);
    expect(() => itemsOf(given, { batch: true }, undefined)).to.throw("input s has 1 files, but x has 2");
  });

  it("whatDoesNotFit_isNamed", () => {
    const s = file("s.bin", 5, 6);
    const read = (...files: string[]) => readJobInputs(model, run, files);
    expect(() => read(`x=${s}`)).to.throw("input s is missing: give --input s=FILE");
    expect(() => read(`s=${s}`)).to.throw("input x is missing");
    expect(() => read(`x=${s}`, `s=${s}`, `s=${s}`)).to.throw("s is given already");
    expect(() => read(`x=${s}`, `s=${s}`, `i=${s}`)).to.throw("i is the number of the item");
    expect(() => itemsOf(read(`x=${s}`, `s=${s}`), run, 2)).to.throw("input x has 1 files, but --items 2");
    mkdirSync(join(folder, "empty"));
    expect(() => read(`x=${join(folder, "empty")}`, `s=${s}`)).to.throw("the folder has no files");
    const short = file("short.bin", 1);
    expect(() => jobBytes(read(`x=${s}`, `x=${short}`, `s=${s}`), { run }, taken)).to.throw("short.bin");
    expect(itemsOf(readJobInputs(model, undefined, [`x=${s}`, `s=${s}`, `i=${s}`]), undefined, undefined)).to.equal(1);
  });

  it("fileOfAnotherKind_isRefused_whateverItsLength", () => {
    const s = file("s.bin", 5, 6);
    for (const name of ["x.csv", "x.txt", "plain"]) {
      const path = join(folder, name);
      writeFileSync(path, "5.1,3.50");
      expect(() => readJobInputs(model, run, [`x=${path}`, `s=${s}`])).to.throw(
        InputFileError,
        /no known kind.*\.bin$/,
      );
    }
  });
});
