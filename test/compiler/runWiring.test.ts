import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { RunWiringError } from "../../src/compiler/errors.ts";
import type { RunWiring } from "../../src/compiler/runWiring.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { encodeHeader } from "../../src/program/encode.ts";
import { ProgramFormatError } from "../../src/program/errors.ts";
import { readHeader } from "../../src/program/header.ts";
import { validateProgram } from "../../src/program/validate.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { keptSteps, runItems } from "../../src/program/trace/runItems.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { runOnnxruntime } from "../../testkit/onnx/onnxruntime.ts";

const F = DType.float32;

/** next = state * w + x; total = sum of next; at = float(i). */
const bytes = buildModel({
  inputs: [
    { name: "state", dtype: F, shape: [2, 3] },
    { name: "w", dtype: F, shape: [3] },
    { name: "x", dtype: F, shape: ["n", 3] },
    { name: "i", dtype: DType.int64, shape: [1] },
  ],
  outputs: ["next", "total", "at"].map((name) => ({ name, dtype: F })),
  nodes: [
    { op: "Mul", inputs: ["state", "w"], outputs: ["grown"] },
    { op: "Add", inputs: ["grown", "x"], outputs: ["next"] },
    { op: "ReduceSum", inputs: ["next"], outputs: ["total"], attributes: { keepdims: 0 } },
    { op: "Cast", inputs: ["i"], outputs: ["at"], attributes: { to: F } },
  ],
});
const model = readModel(bytes);
const RUN: RunWiring = { each: ["x"], index: ["i"], carried: { state: "next" }, eachOutputs: ["total"] };
const build = (run: RunWiring, n = 2) => compile(model, { shapes: { x: [n, 3] }, run });
const floats = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);

