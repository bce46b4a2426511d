import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Health } from "../../../src/base/health.ts";
import { RpcUnavailableError } from "../../../src/chain/errors.ts";
import { PledgeStatus } from "../../../src/chain/structs.ts";
import type { Cashed } from "../../../src/parties/tickets/cashier.ts";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import { quiet } from "../../../testkit/players/players.ts";
import { TicketPlayers } from "../../../testkit/players/ticketPlayers.ts";
import { apartAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";

describe("health of a worker of signed claims", function () {
  let world: TicketPlayers;
  before(async () => void (world = await TicketPlayers.create()));
  after(() => world.close());

  it("pledgeAndCashes_failWithTheirReason_andHoldOnceItIsGone", async () => {
    const program = apartAnswers("two");
    const serving = await world.serve(await world.workerKey(), program, executionOf());
    const away = new RpcUnavailableError("the node is away");
    let status: PledgeStatus | Error = PledgeStatus.active;
    let failed: unknown;
    const pledgeOf = () => (status instanceof Error ? Promise.reject(status) : Promise.resolve({ status }));
    const pledges = Object.create(serving.at.pledges, { pledgeOf: { value: pledgeOf } }) as TicketSession["pledges"];
    const round = (): Promise<Cashed> => Promise.resolve({ cashed: [], collected: [], lost: [], failed });
    const health = new Health(quiet);
    const says = async (condition: "pledge" | "cashes", reason: RegExp | undefined): Promise<void> => {
      const isSaid = (said?: string): boolean => (said === undefined ? reason === undefined : !!reason?.test(said));
      while (!isSaid(health.problem(condition)?.reason)) await sleep(5);
    };
    const at = { ...serving.at, pledges };
    const running = world.follow({ at, ledger: serving.ledger }, program, executionOf(), {
      health,
      cashier: { round },
    });
    expect(health.problem("pledge")?.reason).to.equal("the pledge was not read yet");
    await says("pledge", undefined);
    await says("cashes", undefined);
    failed = away;
    await says("cashes", /^a winner cannot be cashed: the node is away/);
    expect(health.problem("cashes")?.code).to.equal("RPC_UNAVAILABLE");
    failed = undefined;
    await says("cashes", undefined);
    status = away;
    await says("cashes", /^the winners were not looked at: the node is away/);
    expect(health.problem("pledge")).to.equal(undefined);
    status = PledgeStatus.stopped;
    await says("pledge", /^the pledge is not active/);
    await says("cashes", undefined);
    expect(health.reasons.map(({ condition }) => condition)).to.include("pledge");
    status = PledgeStatus.active;
    await says("pledge", undefined);
    await running.stop();
    await serving.stop();
  });
});
