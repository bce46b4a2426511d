import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { parseEther } from "viem";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, Players, reference } from "../../../testkit/players/players.ts";

describe("a worker with as many open claims as its policy allows", function () {
  it("claimsNoMore_saysSoOnce_andGoesOnWhenOneIsFinal", async function () {
    const players = await Players.create();
    const program = mlpProgram();
    const dear = await players.post(program, [mlpInput(1)]);
    const cheap = await players.post(program, [mlpInput(2)], { fee: parseEther("0.05") });
    let rounds = 0;
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const policy = { minFee: 1n, marginSeconds: 10, maxOpenClaims: 1 };
    const onRound = (): number => rounds++;
    const key = await players.workerKey();
    const worker = await players.startWorker(key, program, reference(), { policy, log, onRound });
    await first(worker, "submitted", ({ jobId }) => jobId === dear.jobId);
    for (const end = rounds + 10; rounds < end;) await sleep(10);
    expect(worker.inbox.all.filter(({ kind }) => kind === "claimed")).to.have.length(1);
    expect(lines, lines.join("")).to.have.length(1);
    expect(JSON.parse(lines[0]!)).to.include({ open: 1 });
    // Its stake is for two.
    await players.chain.advance(3_601);
    await first(worker, "submitted", ({ jobId }) => jobId === cheap.jobId);
    await worker.stop();
    expect(lines, lines.join("")).to.have.length(1);
    await players.chain.close();
  });
});
