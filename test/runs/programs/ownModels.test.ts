import { expect } from "chai";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { compileApart } from "../../../src/runs/programs/compileApart.ts";
import type { ModelSpec } from "../../../src/compiler/wraps/modelSpec.ts";
import { openLibrary, type OpenLibrary } from "../../../src/runs/programs/openLibrary.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { gpt2Decoder } from "../../../testkit/models/exports/language.ts";
import { mlpBytes, mlpProgram } from "../../../testkit/models/mlp.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";

const LIMITS = { seconds: 200, maxBytes: 2 ** 31 };

describe("the operator's models", function () {
  let folder: string;
  let stop: AbortController;
  let lines: { level: number; msg: string; reason?: string; model?: string }[];
  let opened: OpenLibrary[];
  /** Models in the order in which they were compiled. */
  let compiled: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    stop = new AbortController();
    [lines, opened, compiled] = [[], [], []];
  });
  afterEach(async () => {
    stop.abort();
    for (const { close } of opened) await close();
    rmSync(folder, { recursive: true, force: true });
  });

  const specOf = (name: string, bytes: Uint8Array): ModelSpec => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return { path, shapes: {}, bind: {}, uint8: [] };
  };
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const open = async (specs: readonly ModelSpec[], cache = join(folder, "cache")) => {
    const compile: typeof compileApart = (job, ...rest) => {
      compiled.push(job.spec.path);
      return compileApart(job, ...rest);
    };
    const library = await openLibrary({ specs, cache, log, signal: stop.signal, compile });
    opened.push(library);
    return library;
  };
  const until = async (holds: () => boolean): Promise<void> => {
    for (const end = Date.now() + 200_000; !holds(); await sleep(10))
      if (Date.now() > end) throw new Error(`it does not come: ${JSON.stringify(lines)}`);
  };
  const problems = () => lines.filter(({ level }) => level >= 40);

  itInTime("modelWithOpenDimensions_isRefused_inTheWordsOfTheModelsFile", async () => {
    const [x, y] = ["x", "y"].map((name) => ({ name, dtype: DType.float32, shape: ["N", 4] }));
    const nodes = [{ op: "Relu", inputs: ["x"], outputs: ["y"] }];
    const { library } = await open([specOf("open.onnx", buildModel({ inputs: [x!], outputs: [y!], nodes }))]);
    await until(() => library.problems.length > 0);
    expect(library.problems[0]).to.match(/for example "shapes": \{ "x": \[1,4\] \} in the models file, or "dims"/);
    expect(lines.at(-1)!.msg).to.equal("model cannot be used; there is no other");
  });

  itInTime("areCompiledOnce_andThenLoadedFromTheCache_byAnyNumberOfProcesses", async () => {
    const specs = [specOf("a.onnx", mlpBytes(1)), specOf("b.onnx", mlpBytes(2))];
    const roots = [1, 2].map((seed) => mlpProgram(seed).model.programRoot);
    const { library, cached } = await open(specs);
    await cached;
    expect(library.size).to.equal(0);
    expect(library.awaits(roots[0]!)).to.equal(true);
    await until(() => library.size === 2);
    expect(library.awaits("0x00")).to.equal(false);
    const again = await open(specs);
    await again.cached;
    expect(again.library.size).to.equal(2);
    expect(again.library.awaits("0x00")).to.equal(false);
    expect(compiled).to.deep.equal(specs.map(({ path }) => path));
    for (const [k, root] of roots.entries()) {
      expect((await again.library.load(root))?.model).to.deep.equal(mlpProgram(k + 1).model);
      expect(await again.library.load(root)).to.equal(await again.library.load(root));
    }
    expect(problems()).to.deep.equal([]);
  });

  itInTime("modelThatCannotBeCompiled_isAProblemThatNamesIt_andTheOthersGoOn", async () => {
    const broken = specOf("broken.onnx", Buffer.from("no model"));
    const { library } = await open([broken, specOf("a.onnx", mlpBytes(1))]);
    await until(() => library.size === 1 && library.problems.length === 1);
    expect(library.problems[0]).to.contain("model 1").and.contain("broken.onnx").and.contain("do not decode");
    await until(() => !library.awaits("0x00"));
    expect(problems()).to.have.length(1);
  });

  itInTime("damagedCache_costsACompileAndOneWarning", async () => {
    const spec = specOf("a.onnx", mlpBytes(1));
    const root = mlpProgram(1).model.programRoot;
    const { library } = await open([spec]);
    await until(() => library.size === 1);
    const programs = join(folder, "cache", "programs");
    const [name] = readdirSync(programs);
    const bytes = readFileSync(join(programs, name!));
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(join(programs, name!), bytes);
    const error = await rejection(library.load(root));
    expect(error).to.include({ code: "PROGRAM_UNAVAILABLE", retryable: true });
    expect(library.awaits(root)).to.equal(true);
    await until(() => library.knows(root));
    expect((await library.load(root))?.model.programRoot).to.equal(root);
    expect(problems().map(({ msg }) => msg)).to.deep.equal(["the cache of programs does not work"]);
    expect(compiled).to.have.length(2);
  });

  itAtLength("folderThatCannotBeWrittenTo_costsOneWarning_andTheProgramsAreThere", async () => {
    const file = join(folder, "no-folder");
    writeFileSync(file, "");
    chmodSync(file, 0o400);
    const { library } = await open([specOf("a.onnx", mlpBytes(1)), specOf("b.onnx", mlpBytes(2))], file);
    await until(() => library.size === 2);
    expect((await library.load(mlpProgram(2).model.programRoot))?.model.programRoot).not.to.equal(undefined);
    expect(problems().map(({ msg }) => msg)).to.deep.equal(["the cache of programs does not work"]);
  });

  itAtLength("loopIsNotHeld_whileAModelIsCompiled", async () => {
    const { library } = await open([specOf("a.onnx", mlpBytes(1))]);
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    await until(() => library.size === 1);
    clearInterval(timer);
    expect(turns).to.be.greaterThan(5);
  });

  itAtLength("processThatTakesTooLong_orTooMuchMemory_orIsStopped_endsWithAnErrorThatNamesTheModel", async () => {
    const spec = specOf("a.onnx", mlpBytes(1));
    const job = { spec, folders: [folder] };
    const slow = await rejection(compileApart(job, { ...LIMITS, seconds: 0.05 }, stop.signal));
    expect(slow).to.have.property("code", "COMPILE_PROCESS");
    expect(slow.message).to.contain("a.onnx took longer than 0.05 s");
    const large = await rejection(compileApart(job, { ...LIMITS, maxBytes: 2 ** 26 }, stop.signal));
    expect(large.message)
      .to.contain("a.onnx")
      .and.match(/at most 64|heap|SIG/);
    setTimeout(() => stop.abort(), 200);
    expect((await rejection(compileApart(job, LIMITS, stop.signal))).message).to.contain("given up");
  });

  itInTime("programOfAnotherRootThanExpected_isNotStored", async () => {
    const spec = specOf("a.onnx", mlpBytes(1));
    const expectedRoot = mlpProgram(2).model.programRoot;
    const cache = join(folder, "cache");
    const answer = await compileApart({ spec, folders: [cache], expectedRoot }, LIMITS, stop.signal);
    expect(answer).to.deep.equal({ kind: "other root", root: mlpProgram(1).model.programRoot });
    expect(readdirSync(folder)).not.to.include("cache");
  });

  itAtLength("decoderThatSlotsChange_isRefused_otherDecodersAreCompiled", async () => {
    const cache = join(folder, "cache");
    const answerOf = (positions: "past" | "mask") => {
      const spec = { ...specOf(`${positions}.onnx`, gpt2Decoder(positions).bytes), decoder: { slots: 12 } };
      return compileApart({ spec, folders: [cache] }, LIMITS, stop.signal);
    };
    expect(await answerOf("past")).to.include({ kind: "refused", code: "COMPILE_DECODER" });
    expect(await answerOf("mask")).to.include({ kind: "done" });
  });
});
