import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { AT_LENGTH, itAtLength } from "../../testkit/atLength.ts";

const OPERATOR = "ScaledAdd";
const COPIED = ["src", "testkit", "tools", "test/compiler", "test/golden/gradients", "docs"];
/** Files that hold the example, directly or not, and the types that TypeScript declares for browsers only. */
const FILES = [
  "src/compiler/table/registry.ts",
  "testkit/operators/allCases.ts",
  "src/numerics/kernels/webAssembly.d.ts",
];
const SETTINGS = ["package.json", "tsconfig.json", ".prettierrc.json"];

/** The blocks of code below "An operator", by the file that each is for. */
function blocksOfPage(): Map<string, string> {
  const [, section] = /^\*\*An operator\*\*$([^]*?)^An operator needs no change/m.exec(
    readFileSync("docs/architecture.md", "utf8"),
  )!;
  const blocks = [...section!.matchAll(/^ {3}```ts\n {3}\/\/ (\S+)\n([^]*?)^ {3}```$/gm)];
  return new Map(blocks.map(([, file, code]) => [file!, code!.replace(/^ {3}/gm, "")] as const));
}

/** A file with a block: a lowering at its end, a row or a list of cases at the beginning of the first list. */
function withBlock(text: string, code: string): string {
  if (code.includes("export const")) return `${text}\n${code}`;
  const list = /^export const \w+: .* = [[{]$/m.exec(text)!;
  const at = list.index + list[0].length + 1;
  return text.slice(0, at) + code + text.slice(at);
}

describe("the example of an operator", function () {
  this.timeout(240_000);
  const blocks = blocksOfPage();
  let copy: string;

  before(() => {
    if (!AT_LENGTH) return;
    copy = mkdtempSync(join(tmpdir(), "operator-example-"));
    for (const folder of COPIED) cpSync(folder, join(copy, folder), { recursive: true });
    for (const file of SETTINGS) cpSync(file, join(copy, file));
    symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
    for (const [file, code] of blocks) writeFileSync(join(copy, file), withBlock(readFileSync(file, "utf8"), code));
  });
  after(() => {
    if (AT_LENGTH) rmSync(copy, { recursive: true, force: true });
  });

  const run = (...args: readonly string[]): string => {
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
    expect(status, stdout + stderr).to.equal(0);
    return stdout;
  };

  it("isALowering_aRow_andAListOfCases", () => {
    const places = ["src/compiler/operators/", "src/compiler/table/", "testkit/operators/"];
    const found = [...blocks.keys()].map((file) => places.findIndex((place) => file.startsWith(place)));
    expect(found).to.deep.equal([0, 1, 2]);
  });

  itAtLength("passesTheTestsOfOperators", () => {
    run("tools/write/operators.ts");
    const tests = ["operators/operators", "gradients/gradients", "compile"].map(
      (name) => `test/compiler/${name}.test.ts`,
    );
    const grep = `${OPERATOR}|everyOperatorOfTheTable|each operator without|docs/operators.md`;
    const passed = run("node_modules/mocha/bin/mocha.js", ...tests, "--grep", grep);
    expect(passed.split("\n").filter((line) => line.includes(OPERATOR))).to.have.length(2);
  });

  itAtLength("compiles", () => {
    const { compilerOptions } = JSON.parse(readFileSync("tsconfig.json", "utf8")) as { compilerOptions: object };
    writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ compilerOptions, files: FILES }));
    run("node_modules/typescript/bin/tsc", "-p", ".", "--noEmit");
  });
});
