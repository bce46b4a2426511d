import { expect } from "chai";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../src/executor/engine/onnxEngine.ts";
import type { MatMulEngine } from "../../src/executor/engine/matMulEngine.ts";
import { EngineFaultError } from "../../src/executor/errors.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { Team } from "../../src/executor/threads/threadPool.ts";
import { StageClock } from "../../src/executor/stages.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { faultyEngine, type Faults } from "../../testkit/programs/faultyEngine.ts";
import { matMulStep, stepModel } from "../../testkit/programs/stepModel.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { rejection } from "../../testkit/rejection.ts";

const [ROWS, INNER, COLUMNS] = [96, 512, 96];
const model = stepModel([matMulStep(ROWS, INNER, COLUMNS)]);

function floats(count: number, seed: number): Uint8Array {
  const prng = new Prng(seed);
  return new Uint8Array(Float32Array.from({ length: count }, () => prng.uint32() / 2 ** 31 - 1).buffer);
}
const inputs = [floats(ROWS * INNER, 1), floats(COLUMNS * INNER, 2)];

describe("faults of an engine while it works", function () {
  this.timeout(60_000);
  let engine: MatMulEngine;
  before(async () => void (engine = await onnxEngine()));
  after(() => engine.close());

  /** An engine that is faulty from when it is told so: its test at the start is over. */
  function later(faults: Faults): { engine: MatMulEngine; begin: () => void } {
    let isFaulty = false;
    const floats: Faults["floats"] = (...args) => (isFaulty ? faults.floats?.(...args) : undefined);
    return { engine: faultyEngine(engine, { floats }), begin: () => void (isFaulty = true) };
  }

  it("oneWrongElement_isFound_whereAllAreChecked_alsoIfItsRoundedResultIsRight", async () => {
    const [expected] = executeReference(model, inputs);
    const hidden = 501;
    const rounded: number[] = [];
    const alter: Faults["floats"] = (out) => {
      rounded.push(Math.fround(out[hidden]!));
      // So little that rounding hides it, and far more than the certificate allows.
      out[hidden]! *= 1 + 2 ** -34;
      rounded.push(Math.fround(out[hidden]!));
    };
    const { engine, begin } = later({ floats: alter });
    const executor = await createExecutor(model, { engine, minEngineWork: 0, checksAll: true });
    const { tensors } = await executor.run(inputs);
    expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
    begin();
    const failure = await rejection(executor.run(inputs));
    expect(failure).to.be.instanceOf(EngineFaultError).and.to.have.property("code", "ENGINE_FAULT");
    expect(rounded[1]).to.equal(rounded[0]);
    expect(failure.message).to.contain(`element [${Math.floor(hidden / COLUMNS)}, ${hidden % COLUMNS}] of a product`);
    expect(failure.message).to.match(/use another machine$/);
  });

  it("anEngineThatIsOftenWrong_isFoundByChecksAtRandom", async () => {
    const { engine, begin } = later({ floats: (out) => out.forEach((value, k) => (out[k] = value * (1 + 2 ** -34))) });
    const executor = await createExecutor(model, { engine, minEngineWork: 0 });
    begin();
    // Results are checked in one of 550 runs, on average. That 40,000 runs pass is as likely as e^-70.
    const found = async (): Promise<unknown> => {
      for (let k = 0; k < 40_000; k++) await executor.run(inputs);
      return undefined;
    };
    expect(await rejection(found())).to.be.instanceOf(EngineFaultError);
  });

  it("nothingIsExecuted_afterAFault_untilTheProcessEnds", async () => {
    let isFaulty = false;
    const faulty = faultyEngine(engine, { floats: (out) => void (isFaulty && out.fill(0.3)) });
    const executors = new FastExecutors({ engine: faulty, minEngineWork: 0, checksAll: true });
    await executors.execute(model, inputs);
    isFaulty = true;
    const failure = await rejection(executors.execute(model, inputs));
    expect(failure).to.be.instanceOf(EngineFaultError);
    isFaulty = false;
    expect(await rejection(executors.execute(model, inputs))).to.equal(failure);
    const other = stepModel([matMulStep(5, 6, 7)]);
    expect(await rejection(executors.execute(other, [floats(30, 1), floats(42, 2)]))).to.equal(failure);
    await executors.close();
  });

  it("executionsThatWait_whileAnotherFindsAFault_giveNoResult", async () => {
    let faults = 0;
    let isWorking = false;
    // Wrong once: whoever computes next would find nothing.
    const faulty = faultyEngine(engine, { floats: (out) => void (isWorking && faults++ === 0 && out.fill(0.3)) });
    const executors = new FastExecutors({ engine: faulty, minEngineWork: 0, checksAll: true });
    const other = stepModel([matMulStep(5, 6, 7)]);
    const others = [floats(30, 1), floats(42, 2)];
    await executors.execute(model, inputs);
    await executors.execute(other, others);
    isWorking = true;
    const runs = [executors.execute(model, inputs), executors.execute(model, inputs), executors.execute(other, others)];
    const results = await Promise.allSettled(runs);
    expect(results.map(({ status }) => status)).to.deep.equal(["rejected", "rejected", "rejected"]);
    await executors.close();
  });

  it("nothingIsExecuted_afterAnEngineFailedItsTest", async () => {
    let isFaulty = true;
    const faulty = faultyEngine(engine, { bytes: (out) => void (isFaulty && out.fill(3)) });
    const executors = new FastExecutors({ engine: faulty });
    const failure = await rejection(executors.execute(model, inputs));
    expect(failure).to.be.instanceOf(EngineFaultError);
    isFaulty = false;
    expect(await rejection(executors.execute(model, inputs))).to.equal(failure);
    await executors.close();
  });

  it("whatAThreadFindsWrongWithItsEngine_isTheErrorOfTheJob", async () => {
    const team = Team.hold(2);
    const fault = new EngineFaultError("element [0, 0] is 1");
    setTimeout(() => team.abandon(fault), 20);
    const nothing = [(): void => undefined, (): void => undefined];
    const work = async (): Promise<void> => void (await team.compute(1, 0, nothing, true, new StageClock()));
    expect(await rejection(work())).to.equal(fault);
    await team.release();
  });

  it("aFault_saysMoreThanTheEndOfAThread", async () => {
    const team = Team.hold(2);
    const fault = new EngineFaultError("element [0, 0] is 1");
    team.abandon("ended with 1");
    team.abandon(fault);
    team.abandon("ended with 1");
    expect(team.failure).to.equal(fault);
    await team.release();
  });

  it("aFaultInATestOfAThread_leavesNoResult", async () => {
    const executor = await createExecutor(model, { threads: 2, minSplit: 1, minEngineWork: 0 });
    await executor.run(inputs);
    const fault = new EngineFaultError("element [0, 0] is 1");
    Team.hold(2).abandon(fault);
    expect(await rejection(executor.run(inputs))).to.equal(fault);
    expect(await rejection(executor.run(inputs))).to.equal(fault);
    await executor.close();
  });

  it("checks_areTimedAsAStage", async () => {
    const executor = await createExecutor(model, { threads: 1, minEngineWork: 0, checksAll: true });
    const { milliseconds } = await executor.run(inputs, { profile: true });
    expect(milliseconds.checks).to.be.above(0);
    await executor.close();
  });
});
