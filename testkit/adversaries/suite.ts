import { expect } from "chai";
import type { Adversary, Verdict } from "./adversary.ts";
import { verdictTable } from "./adversary.ts";
import { Arena } from "./arena.ts";

/** One test for each adversary, all in one arena, and the table of what came of them. */
export function siegeSuite(
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
