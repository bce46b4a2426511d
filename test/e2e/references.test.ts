import { expect } from "chai";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { parseEther } from "viem";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { packInputs } from "../../src/parties/requester/postJob.ts";
import { waitForResult } from "../../src/parties/requester/result.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

describe("a job whose inputs lie elsewhere, end to end", function () {
  const program = mlpProgram();
  const input = mlpInput(7);
  const players = usePlayers("suite");
  let server: Server;

  before(async () => {
    const file = packInputs(describeProgram(program), [input]);
    server = createServer(({ url }, response) => void response.end(url === "/inputs.bin" ? file : Buffer.alloc(64)));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  });
  after(() => void server.close());

  const setup = () => {
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { references: { sources: { hosts: [host] } }, uri: (name: string) => `http://${host}/${name}` };
  };

  it("isExecutedJudgedAndDelivered_byThoseWhoFetchThem", async function () {
    const { references, uri } = setup();
    const worker = await players().startWorker(await players().workerKey(), program, reference(), { references });
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference(), { references });
    const blind = await players().startWatcher(await players().watcherKey(), program, reference());
    const { requester, jobId } = await players().post(program, [input], { references: [uri("inputs.bin")] });
    await first(watcher, "agrees");
    expect(await first(blind, "unknown")).to.have.property("reason", "its input bytes are not at hand");
    await players().chain.advance(3_601);
    const { outputs } = await waitForResult(requester, jobId, { intervalMs: 20 });
    await Promise.all([worker.stop(), watcher.stop(), blind.stop()]);
    expect(outputs.size).to.equal(1);
    expect(watcher.inbox.all.map(({ kind }) => kind)).to.deep.equal(["agrees"]);
  });

  it("wrongClaim_isRefutedByWhoFetchesThem", async function () {
    const { references, uri } = setup();
    const [step] = program.model.program.checkpoints.slice(-1).map(({ step }) => step);
    const liar = await players().startWorker(
      await players().workerKey(),
      program,
      reference({ step: step!, element: 0 }),
      {
        references,
      },
    );
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference(), { references });
    const terms = { references: [uri("inputs.bin")], fee: parseEther("0.2") };
    await players().post(program, [input], terms);
    await first(watcher, "differs");
    await first(liar, "refuted");
    await Promise.all([liar.stop(), watcher.stop()]);
  });

  it("jobWithWrongBytesAtItsPlace_isNotClaimed", async function () {
    const { references, uri } = setup();
    let warn: (reason: string) => void = () => undefined;
    const warned = new Promise<string>((resolve) => (warn = resolve));
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warn: ({ reason }: { reason: string }) => warn(reason),
      error: () => undefined,
    };
    const worker = await players().startWorker(await players().workerKey(), program, reference(), {
      references,
      log: log as never,
    });
    const { jobId } = await players().post(program, [mlpInput(8)], { references: [uri("wrong")] });
    expect(await warned).to.match(/bytes/);
    await worker.stop();
    const claimed = worker.inbox.all.flatMap((event) => (event.kind === "claimed" ? [event.jobId] : []));
    expect(claimed).to.not.include(jobId);
  });
});
