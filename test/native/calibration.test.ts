import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calibrationText, readCalibration, requireCalibrated, type Calibration } from "../../src/native/calibration.ts";
import { CalibrationError } from "../../src/native/errors.ts";
import { DType } from "../../src/numerics/dtype.ts";

const CALIBRATION: Calibration = {
  programRoot: `0x${"a".repeat(64)}`,
  modelSha256: "b".repeat(64),
  runtime: "onnxruntime 1, here",
  threads: 2,
  box: [{ name: "x", dtype: DType.float32, low: -1, high: 1 }],
  tensors: [{ name: "logits", dtype: DType.float32, shape: [1, 3], relative: 1e-6, absolute: 1e-5 }],
  outputs: [{ name: "class", decisions: ["argmax of logits"] }],
  inputs: { given: 1, random: 2, searched: 3 },
  seed: 4,
  differing: { native: 1, thick: 0 },
  thick: 5,
  factor: 16,
};
const USE = {
  programRoot: CALIBRATION.programRoot,
  deciding: ["logits"],
  inputs: [{ name: "x", dtype: DType.float32 }],
};

describe("the file of a calibration", () => {
  let folder: string;
  let path: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "calibration-"));
    path = join(folder, "c.json");
  });
  after(() => rmSync(folder, { recursive: true }));

  it("read_whatWasWritten_isTheSame", () => {
    writeFileSync(path, calibrationText(CALIBRATION));
    expect(readCalibration(path)).to.deep.equal(CALIBRATION);
    const overHttp = { ...CALIBRATION };
    delete overHttp.threads;
    writeFileSync(path, calibrationText(overHttp));
    expect(readCalibration(path)).to.deep.equal(overHttp);
  });

  it("read_damagedField_namesFileAndField", () => {
    const fields: [field: string, place: readonly (string | number)[], value: unknown][] = [
      ["format", ["format"], "refute calibration 9"],
      ["programRoot", ["programRoot"], "0x1"],
      ["runtime", ["runtime"], undefined],
      ["threads", ["threads"], 0],
      ["box.0", ["box", 0, "low"], 2],
      ["box.0.high", ["box", 0, "high"], null],
      ["tensors.0.relative", ["tensors", 0, "relative"], -1],
      ["tensors.0.dtype", ["tensors", 0, "dtype"], "int64"],
      ["tensors.0.dtype", ["tensors", 0, "dtype"], "toString"],
      ["factor", ["factor"], 0.5],
      ["the file", ["more"], 1],
    ];
    for (const [field, place, value] of fields) {
      const file = JSON.parse(calibrationText(CALIBRATION)) as object;
      const within = place.slice(0, -1).reduce((part, key) => Reflect.get(part, key) as object, file);
      Reflect.set(within, place.at(-1)!, value);
      writeFileSync(path, JSON.stringify(file));
      expect(() => readCalibration(path), field)
        .to.throw(CalibrationError)
        .with.property("message")
        .that.includes(path)
        .and.includes(`${field}: `);
    }
  });

  it("read_noJsonOrNoFile_isRefused", () => {
    writeFileSync(path, "{");
    expect(() => readCalibration(path)).to.throw(CalibrationError, "is not JSON");
    expect(() => readCalibration(join(folder, "none"))).to.throw(CalibrationError, "it is missing");
  });

  it("require_anotherProgramTensorOrInput_isRefused", () => {
    expect(() => requireCalibrated(CALIBRATION, path, USE)).not.to.throw();
    for (const other of [
      { programRoot: `0x${"c".repeat(64)}` },
      { deciding: ["scores"] },
      { deciding: ["logits", "scores"] },
      { inputs: [{ name: "x", dtype: DType.float16 }] },
      { inputs: [] },
    ])
      expect(() => requireCalibrated(CALIBRATION, path, { ...USE, ...other }), JSON.stringify(other)).to.throw(
        CalibrationError,
        "make it again",
      );
  });
});
