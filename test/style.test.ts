import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";

const MAX_COLUMNS = 120;
const MAX_TYPESCRIPT_LINES = 400;
const MAX_SOLIDITY_LINES = 500;

const TEXT = /\.(ts|mjs|sol|c|md|sh)$|^\.ci\/run$/;
/** What is not in the repository (see .gitignore), or is generated: the bindings of contracts. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ".git",
  ".refute",
  "artifacts",
  "cache",
  "coverage",
  "ignition/deployments",
  "node_modules",
  "out",
  "src/chain/abi",
  "types",
]);

/** The text files in a folder and in those under it; "" is the root of the repository. */
function textFiles(folder: string): string[] {
  return readdirSync(folder === "" ? "." : folder, { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (LEFT_OUT.has(path)) return [];
    if (entry.isDirectory()) return textFiles(path);
    return entry.isFile() && TEXT.test(path) ? [path] : [];
  });
}

const linesOf = (path: string): string[] => readFileSync(path, "utf8").split("\n");

describe("style", () => {
  const files = textFiles("");

  it("lines_haveAtMost120Columns", () => {
    const long = files.flatMap((path) =>
      linesOf(path).flatMap((line, k) => (line.length > MAX_COLUMNS ? [`${path}:${k + 1}`] : [])),
    );
    expect(long).to.deep.equal([]);
  });

  it("files_areShort", () => {
    const long = files.flatMap((path) => {
      if (!/^(src|watcher|contracts)\//.test(path)) return [];
      const lines = readFileSync(path, "utf8").trimEnd().split("\n").length;
      return lines > (path.endsWith(".sol") ? MAX_SOLIDITY_LINES : MAX_TYPESCRIPT_LINES) ? [`${path}: ${lines}`] : [];
    });
    expect(long).to.deep.equal([]);
  });
});
