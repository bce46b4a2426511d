import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ExecutionThreadError } from "../../../src/executor/errors.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { StageClock } from "../../../src/executor/stages.ts";
import { Team } from "../../../src/executor/threads/threadPool.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { matMulStep, stepModel } from "../../../testkit/programs/stepModel.ts";

const [ROWS, INNER, COLUMNS] = [6, 40, 5];
const model = stepModel([matMulStep(ROWS, INNER, COLUMNS)]);
const floats = (count: number, seed: number): Uint8Array => {
  const prng = new Prng(seed);
  return new Uint8Array(Float32Array.from({ length: count }, () => prng.below(1000) / 999).buffer);
};
const inputs = [floats(ROWS * INNER, 1), floats(COLUMNS * INNER, 2)];
const [expected] = executeReference(model, inputs);
const everyStep = { threads: 2, minSplit: 0, minEngineWork: 0 };
const nothing = [(): void => undefined, (): void => undefined];

const failureOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe("teams of threads", () => {
  it("threads_doTheirParts_andAreCounted", async () => {
    const executor = await createExecutor(model, { ...everyStep, evenly: true });
    const { tensors, stats, milliseconds } = await executor.run(inputs, { profile: true });
    expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
    expect(stats.elements).to.equal(ROWS * COLUMNS);
    expect(milliseconds.products).to.be.above(0);
    await executor.close();
  });

  it("executorsOfOneProcess_shareATeam_whichEndsWithTheLast", async () => {
    const [one, two] = [await createExecutor(model, everyStep), await createExecutor(model, everyStep)];
    const team = Team.hold(2);
    const runs = await Promise.all([one.run(inputs), two.run(inputs), one.run(inputs)]);
    for (const { tensors } of runs) expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
    await one.close();
    await two.close();
    expect(team.failure).to.equal(undefined);
    await team.release();
    const next = Team.hold(2);
    expect(next).not.to.equal(team);
    await next.release();
  });

  it("failureInAThread_isATypedError_andTheNextTeamIsAnother", async () => {
    const team = Team.hold(2);
    // A program that no thread was given.
    const failure = await failureOf(() => team.compute(7, 0, nothing, true, new StageClock()));
    expect(failure).to.be.instanceOf(ExecutionThreadError);
    expect((failure as ExecutionThreadError).retryable).to.equal(true);
    const next = Team.hold(2);
    expect(next).not.to.equal(team);
    await team.release();
    expect(next.failure).to.equal(undefined);
    await next.release();
  });

  it("threadThatDiesBetweenJobs_isDoneWithout", async () => {
    const executor = await createExecutor(model, { ...everyStep, evenly: true });
    const team = Team.hold(2);
    await executor.run(inputs);
    team.abandon("was ended by a test");
    for (let k = 0; k < 2; k++) {
      const { tensors } = await executor.run(inputs);
      expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
    }
    await executor.close();
    await team.release();
  });

  it("threadThatDies_whileTheOthersWaitForIt_failsTheJob", async () => {
    const team = Team.hold(2);
    // Nobody takes the second part: the worker is gone before it starts.
    setTimeout(() => team.abandon("was ended by a test"), 20);
    const failure = await failureOf(() => team.compute(1, 0, nothing, true, new StageClock()));
    expect(failure).to.be.instanceOf(ExecutionThreadError);
    await team.release();
  });

  it("whatThisThreadThrows_isThrown_whenTheOthersAreDone", async () => {
    const team = Team.hold(2);
    const problem = new Error("of this thread");
    const throwing = (): void => {
      throw problem;
    };
    expect(await failureOf(() => team.compute(1, 0, [throwing, throwing], false, new StageClock()))).to.equal(problem);
    await team.release();
  });

  for (const closes of [true, false]) {
    it(`process_${closes ? "thatClosesItsExecutor" : "thatForgetsToCloseItsExecutor"}_ends`, () => {
      const script = fileURLToPath(new URL("../../../testkit/threads/runOnce.ts", import.meta.url));
      const { status, stdout } = spawnSync(process.execPath, [script, String(closes)], {
        encoding: "utf8",
        timeout: 60_000,
      });
      expect({ status, stdout: stdout.trim() }).to.deep.equal({ status: 0, stdout: "done" });
    });
  }
});
