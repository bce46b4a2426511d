import { existsSync, globSync, readFileSync } from "node:fs";
import { expect } from "chai";

/** What docs/security.md has in code letters. */
const mentioned = [...readFileSync("docs/security.md", "utf8").matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
const tests = globSync("test/**/*.{ts,sol}").map((path) => readFileSync(path, "utf8"));

describe("docs/security.md", function () {
  it("everyFileThatItNames_isThere", function () {
    const files = mentioned.filter((text) => /^(test|testkit|contracts|src|watcher|tools)\/[\w./-]+$/.test(text));
    expect(files.length).to.be.greaterThan(20);
    expect(files.filter((path) => !existsSync(path))).to.deep.equal([]);
  });

  it("everyTestThatItNames_isThere", function () {
    const names = mentioned.filter((text) => /^(?!eth_)[a-z]\w*_\w+$/.test(text));
    expect(names.length).to.be.greaterThan(15);
    expect(names.filter((name) => !tests.some((text) => text.includes(name)))).to.deep.equal([]);
  });

  it("everyAttack_hasAnOutcomeAndSaysWhatShowsIt", function () {
    const page = readFileSync("docs/security.md", "utf8");
    const section = page.split(/^## /m).find((part) => part.startsWith("Attacks\n"))!;
    const attacks = section.split(/^- \*\*/m).slice(1);
    expect(attacks.length).to.be.greaterThan(40);
    const whole = /^[^]+?\*\*\n {2}- Outcome: \S[^]*?\n {2}- Shown by: [^]*?`[^`]+`/;
    expect(attacks.filter((attack) => !whole.test(attack))).to.deep.equal([]);
  });

  it("securityPage_saysHowToReport", function () {
    expect(readFileSync("SECURITY.md", "utf8")).to.contain("Report a vulnerability");
  });
});
