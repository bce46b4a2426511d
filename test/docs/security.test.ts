import { existsSync, globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import type { Adversary } from "../../testkit/adversaries/adversary.ts";

/** What docs/security.md has in code letters. */
const mentioned = [...readFileSync("docs/security.md", "utf8").matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
/** Its words, without line breaks and in lower case. */
const words = (text: string): string => text.replace(/\s+/g, " ").toLowerCase();
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

  it("everyTestOfAdversaries_isNamed", function () {
    const files = globSync("test/adversaries/*.test.ts");
    expect(files.length).to.be.greaterThan(5);
    expect(files.filter((path) => !mentioned.includes(path))).to.deep.equal([]);
  });

  it("everyAdversaryOfASuite_isNamed_asItIsBeforeItsFirstComma", async function () {
    const files = globSync("testkit/adversaries/*.ts");
    const modules = await Promise.all(files.map((path) => import(`../../${path}`) as Promise<object>));
    const lists = modules.flatMap((module) => Object.values(module).filter((value) => Array.isArray(value)));
    const names = (lists as Adversary[][]).flat().map(({ name }) => name.split(",")[0]!);
    expect(names.length).to.be.greaterThan(30);
    const page = words(readFileSync("docs/security.md", "utf8"));
    expect(names.filter((name) => !page.includes(words(name)))).to.deep.equal([]);
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
