import { expect } from "chai";
import { readFileSync } from "node:fs";
import { changelogSection, changesSince, KINDS, problemsOf } from "../../tools/release/compare.ts";
import {
  abiLines,
  currentState,
  figuresOf,
  storageLines,
  type ReleaseRecord,
  type ReleaseState,
} from "../../tools/release/state.ts";

const LAST: ReleaseState = {
  semantics: 1,
  roots: { mlp: "0x01", ocr: "0x02" },
  interfaces: { jobMarket: ["error Late()", "function post(Job job)"] },
  gas: { "jobs[0 mlp].post": 100_000 },
  storage: { StakeVault: ["  slot 0 byte 0, 32 bytes: uint256 custody", "  slot 1 byte 0, 32 bytes: mapping a"] },
};
const ALL_NAMED = KINDS.map((kind) => `- ${kind}: as follows.`).join("\n");

const changed = (changes: Partial<ReleaseState>): ReleaseState => ({ ...LAST, ...changes });
/** What changed, and the problems under a section of the changelog. */
function compared(now: ReleaseState, section: string | undefined): { lines: string[]; problems: string[] } {
  const changes = changesSince(LAST, now);
  const lines = changes.map(({ kind, what }) => `${kind}: ${what}`);
  return { lines, problems: problemsOf(LAST, now, changes, section, "Unreleased") };
}

describe("release", () => {
  it("sameState_hasNoChangesAndNoProblems", () => {
    expect(compared(LAST, "")).to.deep.equal({ lines: [], problems: [] });
  });

  it("changeOfEachKind_isSaidInWords_andMustBeNamed", () => {
    const planted: [Partial<ReleaseState>, string][] = [
      [{ roots: { ...LAST.roots, cls: "0x03" } }, "Program roots: cls is new: 0x03"],
      [{ roots: { mlp: "0x01" } }, "Program roots: ocr is gone; its root was 0x02"],
      [
        { interfaces: { jobMarket: ["error Late()", "function post(Job job, bytes data)"] } },
        "Contract interfaces: jobMarket has: function post(Job job, bytes data)",
      ],
      [{ interfaces: {} }, "Contract interfaces: jobMarket is gone"],
      [{ gas: { "jobs[0 mlp].post": 101_500 } }, "Gas: jobs[0 mlp].post is 101,500; it was 100,000 (+1.5 %)"],
      [{ gas: {} }, "Gas: jobs[0 mlp].post is gone; it was 100,000"],
      [{ storage: { StakeVault: [LAST.storage["StakeVault"]![0]!] } }, "Storage: StakeVault lost: slot 1"],
      [
        { storage: { StakeVault: [...LAST.storage["StakeVault"]!].reverse() } },
        "Storage: StakeVault has its lines in another order",
      ],
    ];
    for (const [changes, expected] of planted) {
      const { lines, problems } = compared(changed(changes), "- Something else.");
      expect(
        lines.some((line) => line.startsWith(expected)),
        `${expected}\n${lines.join("\n")}`,
      ).to.equal(true);
      const [kind] = expected.split(":");
      expect(problems).to.have.lengthOf(1);
      expect(problems[0]).to.include(`"${kind}"`).and.to.include("[Unreleased]");
      expect(compared(changed(changes), ALL_NAMED).problems).to.deep.equal([]);
      expect(compared(changed(changes), `- ${kind}`).problems).to.deep.equal([]);
    }
  });

  it("otherRootsWithoutAnotherSemanticsVersion_areAProblemEvenIfNamed", () => {
    const roots = { ...LAST.roots, mlp: "0xff" };
    const { lines, problems } = compared(changed({ roots }), ALL_NAMED);
    expect(lines).to.deep.equal(["Program roots: mlp has another root: 0xff; it was 0x01"]);
    expect(problems).to.have.lengthOf(1);
    expect(problems[0]).to.include("SEMANTICS_VERSION");
    const raised = compared(changed({ roots, semantics: 2 }), ALL_NAMED);
    expect(raised.problems).to.deep.equal([]);
    expect(raised.lines[0]).to.equal("Program roots: the semantics version is 2; it was 1");
  });

  it("changelogWithoutTheSection_isAProblem", () => {
    expect(compared(changed({ gas: {} }), undefined).problems[0]).to.include('no section "## [Unreleased]"');
  });

  it("section_endsAtTheNextVersion", () => {
    const text = "# Changelog\n\n## [Unreleased]\n\n- Gas: less.\n\n## [0.1.0] - 2026-01-01\n\n- First.\n";
    expect(changelogSection(text, "Unreleased")).to.include("Gas").and.to.not.include("First");
    expect(changelogSection(text, "0.1.0")).to.include("First");
    expect(changelogSection(text, "0.2.0")).to.equal(undefined);
  });

  it("filesOfARelease_areReadLineByLine", () => {
    expect(abiLines('export const a = parseAbi([\n  "error A()",\n  "function b()",\n]);\n')).to.deep.equal([
      "error A()",
      "function b()",
    ]);
    expect(
      storageLines("ABI\n  function b()\n\nStorage\n  slot 0: x\n\nTransient storage\n  slot 0: y\n"),
    ).to.deep.equal(["  slot 0: x", "Transient storage", "  slot 0: y"]);
    expect(figuresOf({ jobs: [{ job: "mlp", post: 5 }], proofs: { a: [{ gas: 6 }] } })).to.deep.equal({
      "jobs[0 mlp].post": 5,
      "proofs.a[0].gas": 6,
    });
  });

  it("thisRepository_isReadWhole", () => {
    const { semantics, roots, interfaces, gas, storage } = currentState();
    expect(semantics).to.be.above(0);
    expect(Object.keys(roots)).to.include("ppocr2_cls");
    expect(interfaces["jobMarket"]!.length).to.be.above(50);
    expect(Object.keys(gas).length).to.be.above(100);
    expect(storage["StakeVault"]!.length).to.be.above(3);
  });

  it("recordedRelease_isOneThatTheChangelogHas", () => {
    const { version } = JSON.parse(readFileSync("test/golden/release.json", "utf8")) as ReleaseRecord;
    expect(changelogSection(readFileSync("CHANGELOG.md", "utf8"), version)).to.not.equal(undefined);
  });
});