describe("wiring of a run", () => {
  it("sourcesAndScopes_areInTheProgramAndItsHeader", () => {
    const { program, outputs } = build(RUN);
    expect(program.inputs.map(({ source }) => source?.kind ?? "shared")).to.deep.equal([
      "carried",
      "shared",
      "each",
      "index",
    ]);
    expect(outputs.map(({ name }) => name)).to.deep.equal(["total", "at"]);
    expect(program.each).to.deep.equal([0]);
    const header = readHeader(encodeHeader(program));
    expect(header.inputs.map(({ source }) => source.kind)).to.deep.equal(["carried", "shared", "each", "index"]);
    expect(header.outputs.map(({ each }) => each)).to.deep.equal([true, false]);
  });

  it("carriedOutputThatIsNamed_isAnOutputToo", () => {
    const { outputs } = build({ ...RUN, lastOutputs: ["next"] });
    expect(outputs.map(({ name }) => name)).to.deep.equal(["next", "total"]);
  });

  it("programWithoutWiring_hasTheRootOfOneWithAnEmptyWiring", () => {
    expect(build({}).programRoot).to.equal(compile(model, { shapes: { x: [2, 3] } }).programRoot);
  });

  it("batch_hasAllInputsAndOutputsOfEachItem", () => {
    const { program } = build({ batch: true });
    expect(program.inputs.map(({ source }) => source?.kind)).to.deep.equal(new Array(4).fill("each"));
    expect(program.each).to.deep.equal([0, 1, 2]);
  });

  it("runOnBothExecutors_isWhatOnnxruntimeGivesInALoop", async () => {
    const compiled = build({ ...RUN, lastOutputs: ["next", "at"] });
    const { program } = compiled;
    const items = 4;
    const x = (item: number): Uint8Array => floats(...Array.from({ length: 6 }, (_, k) => item + k / 4));
    const all = Buffer.concat(Array.from({ length: items }, (_, item) => x(item)));
    const given = [floats(1, 2, 3, 4, 5, 6), floats(0.5, -1.25, 2), all, new Uint8Array()];
    const inputs = new RunInputs(program.inputs, { items, firstItem: 7 }, given);
    const executor = await createExecutor(compiled, { threads: 1 });
    const kept = keptSteps(program);
    const fast = runItems(
      program,
      inputs,
      async (taken) => (await executor.run(taken, { keep: (step) => kept.has(step) })).tensors,
    );
    const reference = runItems(program, inputs, (taken) => Promise.resolve(executeReference(compiled, taken)));
    let state = floats(1, 2, 3, 4, 5, 6);
    for (let item = 0; item < items; item++) {
      const [one, other] = [await fast.next(), await reference.next()];
      const plain = await runOnnxruntime(
        bytes,
        new Map([
          ["state", { dtype: F, shape: [2, 3], bytes: state }],
          ["w", floatTensor([0.5, -1.25, 2], [3])],
          ["x", { dtype: F, shape: [2, 3], bytes: x(item) }],
          ["i", { dtype: DType.int64, shape: [1], bytes: new Uint8Array(BigInt64Array.of(7n + BigInt(item)).buffer) }],
        ]),
      );
      compiled.outputs.forEach(({ name }, k) => {
        const { step } = program.checkpoints[program.outputs[k]!]!;
        expect(Buffer.from((one.value as Uint8Array[])[step]!)).to.deep.equal(Buffer.from(plain.get(name)!.bytes));
        expect(Buffer.from((other.value as Uint8Array[])[step]!)).to.deep.equal(Buffer.from(plain.get(name)!.bytes));
      });
      state = plain.get("next")!.bytes;
    }
    expect((await fast.next()).done).to.equal(true);
    await executor.close();
  });

  for (const [what, run, message, n] of [
    ["inputThatIsUnknown", { each: ["y"] }, /no input "y"; its inputs are "state"/, 2],
    ["outputThatIsUnknown", { carried: { state: "y" } }, /no output "y"; its outputs are "next"/, 2],
    ["inputWithTwoSources", { each: ["x"], index: ["x"] }, /"x" is given two sources/, 2],
    ["outputNamedTwice", { eachOutputs: ["at"], lastOutputs: ["at"] }, /"at" is named twice/, 2],
    ["batchWithANamedInput", { batch: true, each: ["x"] }, /"x" is named/, 2],
    ["indexThatIsNoNumber", { index: ["w"] }, /"w" is float32\[3\]: an item's number is one int64/, 2],
    ["carriedFromAnotherShape", { carried: { w: "next" } }, /"w".*"next", which is float32\[2, 3\]/, 2],
    ["carriedFromAnotherType", { carried: { i: "at" } }, /"i" is int64\[1\].*"at", which is float32\[1\]/, 2],
    ["carriedWithoutElements", { carried: { x: "next" } }, /"x" is float32\[0, 3\]: without elements/, 0],
    ["eachWithoutElements", { each: ["x"] }, /"x" is float32\[0, 3\]: without elements/, 0],
  ] as const)
    it(`${what}_isRefusedByName`, () => {
      expect(() => build(run, n)).to.throw(RunWiringError, message);
    });

  it("programOfWhichAllOutputsAreCarried_isRefused", () => {
    const one = readModel(
      buildModel({
        inputs: [{ name: "x", dtype: F, shape: [2] }],
        outputs: [{ name: "y", dtype: F }],
        nodes: [{ op: "Neg", inputs: ["x"], outputs: ["y"] }],
      }),
    );
    const run = { carried: { x: "y" } };
    expect(() => compile(one, { shapes: {}, run })).to.throw(RunWiringError, "--last-output");
    expect(compile(one, { shapes: {}, run: { ...run, lastOutputs: ["y"] } }).program.outputs).to.deep.equal([0]);
  });

  it("validateProgram_refusesWrongSourcesAndScopes", () => {
    const { program } = build(RUN);
    const [state, w, x, i] = program.inputs as [
      unknown,
      unknown,
      unknown,
      unknown,
    ] as (typeof program.inputs)[number][];
    const check = (inputs: typeof program.inputs, each: number[] = []) => validateProgram({ ...program, inputs, each });
    const source = (checkpoint: number) => ({ kind: "carried", checkpoint }) as const;
    expect(() => check([{ ...state!, source: source(99) }, w!, x!, i!])).to.throw(ProgramFormatError, "checkpoint 99");
    expect(() => check([state!, { ...w!, source: source(0) }, x!, i!])).to.throw(ProgramFormatError, "another tensor");
    expect(() => check([state!, { ...w!, source: { kind: "index" } }, x!, i!])).to.throw(ProgramFormatError, "input 1");
    expect(() => check(program.inputs, [2])).to.throw(ProgramFormatError, "output 2");
    expect(() => check(program.inputs, [1, 1])).to.throw(ProgramFormatError, "output 1");
  });
});
