import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { pino } from "pino";
import { compile } from "../../src/compiler/compile.ts";
import { nativeAnswer } from "../../src/native/nativeAnswer.ts";
import { readCalibration } from "../../src/native/calibration.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { knownProgram, programShape } from "../../src/dispute/run/execution.ts";
import { CalibratedPrograms } from "../../src/runs/native/calibratedPrograms.ts";
import { NO_METER } from "../../src/runs/figures.ts";
import { Health } from "../../src/base/health.ts";
import { NativeJobs } from "../../src/runs/native/nativeJobs.ts";
import { loadModel } from "../../src/compiler/wraps/modelSpec.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { generate } from "../../src/native/plain/decoder/generate.ts";
import { decoderInputs } from "../../src/compiler/wraps/decoderInputs.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { classifierBytes } from "../../testkit/models/classifier.ts";
import { gpt2Decoder } from "../../testkit/models/gpt2.ts";
import { mlpBytes } from "../../testkit/models/mlp.ts";
import { refute } from "./refute.ts";

const quiet = pino({ level: "silent" });

describe("refute model calibrate", () => {
  let folder: string;
  const path = (name: string): string => join(folder, name);
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    writeFileSync(path("classifier.onnx"), classifierBytes());
    writeFileSync(path("mlp.onnx"), mlpBytes());
    writeFileSync(path("decoder.onnx"), gpt2Decoder({ layers: 1, width: 12, heads: 2, tokens: 6, vocabulary: 20 }));
  });
  after(() => rmSync(folder, { recursive: true }));
  const calibrate = (model: string, ...more: string[]) =>
    refute(["model", "calibrate", path(model), "--out", path("c.json"), "--random", "8", "--search", "8", ...more]);

  it("classifier_random_writesAFileThatAWorkerOpens", async () => {
    const { status, output } = await calibrate("classifier.onnx");
    expect(status, output).to.equal(0);
    expect(output).to.include("logits").and.include("none of those differs");
    const program = knownProgram(compile(readModel(classifierBytes()), { shapes: {} }));
    const root = program.model.programRoot;
    const library = new ProgramLibrary();
    const spec = { path: path("classifier.onnx"), shapes: {}, bind: {}, uint8: [] };
    library.add({ root, shape: programShape(program), load: () => Promise.resolve(program), spec });
    const programs = new CalibratedPrograms({ paths: [path("c.json")] }, library, quiet);
    const opened = (await programs.of(root))!;
    const x = floatTensor(Array.from({ length: 32 }, (_, i) => Math.sin(i)));
    expect((await nativeAnswer(opened, [x.bytes])).kind).to.equal("native");
    expect((await nativeAnswer(opened, [x.bytes.map(() => 0x7f)])).kind).to.equal("outside");
    await programs.close();
    // Another file than the one that was calibrated is executed exactly.
    library.add({
      root,
      shape: programShape(program),
      load: () => Promise.resolve(program),
      spec: { ...spec, path: path("mlp.onnx") },
    });
    expect(await new CalibratedPrograms({ paths: [path("c.json")] }, library, quiet).of(root)).to.equal(undefined);
  });

  it("decidedOutput_givenInputsAndRange_areInTheBox", async () => {
    mkdirSync(path("inputs"));
    const values = Array.from({ length: 64 }, (_, i) => 2 * Math.sin(i));
    writeFileSync(path("inputs/one.json"), JSON.stringify([values]));
    const given = ["--decide", "y=argmax", "--inputs", path("inputs")];
    const { status, output } = await calibrate("mlp.onnx", ...given);
    expect(status, output).to.equal(0);
    const { box, inputs } = readCalibration(path("c.json"));
    expect(inputs.given).to.equal(1);
    expect(box[0]!.high).to.equal(Math.fround(Math.max(...values)));
    const outside = await calibrate("mlp.onnx", ...given, "--range", "x=-1:1");
    expect(outside.status).to.equal(2);
    expect(outside.stderr).to.include("outside the range");
  });

  it("decoder_ofTextsOfSomeLength_writesAFileByWhichTextsAreAnswered", async () => {
    const wrapped = ["--decoder", "--slots", "6", "--greedy", "--range", "index=0:4", "--range", "prompt_length=1:3"];
    const { status, output } = await calibrate("decoder.onnx", ...wrapped);
    expect(status, output).to.equal(0);
    const { box, tensors } = readCalibration(path("c.json"));
    expect(box.map(({ name, low, high }) => [name, low, high])).to.deep.equal([
      ["prompt", 0, 19],
      ["prompt_length", 1, 3],
      ["index", 0, 4],
    ]);
    expect(tensors.map(({ name, shape }) => [name, shape])).to.deep.equal([["logits", [20]]]);

    const decoder = { slots: 6, greedy: true } as const;
    const spec = { path: path("decoder.onnx"), shapes: {}, bind: {}, uint8: [], decoder };
    const { model, run } = loadModel(spec);
    const program = knownProgram(compile(model, { shapes: {}, run }));
    const root = program.model.programRoot;
    const library = new ProgramLibrary();
    library.add({ root, shape: programShape(program), load: () => Promise.resolve(program), spec });
    const programs = new CalibratedPrograms({ paths: [path("c.json")] }, library, quiet);
    const jobs = new NativeJobs(
      { programs, exactShare: 0 },
      { log: quiet, meter: NO_METER, health: new Health(quiet), rate: 100_000_000n },
    );
    const textOf = (items: number) =>
      new RunInputs(
        program.model.program.inputs,
        { items, firstItem: 0 },
        decoderInputs(program.model, { prompt: [3, 7] }),
      );
    const tokens: number[] = [];
    const byDefinition = {
      run: (taken: readonly Uint8Array[]) => Promise.resolve({ tensors: executeReference(program.model, taken) }),
    };
    for await (const { token } of generate(program.model, byDefinition as never, { prompt: [3, 7] }, 5))
      tokens.push(token);
    expect(await jobs.answer("job", root, textOf(5))).to.deep.equal([[int64Tensor([...tokens, 0]).bytes]]);
    // Longer than what was calibrated.
    expect(await jobs.answer("job", root, textOf(6))).to.equal(undefined);
    await programs.close();
  });

  it("wrongUse_isRefusedByName", async () => {
    rmSync(path("c.json"), { force: true });
    const cases: [string[], number, string][] = [
      [["mlp.onnx"], 1, "the output y is no decision"],
      [["classifier.onnx", "--range", "z=0:1"], 2, "--range z"],
      [["decoder.onnx", "--decoder", "--slots", "6", "--range", "index=0:6"], 2, "from 0 to 5"],
      [["decoder.onnx", "--decoder", "--slots", "6", "--native-url", "http://127.0.0.1:9"], 1, "without --native-url"],
      [["classifier.onnx", "--range", "x=1:0"], 2, "expected NAME=LEAST:LARGEST"],
      [["classifier.onnx", "--inputs", path("none")], 2, "cannot be read"],
      [["classifier.onnx", "--native-url", "http://127.0.0.1:9"], 3, "gives no answer"],
    ];
    for (const [[model, ...more], expected, message] of cases) {
      const { status, stderr } = await calibrate(model!, ...more);
      expect(stderr).to.include(message);
      expect(status, message).to.equal(expected);
    }
    expect(existsSync(path("c.json"))).to.equal(false);
  });

  it("calibrationOfAnotherRuntimeOrTwice_isRefused", async () => {
    await calibrate("classifier.onnx");
    const library = new ProgramLibrary();
    const open = (...names: string[]) => new CalibratedPrograms({ paths: names.map(path) }, library, quiet);
    expect(() => open("c.json", "c.json")).to.throw("are of one program");
    const text = readFileSync(path("c.json"), "utf8");
    writeFileSync(path("other.json"), text.replace(/"runtime": "[^"]*"/, '"runtime": "onnxruntime 1.0"'));
    expect(() => open("other.json")).to.throw("of another runtime");
  });
});
