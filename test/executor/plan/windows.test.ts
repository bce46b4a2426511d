import { expect } from "chai";
import { createExecutor, type ExecutorOptions } from "../../../src/executor/onnx/createExecutor.ts";
import { Team } from "../../../src/executor/threads/team.ts";
import { planProgram } from "../../../src/executor/plan/planProgram.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { kernelMemory } from "../../../src/kernels/memory.ts";
import { Prng } from "../../../test-support/float32Words.ts";
import { randomWindow, VALUES, type Values } from "../../../test-support/randomWindow.ts";

const OPTIONS = { leastEngineWork: 2 ** 14, chunkElements: 2 ** 18, threads: 1 };
/** One thread, or now and then every step cut into parts for two. */
const ONE: ExecutorOptions = { threads: 1 };
const TWO: ExecutorOptions = { threads: 2, leastSplit: 0, evenly: true };
const ROUNDS = 50;

describe("convolutions with constant weights", function () {
  this.timeout(60_000);

  /** Runs convolutions on both executors; returns how many direct kernels there were. */
  async function compare(kind: Values, most: { channels: number; columns: number }, doubt: boolean): Promise<number> {
    const team = Team.hold(2);
    let kernels = 0;
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const { model, inputs } = randomWindow(new Prng(seed), kind, most);
      const [expected] = executeReference(model, inputs);
      const executor = await createExecutor(model, {
        ...(seed % 6 === 0 ? TWO : ONE),
        doubt,
        ...(seed % 2 === 0 ? { chunkElements: 2 ** 11 } : {}),
      });
      const { tensors, stats } = await executor.run(inputs);
      expect(Buffer.compare(tensors[0]!, expected!), `${kind}, seed ${seed}`).to.equal(0);
      expect(stats.elements).to.equal(model.program.steps[0]!.count);
      if (doubt) expect(stats.exact).to.equal(stats.elements);
      kernels += planProgram(model, OPTIONS).directs.on(kernelMemory(1)).length;
      await executor.close();
    }
    await team.release();
    return kernels;
  }

  for (const kind of VALUES)
    it(`depthwise_of${kind.replace(" ", "")}Numbers_haveTheBitsOfTheReference`, async () => {
      expect(await compare(kind, { channels: 2, columns: 2 }, false)).to.be.greaterThan(ROUNDS / 2);
    });

  it("depthwise_whereNoBoundIsTrusted_haveTheBitsOfTheReference", async () => {
    await compare("ordinary", { channels: 2, columns: 2 }, true);
  });
});
