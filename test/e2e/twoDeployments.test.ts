import { expect } from "chai";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

describe("two deployments on one chain", function () {
  const program = mlpProgram();
  const players = usePlayers("suite");
  const lastStep = program.model.program.steps.length - 1;

  it("eachIsPlayedForItself_byOneProcess_withItsOwnParameters", async function () {
    const [old, fresh] = [players(), await players().onAnotherDeployment({ arityBits: 3, bondGas: 2_000_000 })];
    const honest = await old.startWorker(await old.workerKey(), program, reference());
    const watchesOld = await old.startWatcher(await old.watcherKey(), program, reference());
    const liar = await fresh.startWorker(await fresh.workerKey(), program, reference({ step: lastStep, element: 0 }));
    const watchesFresh = await fresh.startWatcher(await fresh.watcherKey(), program, reference());

    // The same terms and inputs on both: ids differ by the market.
    const terms = { salt: `0x${"5a".repeat(32)}`, deadline: (await old.chain.now()) + 80_000n } as const;
    const onOld = await old.post(program, [mlpInput(3)], terms);
    const onFresh = await fresh.post(program, [mlpInput(3)], terms);
    expect(onOld.jobId).to.not.equal(onFresh.jobId);
    await first(watchesFresh, "moved", ({ move }) => move === "prove");
    await first(watchesOld, "agrees", ({ jobId }) => jobId === onOld.jobId);
    await old.chain.advance(3_601);
    await first(honest, "delivered", ({ jobId }) => jobId === onOld.jobId);
    await Promise.all([honest.stop(), liar.stop(), watchesOld.stop(), watchesFresh.stop()]);
    expect(watchesOld.inbox.all.map(({ kind }) => kind)).to.deep.equal(["agrees"]);
    expect(liar.inbox.all.every((event) => !("jobId" in event) || event.jobId === onFresh.jobId)).to.equal(true);
  });
});
