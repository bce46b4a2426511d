import { expect } from "chai";
import fc from "fast-check";
import { Lane } from "../../src/parties/role/lane.ts";
import { Arena } from "../../testkit/adversaries/arena.ts";
import { besiege } from "../../testkit/adversaries/watcherSiege.ts";
import { AT_LENGTH, itAtLength, itInTime } from "../../testkit/atLength.ts";

describe("Lane", function () {
  itInTime("whatIsMoreUrgent_isDoneNext_howeverMuchCameBefore", async function () {
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

  itInTime("whenAllCanBeJudgedInTime_allAre_inWhateverOrderTheyCome", async function () {
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
  const CLAIMS = AT_LENGTH ? 20 : 8;
  let arena: Arena;
  before(async () => void (arena = await Arena.create()));
  after(() => arena.close());

  for (const bonds of [1n, 3n]) {
    const wanted = "areAllRefuted_theFirstWindowFirst_eachExecutedOnce";
    (bonds === 1n ? it : itAtLength)(`${CLAIMS}WrongClaimsAtOnce_withBondsFor${bonds}_${wanted}`, async function () {
      const outcome = await besiege(arena, { claims: CLAIMS, bonds, liar: "concedes" });
      const { opened, items, executions, held, gain, purse } = outcome;
      expect(outcome.refuted).to.equal(CLAIMS);
      expect([...opened].sort((a, b) => a - b)).to.deep.equal(Array.from({ length: CLAIMS }, (_, k) => k));
      // Games for which there are bonds are opened together, in any order. Each bounty adds to the purse.
      const start = Number(bonds);
      const payable = (k: number): number => start + Math.ceil(((purse - start) * (k + 1)) / CLAIMS);
      opened.forEach((place, k) => expect(Math.abs(place - k), opened.join()).to.be.below(payable(k)));
      // Each once to judge it; a game that waits for its concession may have been planned too.
      expect(executions).to.be.within(items, 2 * items);
      // Four are kept; one more is made for an audit, and one for a game.
      expect(held).to.be.at.most(6);
      expect(gain >= 0n, String(gain)).to.equal(true);
    });
  }
});
