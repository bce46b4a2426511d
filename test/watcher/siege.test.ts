import { expect } from "chai";
import fc from "fast-check";
import { parseEther, type Hex } from "viem";
import type { Execute } from "../../src/chain/game/executions.ts";
import { Lane } from "../../src/chain/lane.ts";
import { deposit, stake } from "../../src/chain/ledger.ts";
import { Arena } from "../../test-support/adversaries/arena.ts";
import { LiarWorker } from "../../test-support/adversaries/liarWorker.ts";
import { reference } from "../../test-support/players.ts";
import { seeded, toyInput } from "../../test-support/toyProgram.ts";

describe("Lane", function () {
  it("whatIsMoreUrgent_isDoneNext_howeverMuchCameBefore", async function () {
    const lane = new Lane<number>();
    const done: number[] = [];
    lane.renew(Array.from({ length: 1_000 }, (_, k) => 1_000 + k));
    await lane.run((deadline) => {
      done.push(deadline);
      // A claim with a short window appears while the third one is executed; nothing is due after it.
      if (done.length === 3) lane.renew([1, 1_003]);
      return Promise.resolve();
    });
    expect(done).to.deep.equal([1_000, 1_001, 1_002, 1, 1_003]);
  });

  it("whenAllCanBeJudgedInTime_allAre_inWhateverOrderTheyCome", async function () {
    const claim = fc.record({ comes: fc.integer({ min: 0, max: 400 }), slack: fc.integer({ min: 0, max: 60 }) });
    const property = fc.asyncProperty(fc.array(claim, { minLength: 1, maxLength: 60 }), async (drawn) => {
      // Ten seconds each. A window that closes when all that came with it or before could be done, and some more.
      const byComing = [...drawn].sort((a, b) => a.comes - b.comes);
      const claims = byComing.map(({ comes, slack }, k) => ({
        comes,
        end: comes + 10 * (k + 1) + slack + 10,
        judged: false,
      }));
      const lane = new Lane<(typeof claims)[number]>();
      let now = 0;
      const renew = () => {
        const due = claims.filter(({ comes, judged }) => comes <= now && !judged);
        lane.renew(due.sort((a, b) => a.end - b.end));
      };
      for (; claims.some(({ judged }) => !judged); now++) {
        renew();
        await lane.run((next) => {
          now += 10;
          next.judged = true;
          expect(now <= next.end).to.equal(true);
          renew();
          return Promise.resolve();
        });
      }
    });
    await fc.assert(property, { numRuns: 50 });
  });
});

describe("a watcher under siege", function () {
  const CLAIMS = 20;
  let arena: Arena;
  before(async () => void (arena = await Arena.create()));
  after(() => arena.close());

  for (const bonds of [1n, 3n]) {
    it(`twentyWrongClaimsAtOnce_withBondsFor${bonds}_areAllRefuted_theFirstWindowFirst_eachExecutedOnce`, async function () {
      await arena.watcher.stop();
      const { chain } = arena.players;
      const liarKey = await arena.players.workerKey();
      const liar = await LiarWorker.create(arena, liarKey);
      const { collateral } = liar.session.deployment.parameters;
      await fund(liarKey, BigInt(CLAIMS) * collateral);
      const program = arena.chainOfSums;
      const claims: Hex[] = [];
      for (let k = 0; k < CLAIMS; k++) {
        const window = 40_000 - 1_000 * k;
        const posted = await arena.post(program, [toyInput(seeded(k), program.model)], { window });
        await liar.submit(posted, await arena.execution(posted, reference({ step: 4, element: 1 })));
        claims.unshift((await arena.claimOn(posted)).id);
      }
      liar.answer(() => "concede");
      let executed = 0;
      const counting: Execute = (...given) => (executed++, reference()(...given));
      const key = await chain.newAccount(parseEther("5"));
      const session = await chain.sessionOf(key);
      await deposit(session, bonds * session.deployment.bond);
      const watcher = await arena.players.startWatcher(key, program, counting);
      await arena.until(
        "the death of all",
        ({ claims: all }) => claims.every((id) => all.get(id)!.refuted) || undefined,
      );
      await watcher.stop();
      await liar.stop();
      const opened = watcher.inbox.all.flatMap((event) => (event.kind === "opened" ? [event.claimId] : []));
      expect(new Set(opened).size).to.equal(CLAIMS);
      expect(opened).to.have.length(CLAIMS);
      // Transactions that wait together may be told in another order: by no more than there are bonds.
      opened.forEach((id, k) => expect(Math.abs(claims.indexOf(id) - k)).to.be.below(Number(bonds)));
      // Each once to judge it; a game that waits for its concession may have been planned too.
      expect(executed).to.be.within(CLAIMS, 2 * CLAIMS);
    });
  }

  /** Stakes more. */
  async function fund(key: Hex, amount: bigint): Promise<void> {
    const { chain } = arena.players;
    const rich = await chain.newSession(amount);
    await deposit(rich, amount, arena.players.addressOf(key));
    await stake(await chain.sessionOf(key), amount);
  }
});
