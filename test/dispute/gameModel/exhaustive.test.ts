import { expect } from "chai";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";
import { explore } from "../../../testkit/game/gameModel/explore.ts";

describe("the rules, exhausted over lists of up to 8 items, 8 checkpoints, 8 steps and 8 chunks", function () {
  for (const arityBits of [1, 2, 3]) {
    (arityBits === 3 ? itAtLength : itInTime)(
      `arity2^${arityBits}_theSideToMoveCanMove_andBestPlayGivesTheRightVerdict`,
      function () {
        const { states, longest, ...faults } = explore({ arityBits, flaw: "none" });
        expect(faults).to.deep.equal({ stuck: 0, lostByTheWatcher: 0, lostByAll: 0, lostByTheHonestWorker: 0 });
        console.log(`      ${states} states, at most ${longest} moves`);
      },
    );
  }

  // The model has teeth: without any one of the rules somebody honest loses (or, with one, cannot move).
  for (const flaw of [
    "padding unchecked",
    "range not closed under reads",
    "last leaf unbound",
    "item before unproven",
    "output unbound",
    "run not expanded",
  ] as const) {
    itInTime(`${flaw.replaceAll(" ", "_")}_aWrongClaimStands`, function () {
      const { lostByTheWatcher, lostByAll } = explore({ arityBits: 2, flaw }, 5);
      expect(lostByTheWatcher).to.be.above(0);
      expect(lostByAll).to.be.above(0);
    });
  }

  itInTime("always2^kChildren_anHonestWorkerIsStuck", function () {
    expect(explore({ arityBits: 2, flaw: "always 2^k children" }, 5).stuck).to.be.above(0);
  });
});
