import { expect } from "chai";
import { anvilBinary } from "../../testkit/nodes/anvil.ts";
import { Story, type StoryResult, type StoryTerms } from "../../testkit/processes/story.ts";

/** `npm run soak -- --nodes` has more scenarios, longer windows and many seeds. */
describe("worker, watcher and liar as processes, on a real node", function () {
  before(function () {
    const binary = anvilBinary();
    if (typeof binary === "string") return;
    console.log(`      ${binary.missing}`);
    this.skip();
  });

  const terms: StoryTerms = { seed: 1, lies: 2, jobs: 2, window: 15, clock: 90, blockSeconds: 1, limit: 100 };
  const isLiars =
    ({ liar }: Story) =>
    ({ claim }: { claim: { worker: string } }): boolean =>
      claim.worker === liar;

  /** Lies are refuted, jobs paid, and nobody honest loses, not even a transaction. */
  function expectJustice({ lies, survived, paid, lostGames, reverted, gains, errors }: StoryResult): void {
    expect({ lies, survived, paid, lostGames, reverted, errors }).to.deep.equal({
      lies: 2,
      survived: 0,
      paid: 2,
      lostGames: 0,
      reverted: [],
      errors: {},
    });
    expect(gains.worker!.net).to.be.greaterThan(0);
    expect(gains.watcher!.net).to.be.greaterThan(0);
  }

  it("liesDie_andJobsArePaid", async function () {
    const story = await Story.create(terms);
    expectJustice(await story.play());
  });

  it("liesDie_andJobsArePaid_withFailingRequests_aKilledWatcher_andARestartedNode", async function () {
    const story = await Story.create({ ...terms, seed: 2, window: 25 });
    const faults = { errorRate: 0.05, failures: ["429", "500", "cut"], truncatedLogRate: 0.05 } as const;
    for (const proxy of Object.values(story.proxies)) proxy.faults = faults;
    const result = await story.play(async ({ anvil }, signal) => {
      await story.until(({ claims }) => [...claims.values()].some(isLiars(story)), signal);
      await story.restart("watcher");
      await story.until(({ games }) => games.size > 0, signal);
      await anvil.restart(1_000);
    });
    expectJustice(result);
    expect(result.lives).to.have.length(1);
  });
});
