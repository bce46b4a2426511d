import { expect } from "chai";
import { Health } from "../../src/base/health.ts";
import { deviceEvents, openDevice } from "../../src/cli/deviceSettings.ts";
import { Monitor } from "../../src/cli/monitor.ts";
import { waitForResult } from "../../src/parties/requester/result.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { itAtLength } from "../../testkit/atLength.ts";
import { softwareGpu } from "../../testkit/gpu/softwareGpu.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, quiet, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

describe("worker and watcher on a GPU, end to end", function () {
  const PATIENCE_MS = 300_000;
  this.timeout(PATIENCE_MS);
  const program = mlpProgram();
  const players = usePlayers("test");

  itAtLength("honestJobIsPaid_andALieIsRefuted_onceTheCpuHasRepeatedIt", async function () {
    // A loaded machine takes minutes for the self test alone: each event begins the time anew.
    const goesOn = (): void => void this.timeout(PATIENCE_MS);
    await softwareGpu(this);
    const executors = new FastExecutors({ threads: 1 });
    const health = new Health(quiet);
    let onCpu = 0;
    const cpu: typeof executors.execute = (...asked) => {
      onCpu++;
      return executors.execute(...asked);
    };
    const around = { health, monitor: new Monitor(health, 1_000), log: quiet };
    const asked = { device: "gpu", cpuShare: 0 };
    const gpu = await openDevice(asked, cpu, deviceEvents(asked, around));

    goesOn();
    const [workerKey, watcherKey] = [await players().workerKey(), await players().watcherKey()];
    const honest = await players().post(program, [mlpInput(1)]);
    const worker = await players().startWorker(workerKey, program, gpu.execute);
    const watcher = await players().startWatcher(watcherKey, program, gpu.execute);
    const { root } = await first(watcher, "agrees");
    expect((await first(worker, "submitted")).root).to.equal(root);
    await worker.stop();
    goesOn();
    expect(onCpu).to.equal(0);

    const { jobId } = await players().post(program, [mlpInput(2)]);
    const cheat = await players().startWorker(await players().workerKey(), program, reference({ step: 0, element: 9 }));
    await first(watcher, "differs", (event) => event.jobId === jobId);
    expect(onCpu).to.be.above(0);
    goesOn();
    await first(watcher, "moved", ({ move }) => move === "prove");
    await Promise.all([cheat.stop(), watcher.stop()]);
    goesOn();
    await players().chain.advance(3_601);
    const served = await players().startWorker(workerKey, program, gpu.execute);
    const { worker: paid } = await waitForResult(honest.requester, honest.jobId, { intervalMs: 20 });
    expect(paid).to.equal(players().addressOf(workerKey));
    expect(health.problem("device")).to.equal(undefined);
    await served.stop();
    await gpu.close();
    await executors.close();
  });
});
