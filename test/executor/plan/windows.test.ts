import { expect } from "chai";
import { createExecutor, type ExecutorOptions } from "../../../src/executor/createExecutor.ts";
import { Team } from "../../../src/executor/threads/threadPool.ts";
import { planProgram } from "../../../src/executor/plan/planProgram.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { everyFourth, itInTime } from "../../../testkit/atLength.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { randomWindow, VALUES, type Values } from "../../../testkit/programs/randomWindow.ts";

const OPTIONS = { minEngineWork: 2 ** 14, chunkElements: 2 ** 18, threads: 1, memoryBytes: 2 ** 32, spreads: false };
const ROUNDS = 50;

describe("convolutions with constant weights", function () {
  this.timeout(60_000);

  /** Runs convolutions on both executors; returns how many direct kernels there were. */
  async function compare(
    kind: Values,
    limits: { channels: number; columns: number },
    options: ExecutorOptions,
    rounds = ROUNDS,
  ): Promise<number> {
    let kernels = 0;
    for (let seed = 1; seed <= rounds; seed++) {
      const { model, inputs } = randomWindow(new Prng(seed), kind, limits);
      const [expected] = executeReference(model, inputs);
      const pieces = seed % 2 === 0 ? { chunkElements: 2 ** 11 } : {};
      const executor = await createExecutor(model, { ...options, ...pieces });
      const { tensors, stats } = await executor.run(inputs);
      expect(Buffer.compare(tensors[0]!, expected!), `${kind}, seed ${seed}`).to.equal(0);
      expect(stats.elements).to.equal(model.program.steps[0]!.count);
      if (options.alwaysExact === true) expect(stats.exact).to.equal(stats.elements);
      kernels += planProgram(model, OPTIONS).directs.on(kernelMemory(1)).length;
      await executor.close();
    }
    return kernels;
  }

  const depthwise = { channels: 2, columns: 2 };
  const narrow = { channels: 10, columns: 11 };
  const all = VALUES.flatMap((kind) => [["depthwise", depthwise, kind] as const, ["narrow", narrow, kind] as const]);
  for (const [name, shape, kind] of everyFourth(all, 0))
    it(`${name}_of${kind.replace(" ", "")}Numbers_haveTheBitsOfTheReference`, async () => {
      expect(await compare(kind, shape, { threads: 1 })).to.be.greaterThan(ROUNDS / 2);
    });

  itInTime("sums_whereNoBoundIsTrusted_haveTheBitsOfTheReference", async () => {
    await compare("ordinary", depthwise, { threads: 1, alwaysExact: true });
    await compare("ordinary", narrow, { threads: 1, alwaysExact: true });
  });

  itInTime("parts_ofTwoThreads_haveTheBitsOfTheReference", async () => {
    const team = Team.hold(2);
    await compare("wide", { channels: 4, columns: 6 }, { threads: 2, minSplit: 0, evenly: true }, 12);
    await team.release();
  });
});
