import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { processesOf } from "../../tools/verify/leftovers.ts";
import { suiteTable, WHOLLY_AT_LENGTH } from "../../tools/verify/suites.ts";
import { testFiles } from "../../tools/verify/totals.ts";

/** A program that runs `leavingNothing`. Its tests are a statement, which leaves something behind. */
const program = (leave: string): string => `
  import { spawn } from "node:child_process";
  import { mkdirSync, mkdtempSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  import { leavingNothing } from "${resolve("tools/verify/leftovers.ts")}";
  const totals = await leavingNothing(async () => {
    ${leave};
    return { passed: 2, failed: 0, skipped: 1 };
  }, 300);
  console.log(tmpdir(), JSON.stringify(totals));
`;

describe("what tests leave behind", function () {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(folder, { recursive: true }));

  const run = (leave: string) => {
    const args = ["--input-type=module", "-e", program(leave)];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    const [, temporary, totals] = /^(\S+) (\{.*\})$/m.exec(stdout)!;
    return { temporary: temporary!, totals: JSON.parse(totals!) as object, stderr };
  };

  it("nothing_isNoFailure", () => {
    const { totals, stderr } = run("");
    expect(totals).to.deep.equal({ passed: 2, failed: 0, skipped: 1 });
    expect(stderr).to.equal("");
  });

  it("folder_isNamed_removed_andAFailure", () => {
    const { totals, stderr, temporary } = run('mkdtempSync(join(tmpdir(), "refute-kept-"))');
    expect(totals).to.deep.equal({ passed: 2, failed: 1, skipped: 1 });
    expect(stderr).to.match(/leave behind:\n {2}file or folder: refute-kept-\w+\n$/);
    expect(() => process.chdir(temporary)).to.throw("ENOENT");
  });

  it("process_isNamed_killed_andAFailure", function () {
    if (process.platform !== "linux") this.skip();
    const { totals, stderr, temporary } = run('spawn("sleep", ["1234"], { detached: true, stdio: "ignore" }).unref()');
    expect(totals).to.deep.equal({ passed: 2, failed: 1, skipped: 1 });
    expect(stderr).to.match(/leave behind:\n {2}process \d+: sleep 1234\n$/);
    expect(processesOf(temporary)).to.deep.equal([]);
  });

  it("processesOf_findsThoseWithTheFolderInTheirEnvironment_andNoOther", function () {
    if (process.platform !== "linux") this.skip();
    const child = spawn("sleep", ["1000"], { env: { PATH: process.env.PATH, TMPDIR: folder } });
    killAtExit(child);
    expect(processesOf(folder)).to.deep.equal([{ pid: child.pid, command: "sleep 1000" }]);
    child.kill();
  });

  it("table_hasTheLongestFirst_andWarnsOfSuitesAboveTheirBudget", () => {
    const seconds = new Map([
      ["base", 6],
      ["contracts", 9_000],
      ["(dist)", 30],
    ]);
    const lines = suiteTable(seconds).split("\n");
    expect(lines.map((line) => line.split(/\s+/)[0])).to.deep.equal(["suite", "contracts", "(dist)", "base", "all"]);
    expect(lines.filter((line) => line.includes("warning"))).to.deep.equal([lines[1]]);
  });

  it("filesLeftToTheRunAtLength_arePlayedWholly", () => {
    const inPart = WHOLLY_AT_LENGTH.filter((file) => readFileSync(file, "utf8").includes("/testkit/atLength.ts"));
    expect(inPart, "one of both runs would leave out a part of these files").to.deep.equal([]);
  });

  it("filesOfBothRuns_haveTestsForTheRunAtLength", () => {
    // A file without such tests is loaded in vain: what it makes while it is declared, no hook removes.
    const parts = /\b(itAtLength|AT_LENGTH|inTime|everyFourth)\b/;
    const inVain = testFiles().filter((file) => {
      const [, names] = /import \{([^}]*)\} from "[./]*\/testkit\/atLength\.ts"/.exec(readFileSync(file, "utf8")) ?? [];
      return names !== undefined && !parts.test(names);
    });
    expect(inVain, "these files need no testkit/atLength.ts").to.deep.equal([]);
  });
});
