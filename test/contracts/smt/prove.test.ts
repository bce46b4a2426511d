import { expect } from "chai";
import { everyFourth, itInTime } from "../../../testkit/atLength.ts";
import { prove } from "../../../tools/verify/smt/prove.ts";

type Bug = { harness: string; only: string; file: string; from: string; to: string; found: RegExp };

/** Bugs as somebody might make them, each in a function that the contracts call. */
const BUGS: readonly Bug[] = [
  {
    harness: "LedgerProofs",
    only: "lock",
    file: "contracts/vault/Ledger.sol",
    from: "amount <= freeStake",
    to: "amount <= staked",
    found: /newLocked <= staked/,
  },
  {
    harness: "LedgerProofs",
    only: "slash",
    file: "contracts/vault/Ledger.sol",
    from: "return locked - amount",
    to: "return locked",
    found: /newLocked <= newStaked/,
  },
  {
    harness: "LedgerProofs",
    only: "give",
    file: "contracts/vault/Ledger.sol",
    from: "return custody - amount",
    to: "return custody",
    found: /custody \+ credit/,
  },
  {
    harness: "PayoutProofs",
    only: "share_ofTwo",
    file: "contracts/game/Payouts.sol",
    from: "(due_ * pot) / dues",
    to: "(due_ * pot + dues - 1) / dues",
    found: /<= pot/,
  },
  {
    harness: "PayoutProofs",
    only: "divide",
    file: "contracts/game/Payouts.sol",
    from: "pot > dues ? pot - dues : 0",
    to: "pot - dues",
    found: /Underflow/,
  },
  {
    harness: "ClockProofs",
    only: "budgets",
    file: "contracts/game/Clock.sol",
    from: "base + (2 * work) / rate",
    to: "base + work / (2 * rate)",
    found: /budget >= window/,
  },
  {
    harness: "ClockProofs",
    only: "move",
    file: "contracts/game/Clock.sol",
    from: "elapsed > left",
    to: "elapsed > left + 1",
    found: /Underflow/,
  },
  {
    harness: "TicketProofs",
    only: "reserve",
    file: "contracts/extras/tickets/TicketAccounts.sol",
    from: "withdrawing - (face - free)",
    to: "withdrawing - face",
    found: /Underflow|Assertion/,
  },
  {
    harness: "PanelProofs",
    only: "resolved",
    file: "contracts/extras/panel/PanelFees.sol",
    from: "auditUntil != 0 && !added ? fee",
    to: "auditUntil != 0 ? fee",
    found: /Assertion/,
  },
];

describe("the SMTChecker", function () {
  this.timeout(300_000);

  for (const { harness, only, file, from, to, found } of everyFourth(BUGS, 0)) {
    it(`bugIn_${harness}_${only}_isFound`, () => {
      let planted = 0;
      const edit = (path: string, source: string): string => {
        if (path !== file) return source;
        planted += source.split(from).length - 1;
        return source.replace(from, to);
      };
      const { problems } = prove(harness, edit, only);
      expect(planted, `${from} in ${file}`).to.equal(1);
      expect(problems.join("\n")).to.match(found);
    });
  }

  itInTime("unchanged_isProved", () => {
    const { proved, problems } = prove("LedgerProofs", undefined, "lock");
    expect(problems).to.deep.equal([]);
    expect(proved).to.be.at.least(4);
  });

  itInTime("assumptionsThatContradictOneAnother_areNoProof", () => {
    const edit = (path: string, source: string): string =>
      path.startsWith("test/") ? source.replaceAll("require(locked <= staked)", "require(locked < 0)") : source;
    const { problems } = prove("LedgerProofs", edit, "unlock");
    expect(problems.join("\n")).to.include("vacuous");
  });
});
