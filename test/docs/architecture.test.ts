import { readFileSync } from "node:fs";
import { expect } from "chai";

const order = readFileSync("test/architecture.test.ts", "utf8");
const page = readFileSync("docs/architecture.md", "utf8");

/** The entries of one of the orders in test/architecture.test.ts. */
function entriesOf(name: string): string[] {
  const [, list] = new RegExp(`const ${name} = \\[([^\\]]*)\\]`).exec(order)!;
  return [...list!.matchAll(/"([^"]+)"/g)].map(([, entry]) => entry!);
}

/** What the page lists below a heading: the paths in code letters before the colon of each item. */
function listedUnder(heading: string): string[] {
  const section = page.split(/^### /m).find((part) => part.startsWith(`${heading}\n`))!;
  const items = [...section.matchAll(/^- ([^]+?):\s/gm)];
  return items.flatMap(([, paths]) => [...paths!.matchAll(/`([^`]+)`/g)].map(([, path]) => path!));
}

describe("docs/architecture.md", () => {
  it("foldersOfTypeScript_areInTheirOrder", () => {
    expect(listedUnder("TypeScript")).to.deep.equal(entriesOf("TYPESCRIPT"));
  });

  it("foldersOfSolidity_areInTheirOrder", () => {
    expect(listedUnder("Solidity")).to.deep.equal(entriesOf("SOLIDITY"));
  });
});
