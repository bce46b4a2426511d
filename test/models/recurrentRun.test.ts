import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { openPlain } from "../../src/native/plain/plainRun.ts";
import { bindInputs } from "../../src/model/onnx/bindInputs.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { catalogued, VAD_FRAME, vadFrame } from "../../testkit/models/catalogue.ts";
import { compileModel } from "../../testkit/models/compileModel.ts";
import { RATE, speech } from "../../testkit/models/speech.ts";
import type { Execute } from "../../src/runs/execute.ts";

const SECONDS = 60;
const ITEMS = Math.floor((SECONDS * RATE) / VAD_FRAME.samples);

/** Scores of two engines that say the same. Float32 rounding accumulates in the carried state. */
const TOLERANCE = 1e-3;

const firstFloat = (bytes: Uint8Array): number => new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true);

describe("a recurrent model as one run", function () {
  this.timeout(240_000);

  it("aMinuteOfSound_hasTheScoresOfALoopOverPlainOnnxruntime", async () => {
    // Half of each second is speech.
    const voice = speech(0.5);
    const sound = new Float32Array(SECONDS * RATE);
    for (let second = 0; second < SECONDS; second++) sound.set(voice, second * RATE);
    const frames = Array.from({ length: ITEMS }, (_, k) => vadFrame(sound, k));
    const fresh = floatTensor(new Array<number>(256).fill(0), [2, 1, 128]);
    const shapes = new Map([
      ["input", frames[0]!],
      ["state", fresh],
    ]);
    const { file, own, bound } = compileModel(catalogued("silero_v5"), shapes);
    const program = knownProgram(
      compile(bindInputs(own, bound), {
        shapes: Object.fromEntries([...shapes].map(([name, { shape }]) => [name, [...shape]])),
        run: { each: ["input"], carried: { state: "stateN" }, eachOutputs: ["output"] },
      }),
    );
    const { inputs, outputs, checkpoints } = program.model.program;
    const bytes = program.model.inputs.map(({ name }) =>
      name === "input" ? Buffer.concat(frames.map((frame) => frame.bytes)) : fresh.bytes,
    );
    const scores: number[] = [];
    const executors = new FastExecutors();
    const output = checkpoints[outputs[0]!]!.step;
    const execute: Execute = async (...given) => {
      const tensors = await executors.execute(...given);
      scores.push(firstFloat(tensors[output]!));
      return tensors;
    };
    const run = await executeRun(program, new RunInputs(inputs, { items: ITEMS, firstItem: 0 }, bytes), execute);
    await executors.close();
    expect(run.items).to.equal(ITEMS);

    const plain = await openPlain(file);
    let state = fresh;
    for (let k = 0; k < ITEMS; k++) {
      const results = await plain.run(new Map([["input", frames[k]!], ["state", state], ...bound]));
      state = results.get("stateN")!;
      expect(scores[k], `frame ${k}`).to.be.closeTo(firstFloat(results.get("output")!.bytes), TOLERANCE);
    }
    await plain.close();
    expect(scores.some((p) => p > 0.5) && scores.some((p) => p < 0.5)).to.equal(true);
  });
});
