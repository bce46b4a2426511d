import { expect } from "chai";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programShape } from "../../../src/dispute/run/execution.ts";
import { cacheKey } from "../../../src/runs/programs/cacheKey.ts";
import type { ModelSpec } from "../../../src/compiler/wraps/modelSpec.ts";
import { ProgramCache } from "../../../src/runs/programs/programCache.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";
import { compileModel } from "../../../testkit/models/compileModel.ts";
import { mlpBytes, mlpProgram } from "../../../testkit/models/mlp.ts";
import { rejection } from "../../../testkit/rejection.ts";

describe("ProgramCache", () => {
  let folder: string;
  let cache: ProgramCache;
  let spec: ModelSpec;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    cache = new ProgramCache(join(folder, "programs"));
    spec = { path: join(folder, "m.onnx"), shapes: {}, bind: {}, uint8: [] };
    writeFileSync(spec.path, mlpBytes(1));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("storedProgram_isLoadedAsItWas_withItsTreesAndConstants", async () => {
    const model = catalogued("ppocr2_cls");
    const known = compileModel(model, model.inputs()).model;
    const { path, head } = await cache.store("k", known, spec.path, []);
    const loaded = await cache.load(path);
    expect(loaded.model).to.deep.equal(known);
    expect(loaded.commitment.programRoot).to.equal(known.programRoot);
    expect(head).to.deep.equal({ root: known.programRoot, shape: programShape(loaded), files: [] });
    expect((await cache.find("k", folder))?.path).to.equal(path);
    expect(await cache.find("other", folder)).to.equal(undefined);
  });

  it("byteChangedAnywhere_orAFileCutShort_isSeen", async function () {
    const { path } = await cache.store("k", mlpProgram().model, spec.path, []);
    const whole = readFileSync(path);
    for (const at of [0, 20, 60, 80, 84, 90, 300, 2_000, Math.floor(whole.length / 2), whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 1;
      writeFileSync(path, damaged);
      expect(await rejection(cache.load(path)), `byte ${at}`).to.have.property("code", "PROGRAM_FILE");
    }
    for (const length of [0, 10, 79, 88, 400, whole.length - 1]) {
      writeFileSync(path, whole.subarray(0, length));
      expect(await rejection(cache.load(path)), `${length} bytes`).to.have.property("code", "PROGRAM_FILE");
    }
  });

  it("fileOfAnotherProgram_underAnotherRoot_isRefused", async () => {
    const { model } = mlpProgram(1);
    const lying = { ...model, programRoot: mlpProgram(2).model.programRoot };
    const { path } = await cache.store("k", lying, spec.path, []);
    expect((await rejection(cache.load(path))).message).to.contain("another program");
  });

  it("externalData_mustBeWhatItWas_andTwoFoldersDoNotDisplaceEachOther", async () => {
    const other = join(folder, "other");
    mkdirSync(other);
    for (const [place, text] of [
      [folder, "weights"],
      [other, "fine-tuned"],
    ] as const)
      writeFileSync(join(place, "w.bin"), text);
    const first = await cache.store("k", mlpProgram(1).model, spec.path, [join(folder, "w.bin")]);
    const second = await cache.store("k", mlpProgram(2).model, join(other, "m.onnx"), [join(other, "w.bin")]);
    expect((await cache.find("k", folder))?.path).to.equal(first.path);
    expect((await cache.find("k", other))?.path).to.equal(second.path);
    expect(await cache.find("k", undefined)).to.equal(undefined);
    writeFileSync(join(folder, "w.bin"), "other weights");
    expect(await cache.find("k", folder)).to.equal(undefined);
  });

  it("tooManyBytes_costWhatWasUsedLongestAgo_andWhatWasJustStoredStays", async () => {
    const first = await cache.store("a", mlpProgram(1).model, spec.path, []);
    const size = readFileSync(first.path).length;
    const small = new ProgramCache(cache.folder, 2.5 * size);
    const second = await small.store("b", mlpProgram(2).model, spec.path, []);
    utimesSync(first.path, 1_000, 1_000);
    utimesSync(second.path, 2_000, 2_000);
    await small.load(first.path);
    const third = await small.store("c", mlpProgram(3).model, spec.path, []);
    expect(await small.find("a", folder)).not.to.equal(undefined);
    expect(await small.find("b", folder)).to.equal(undefined);
    expect((await new ProgramCache(cache.folder, 1).store("d", mlpProgram(4).model, spec.path, [])).path).to.match(
      /d-/,
    );
    expect(readdirSync(cache.folder)).to.have.length(1);
    expect(await rejection(small.load(third.path))).to.have.property("code", "ENOENT");
  });

  it("twoWritersOfOneProgram_leaveOneWholeFile", async () => {
    const { model } = mlpProgram();
    const stored = await Promise.all([1, 2, 3].map(() => cache.store("k", model, spec.path, [])));
    expect(readdirSync(cache.folder)).to.have.length(1);
    expect((await cache.load(stored[0]!.path)).model.programRoot).to.equal(model.programRoot);
  });

  it("key_changesWithTheFile_andWithEveryOption_andNotWithThePath", async () => {
    const bound = join(folder, "b.json");
    writeFileSync(bound, "[1]");
    const uint8 = [{ input: "x", layout: "NCHW", scale: 1, mean: [0], std: [1] }] as const;
    const specs: ModelSpec[] = [
      spec,
      { ...spec, shapes: { x: [1, 64] } },
      { ...spec, shapes: { x: [2, 64] } },
      { ...spec, bind: { x: 1 } },
      { ...spec, bind: { x: bound } },
      { ...spec, uint8 },
      { ...spec, seed: 1n },
      { ...spec, stepByteLimit: 50_000 },
    ];
    const keys = await Promise.all(specs.map((one) => cacheKey(one)));
    writeFileSync(bound, "[2]");
    keys.push(await cacheKey(specs[4]!));
    writeFileSync(spec.path, mlpBytes(2));
    keys.push(await cacheKey(spec));
    expect(new Set(keys).size).to.equal(keys.length);
    writeFileSync(join(folder, "copy.onnx"), mlpBytes(1));
    expect(await cacheKey({ ...spec, path: join(folder, "copy.onnx") })).to.equal(keys[0]);
  });
});
