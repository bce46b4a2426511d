import { expect } from "chai";
import { AT_LENGTH, everyFourth } from "../../testkit/atLength.ts";
import { forgetful, staleEverySecond, unreliable } from "../../testkit/disturbances/faults.ts";
import { disturbedPoints, pointsOf } from "../../testkit/disturbances/reorgs.ts";
import { Setup } from "../../testkit/disturbances/setup.ts";
import { ANSWERED, type Scenario } from "../../testkit/disturbances/scenarios.ts";
import { Playthrough, type Disturbance, type PlaythroughResult } from "../../testkit/disturbances/playthrough.ts";
import {
  censored,
  cutOff,
  doubled,
  killed,
  withoutGasMoney,
  withNodeFault,
} from "../../testkit/disturbances/disturbances.ts";
import { Prng } from "../../testkit/random/prng.ts";

describe("nodes, mempools and processes that fail", function () {
  let setup: Setup;
  let points: { scenario: Scenario; calls: string[] }[];
  before(async () => {
    setup = await Setup.create();
    points = await pointsOf(setup);
  });
  after(() => setup.close());

  /** Plays to the end, which must be the scenario's. */
  const playToEnd = (scenario: Scenario, point: number, disturb: Disturbance): Promise<PlaythroughResult> =>
    Playthrough.play(setup, scenario, point, disturb).catch((error: unknown) => {
      throw new Error(`${scenario.name}, after transaction ${point}`, { cause: error });
    });
  /** Plays to the end and checks also that no honest party made a move twice. */
  const play = async (scenario: Scenario, point: number, disturb: Disturbance): Promise<PlaythroughResult> => {
    const result = await playToEnd(scenario, point, disturb);
    expect(result.repeated, `${scenario.name}, after transaction ${point}: moves made twice`).to.equal(0);
    return result;
  };
  /** In time, one of the scenarios. */
  const answered = (): typeof points =>
    points.filter((of) => ANSWERED.includes(of.scenario)).slice(0, AT_LENGTH ? undefined : 1);
  const afterEachFunction = async (disturb: Disturbance): Promise<void> => {
    for (const { scenario, calls } of answered()) {
      const inTime = disturbedPoints(calls).filter((_, k) => AT_LENGTH || k % 4 === 0);
      for (const point of inTime) await play(scenario, point, disturb);
    }
  };
  /** Every second scenario; at length the others. */
  const inHalf = async (disturb: Disturbance): Promise<void> => {
    for (const { scenario } of everyFourth(points, 0)) await play(scenario, 0, disturb);
  };

  it("processKilled_afterEachFunction_recoversFromTheChain", () => afterEachFunction(killed));

  it("censorshipForLessThanAClock_afterEachFunction_changesNothing", () => afterEachFunction(censored));

  it("twoProcessesWithTheSameKey_makeNoMoveTwice", () => inHalf(doubled));

  it("staleNodeBehindALoadBalancer_hidesNothingForLong", async function () {
    for (const blocks of AT_LENGTH ? [1, 8] : [3]) {
      const stale = withNodeFault(() => staleEverySecond(blocks));
      // A lagging node may simulate a move that was already made. The contract refuses it, and it costs its gas.
      for (const { scenario } of points) {
        await playToEnd(scenario, 0, (playthrough, included) => {
          void playthrough.tick();
          return stale(playthrough, included);
        });
      }
    }
  });

  it("nodeThatFailsOften_isAskedAgain", () => inHalf(withNodeFault((k) => unreliable(new Prng(k), 12))));

  it("nodeThatForgetsTransactions_isSentThemAgain", () => inHalf(withNodeFault((k) => forgetful(new Prng(k), 3))));

  it("noNodeForAWhile_inTheMiddleOfAGame_isWaitedFor", async function () {
    for (const { scenario, calls } of everyFourth(points, 0)) await play(scenario, calls.length >> 1, cutOff);
  });

  it("noMoneyForGas_inTheMiddleOfAGame_isSaid_andTheGameGoesOnWhenThereIs", async function () {
    for (const { scenario, calls } of everyFourth(points, 0)) {
      const { complaints } = await play(scenario, calls.indexOf("open") - 1, withoutGasMoney);
      if (!scenario.honest.includes("worker")) expect(complaints.join()).to.contain("INSUFFICIENT_GAS_FUNDS");
    }
  });
});
