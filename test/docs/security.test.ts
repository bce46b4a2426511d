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

  it("securityPage_saysHowToReport", function () {
    expect(readFileSync("SECURITY.md", "utf8")).to.contain("Report a vulnerability");
  });
});
