import { expect } from "chai";
import type { Adversary } from "./adversary.ts";
import { verdictTable, type Verdict } from "./verdict.ts";
import { Arena } from "./arena.ts";

/** One test for each adversary, all in one arena, and the table of their verdicts. */
export function adversarySuite(
  title: string,
  adversaries: readonly Adversary[],
  make: () => Promise<Arena> = () => Arena.create(),
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
    for (const adversary of adversaries) {
      it(`${adversary.name} -> ${adversary.expected}`, async function () {
        const verdict = await adversary.attack(arena);
        rows.push({ name: adversary.name, verdict });
        expect(verdict).to.equal(adversary.expected);
      });
    }
  });
}
