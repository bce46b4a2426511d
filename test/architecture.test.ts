import { readFileSync, globSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect } from "chai";
import { Imports } from "../testkit/house/imports.ts";
import { keepsOrder, placeOf, SOLIDITY, TYPESCRIPT } from "../testkit/house/order.ts";

/** Projects of users, who see the package only. */
const PROJECTS = /\/package\/projects\//;

const sources = (pattern: string): string[] => globSync(pattern).filter((file) => !PROJECTS.test(file));

/** Imports that go up an order, and files that have no place in the order. */
function wrongImports(
  order: readonly string[],
  files: readonly string[],
  importsOf: (file: string) => readonly string[],
): string[] {
  return files.flatMap((file) => {
    if (placeOf(order, file) === -1) return [`${file} has no place in the order`];
    const up = importsOf(file).filter((target) => placeOf(order, target) !== -1 && !keepsOrder(order, file, target));
    return up.map((target) => `${file} imports ${target}`);
  });
}

const solidityImports = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(/(?:from|import) "(\.[^"]+)"/g)].map(([, path]) =>
    normalize(join(dirname(file), path!)),
  );

describe("architecture", () => {
  const typescript = sources("{src,watcher,testkit,tools,web}/**/*.{ts,tsx}");
  const imports = new Imports([...typescript, ...sources("{test,ignition,examples}/**/*.ts")]);
  const contracts = sources("contracts/**/*.sol");

  it("importsOfTypeScript_goOneWay", () => {
    expect(wrongImports(TYPESCRIPT, typescript, (file) => imports.of(file))).to.deep.equal([]);
  });

  it("importsOfSolidity_goOneWay", () => {
    expect(wrongImports(SOLIDITY, contracts, solidityImports)).to.deep.equal([]);
  });

  it("noTwoFiles_importEachOther", () => {
    expect(imports.circles()).to.deep.equal([]);
  });

  it("everyEntry_holdsAFile", () => {
    const empty = [
      ...TYPESCRIPT.filter((_, k) => !typescript.some((file) => placeOf(TYPESCRIPT, file) === k)),
      ...SOLIDITY.filter((_, k) => !contracts.some((file) => placeOf(SOLIDITY, file) === k)),
    ];
    expect(empty).to.deep.equal([]);
  });

  it("theCommandLine_isImportedByNothingElse", () => {
    const others = typescript.filter((file) => !file.startsWith("src/cli/"));
    const importing = others.filter((file) => imports.of(file).some((target) => target.startsWith("src/cli/")));
    expect(importing).to.deep.equal([]);
  });
});
