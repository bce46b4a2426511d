import { expect } from "chai";
import { forgetful, staleEverySecond, unreliable } from "../../testkit/disturbances/faults.ts";
import { pointsOf } from "../../testkit/disturbances/reorgs.ts";
import { Stage } from "../../testkit/disturbances/stage.ts";
import type { Story } from "../../testkit/disturbances/stories.ts";
import { Telling, type Disturbance, type Outcomes } from "../../testkit/disturbances/playthrough.ts";
import { censored, cutOff, doubled, killed, penniless, suffering } from "../../testkit/disturbances/troubles.ts";
import { Prng } from "../../testkit/random/prng.ts";

describe("nodes, mempools and processes that fail", function () {
  let stage: Stage;
  let points: { story: Story; calls: string[] }[];
  before(async () => {
    stage = await Stage.create();
    points = await pointsOf(stage);
  });
  after(() => stage.close());

  /** Every telling must end as it should. */
  const ends = (story: Story, point: number, disturb: Disturbance): Promise<Outcomes> =>
    Telling.of(stage, story, point, disturb).catch((error: unknown) => {
      throw new Error(`${story.name}, after transaction ${point}`, { cause: error });
    });
  /** And no honest move be made twice. */
  const tell = async (story: Story, point: number, disturb: Disturbance): Promise<Outcomes> => {
    const outcomes = await ends(story, point, disturb);
    expect(outcomes.repeated, `${story.name}, after transaction ${point}: moves made twice`).to.equal(0);
    return outcomes;
  };
  const atEachPoint = async (disturb: Disturbance): Promise<void> => {
    // Against whom answers: the longest game of each side.
    for (const { story, calls } of [points[0]!, points[2]!]) {
      for (const point of calls.keys()) await tell(story, point, disturb);
    }
  };
  const inEachStory = async (disturb: Disturbance): Promise<void> => {
    for (const { story } of points) await tell(story, 0, disturb);
  };

  it("processKilled_atEachPointOfAGame_recoversFromTheChain", () => atEachPoint(killed));

  it("censorshipForLessThanAClock_atEachPointOfAGame_changesNothing", () => atEachPoint(censored));

  it("twoProcessesWithTheSameKey_makeNoMoveTwice", () => inEachStory(doubled));

  it("staleNodeBehindALoadBalancer_hidesNothingForLong", async function () {
    for (const blocks of [1, 3, 8]) {
      const stale = suffering(() => staleEverySecond(blocks));
      // A move that a lagging node simulates may have been made: the contract refuses it then, for the price of its gas.
      for (const { story } of points) {
        await ends(story, 0, (telling, included) => {
          void telling.tick();
          return stale(telling, included);
        });
      }
    }
  });

  it("nodeThatFailsOften_isAskedAgain", () => inEachStory(suffering((k) => unreliable(new Prng(k), 12))));

  it("nodeThatForgetsTransactions_isSentThemAgain", () => inEachStory(suffering((k) => forgetful(new Prng(k), 3))));

  it("noNodeForAWhile_inTheMiddleOfAGame_isWaitedFor", async function () {
    for (const { story, calls } of points) await tell(story, calls.length >> 1, cutOff);
  });

  it("noMoneyForGas_inTheMiddleOfAGame_isSaid_andTheGameGoesOnWhenThereIs", async function () {
    for (const { story, calls } of points) {
      const { complaints } = await tell(story, calls.indexOf("open") - 1, penniless);
      if (!story.honest.includes("worker")) expect(complaints.join()).to.contain("INSUFFICIENT_GAS_FUNDS");
    }
  });
});
