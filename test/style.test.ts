import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const MAX_COLUMNS = 120;
const MAX_TYPESCRIPT_LINES = 400;
const MAX_SOLIDITY_LINES = 500;

const TEXT = /\.(ts|mjs|sol|c|md|sh)$|^\.ci\/run$/;
/** Where text that people write stands; the root of the repository is looked at without its folders. */
const FOLDERS = [
  ".ci",
  "contracts",
  "docs",
  "examples",
  "ignition/modules",
  "src",
  "test",
  "testkit",
  "tools",
  "watcher",
];
/** The bindings of contracts are generated. */
const GENERATED = "src/chain/abi/";

/** The text files in a folder, and in those under it if `recursive`. */
const textFiles = (folder: string, recursive: boolean): string[] =>
  readdirSync(folder, { recursive, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => TEXT.test(path) && !path.startsWith(GENERATED));

const linesOf = (path: string): string[] => readFileSync(path, "utf8").split("\n");

describe("style", () => {
  const files = [...textFiles(".", false), ...FOLDERS.flatMap((folder) => textFiles(folder, true))];

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
