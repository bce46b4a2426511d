import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Health } from "../../../src/base/health.ts";
import { RpcUnavailableError } from "../../../src/chain/errors.ts";
import { leastForgetful, type Forget } from "../../../src/chain/market/forget.ts";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import { Role, type Duty } from "../../../src/parties/role/role.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { quiet, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";

describe("a role in several markets", function () {
  const players = usePlayers("suite");

  it("goesOnInOne_whileAnotherCannotBeRead_andSaysSo", async () => {
    const session = await players().chain.newSession();
    let isAway = true;
    // A node that is away for one of two readers.
    const publicClient = new Proxy(session.publicClient, {
      get: (client, name): unknown => {
        const value: unknown = Reflect.get(client, name);
        const away = (): Promise<never> => Promise.reject(new RpcUnavailableError("away"));
        return isAway && typeof value === "function" ? away : value;
      },
    });
    const beside = { ...session, publicClient };
    const health = new Health(quiet);
    const stop = new AbortController();
    const outcomes = new Set<string>();
    const rounds = [0, 0];
    const dutyOf = (k: number): Duty => ({
      conditions: ["seals"],
      forget: () => "nothing",
      round: () => void rounds[k]!++,
    });
    const role = new Role(
      "test",
      {
        ...{ session, programs: ProgramLibrary.of([mlpProgram()]), execute: reference(), intervalMs: 5, log: quiet },
        ...{ signal: stop.signal, health, onRound: (outcome) => void outcomes.add(outcome) },
      },
      () => ({ level: "info", message: "" }),
    );
    const condition = { name: "examGames", problem: () => undefined } as const;
    const running = role.run({
      facts: {},
      markets: [
        { session, duties: [dutyOf(0)] },
        { session: beside, duties: [dutyOf(1)], condition },
      ],
    });
    expect(health.conditions.map((one) => one.condition)).to.include("seals");
    expect(health.problem("examGames")?.reason).to.contain("not read yet");
    for (const end = rounds[0]! + 3; rounds[0]! < end;) await sleep(5);
    expect([rounds[1], [...outcomes]]).to.deep.equal([0, ["failed"]]);
    expect(health.problem("examGames")?.reason).to.contain("away");
    isAway = false;
    while (rounds[1] === 0) await sleep(5);
    stop.abort();
    await running;
    expect(health.problem("examGames")).to.equal(undefined);
    expect(outcomes.has("done")).to.equal(true);
  });

  it("thatMayHaveBegunAfterTheDeployment_saysSo_untilItReadsAJob", async () => {
    const session = await players().chain.newSession();
    const program = mlpProgram();
    const run = async (isProven: boolean, until: (health: Health) => boolean): Promise<void> => {
      const health = new Health(quiet);
      const stop = new AbortController();
      const role = new Role(
        "test",
        {
          ...{ session: { ...session, isProven }, programs: ProgramLibrary.of([program]), execute: reference() },
          ...{ intervalMs: 5, log: quiet, signal: stop.signal, health },
        },
        () => ({ level: "info", message: "" }),
      );
      const duty: Duty = { forget: () => "nothing", round: () => undefined };
      const running = role.run({ facts: {}, markets: [{ session, duties: [duty] }] });
      while (!until(health)) await sleep(5);
      stop.abort();
      await running;
    };
    const isJudged = ({ conditions }: Health, holds: boolean): boolean =>
      conditions.some((one) => one.condition === "events" && one.holds === holds);
    await run(true, (health) => isJudged(health, true));
    await run(false, (health) => isJudged(health, false));
    const posted = players().post(program, [mlpInput(1)]);
    await run(false, (health) => isJudged(health, true));
    await posted;
  });

  it("forgetsOnlyWhatEachDutyMayForget", () => {
    const kinds = ["all", "inputs", "nothing"] as const;
    const forget = (...said: (typeof kinds)[number][]) =>
      leastForgetful(
        said.map(
          (one): Forget =>
            () =>
              one,
        ),
      )({} as JobRecord, 0n);
    expect(forget()).to.equal("all");
    for (const [k, one] of kinds.entries())
      for (const [l, other] of kinds.entries()) expect(forget(one, other)).to.equal(kinds[Math.max(k, l)]);
  });
});
