import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import type { Execution } from "../../src/chain/game/execution.ts";
import type { Session } from "../../src/chain/session.ts";
import { Trace } from "../../src/trace/trace.ts";
import { selfAudit, SelfAuditError } from "../../src/worker/selfAudit.ts";
import { mlpInput, mlpProgram } from "../../test-support/mlp.ts";
import { first, Players, reference } from "../../test-support/players.ts";
import { rejection } from "../../test-support/rejection.ts";
import { seeded } from "../../test-support/toyProgram.ts";

describe("selfAudit", function () {
  const program = mlpProgram();
  const inputs = [mlpInput(1)];
  let players: Players;
  let session: Session;
  before(async () => {
    players = await Players.create();
    session = await players.chain.newSession();
  });
  after(() => players.chain.close());

  const execution = async (lie?: { step: number; element: number }): Promise<Execution> => {
    const tensors = await reference(lie)(program.model, inputs);
    return { ...program, inputs, trace: new Trace(program.model.program, tensors) };
  };

  it("anExactExecution_passesEverywhere", async function () {
    await selfAudit(session.publicClient, session.deployment.verifier, await execution(), 20, seeded(1));
  });

  it("aWrongElement_isFound", async function () {
    const wrong = await execution({ step: 0, element: 5 });
    const picks = [0, 5];
    const error = await rejection(
      selfAudit(session.publicClient, session.deployment.verifier, wrong, 1, () => picks.shift()!),
    );
    expect(error).to.be.instanceOf(SelfAuditError);
    expect(error.message).to.contain("step 0, element 5");
  });

  it("aWorkerWhoseExecutionIsWrong_submitsNothing_howeverOftenItTries_andSaysWhy", async function () {
    let rounds = 0;
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const last = program.model.program.steps.length - 1;
    // Every element of a step of ten is wrong, and each of the steps is sampled many times.
    const broken = await players.startWorker(
      await players.workerKey(),
      program,
      async (model, given) => {
        const tensors = await reference()(model, given);
        tensors[last] = tensors[last]!.map((byte) => byte ^ 0x11);
        return tensors;
      },
      { selfAuditSamples: 60, onRound: () => rounds++, log },
    );
    await players.post(program, inputs);
    await first(broken, "executed");
    for (const end = rounds + 3; rounds < end;) await sleep(10);
    await broken.stop();
    expect(broken.inbox.all.map(({ kind }) => kind)).to.deep.equal(["claimed", "executed"]);
    expect(lines.join("")).to.include("SELF_AUDIT");
  });
});
