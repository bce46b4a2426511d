import { expect } from "chai";
import { anvilBinary } from "../../src/deploy/devnet/anvil.ts";
import { Story, type StoryResult, type StoryTerms } from "../../testkit/processes/story.ts";
import { itAtLength } from "../../testkit/atLength.ts";

/** Seconds until a story is given up. */
const LIMIT = 500;

/** `npm run verify -- soak --nodes` has more scenarios, longer windows and many seeds. */
describe("worker, watcher and liar as processes, on a real node", function () {
  this.timeout(LIMIT * 1_000 + 60_000);

  before(function () {
    const binary = anvilBinary();
    if (typeof binary === "string") return;
    console.log(`      ${binary.missing}`);
    this.skip();
  });

  // Windows and clocks are long, because the machine may be slow; what is left of a window is skipped.
  const times = { window: 900, clock: 900, blockSeconds: 1, skipsWindows: true, limit: LIMIT };
  const terms: StoryTerms = { seed: 1, lies: 2, jobs: 2, ...times };

  /** Lies are refuted, jobs paid, and nobody honest loses, not even a transaction. */
  function expectJustice({ lies, survived, paid, lostGames, reverted, gains, output }: StoryResult): void {
    const found = { lies, survived, paid, lostGames, reverted };
    const expected = { lies: 2, survived: 0, paid: 2, lostGames: 0, reverted: [] };
    expect(found, `worker:\n${output.worker}\nwatcher:\n${output.watcher}\n`).to.deep.equal(expected);
    expect(gains.worker!.net).to.be.greaterThan(0);
    expect(gains.watcher!.net).to.be.greaterThan(0);
  }

  itAtLength("liesDie_andJobsArePaid_alsoWithFailingRequests_aKilledWatcher_andARestartedNode", async function () {
    const [plain, disturbed] = await Promise.all([Story.create(terms), Story.create({ ...terms, seed: 2 })]);
    const faults = { errorRate: 0.05, failures: ["429", "500", "cut"], truncatedLogRate: 0.05 } as const;
    for (const proxy of Object.values(disturbed.proxies)) proxy.faults = faults;
    const disturb = async (story: Story, signal: AbortSignal): Promise<void> => {
      await story.until(({ claims }) => [...claims.values()].some(({ claim }) => claim.worker === story.liar), signal);
      await story.restart("watcher");
      await story.until(({ games }) => games.size > 0, signal);
      await story.anvil.restart(1_000);
    };
    const results = await Promise.all([plain.play(), disturbed.play(disturb)]);
    results.forEach(expectJustice);
    expect(results[0].errors).to.deep.equal({});
    expect(results[0].lives).to.have.length(0);
    // A process that could not connect when it started ended, and was started once more.
    expect(results[1].lives.length).to.be.at.least(1);
  });
});
