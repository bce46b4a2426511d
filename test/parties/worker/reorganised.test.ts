import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, Players, reference } from "../../../testkit/players/players.ts";
import type { Execute } from "../../../src/runs/execute.ts";

describe("a worker whose claim a reorganisation dropped", function () {
  it("whileTheChainIsNoLonger_tellsOnce_andSendsNothing_andThenClaimsAgain", async function () {
    const players = await Players.create();
    const { chain } = players;
    const program = mlpProgram();
    const { jobId } = await players.post(program, [mlpInput(1)]);
    const key = await players.workerKey();
    const { publicClient } = await chain.sessionOf(key);
    const address = players.addressOf(key);
    const snapshot = await chain.provider.request({ method: "evm_snapshot" });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const execute: Execute = async (...given) => {
      begin();
      await released;
      return reference()(...given);
    };
    let rounds = 0;
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    const worker = await players.startWorker(key, program, execute, { onRound: () => rounds++, log });
    await begun;
    await chain.provider.request({ method: "evm_revert", params: [snapshot] });
    const before = await publicClient.getTransactionCount({ address, blockTag: "pending" });
    release();
    await first(worker, "executed");
    for (const end = rounds + 10; rounds < end;) await sleep(10);
    expect(worker.inbox.all.map(({ kind }) => kind)).to.have.members(["claimed", "executed"]);
    const refused = lines.filter((line) => line.includes("submit is refused"));
    expect(refused, lines.join("")).to.have.length(1);
    expect(await publicClient.getTransactionCount({ address, blockTag: "pending" })).to.equal(before);
    for (let k = 0; k < 3; k++) await chain.provider.request({ method: "evm_mine" });
    await first(worker, "submitted", (event) => event.jobId === jobId);
    await worker.stop();
    await chain.close();
  });
});
