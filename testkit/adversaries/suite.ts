import { expect } from "chai";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import type { Adversary } from "./adversary.ts";
import { verdictTable, type Verdict } from "./verdict.ts";
import { Arena } from "./arena.ts";

/** Optional settings of a suite. */
type SuiteOptions = {
  make?: () => Promise<Arena>;
  /** The forms of the adversaries' claims, used in turn. By default, every claim has the arena's form. */
  forms?: readonly ClaimForm[];
};

/** Declares a test per adversary, all in the same arena, and prints the table of verdicts. */
export function adversarySuite(
  title: string,
  adversaries: readonly Adversary[],
  { make = () => Arena.create(), forms }: SuiteOptions = {},
) {
  describe(`adversaries: ${title}`, function () {
    let arena: Arena;
    const rows: { name: string; verdict: Verdict }[] = [];
    before(async () => void (arena = await make()));
    afterEach(() => arena.calm());
    after(async () => {
      await arena.close();
      console.log(verdictTable(rows));
    });
    for (const [k, adversary] of adversaries.entries()) {
      const form = forms?.[k % forms.length];
      const name = `${adversary.name}${form === "answer" ? ", about an answer" : ""}`;
      it(`${name} -> ${adversary.expected}`, async function () {
        if (form !== undefined) arena.form = form;
        const verdict = await adversary.attack(arena);
        rows.push({ name, verdict });
        expect(verdict).to.equal(adversary.expected);
      });
    }
  });
}
