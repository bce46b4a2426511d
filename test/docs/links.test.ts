import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";

const PAGES = ["README.md", "SECURITY.md", "test/golden/mutants.md", ...globSync("docs/*.md").sort()];
const FOLDERS = "contracts|docs|examples|ignition|src|test|testkit|tools|watcher";
const MAX_COLUMNS = 120;

const read = (page: string): string => readFileSync(page, "utf8");

/** What is wrong on any page, with the page's name. */
const onAllPages = (wrong: (text: string, page: string) => readonly string[]): string[] =>
  PAGES.flatMap((page) => wrong(read(page), page).map((what) => `${page}: ${what}`));

/** A heading's anchor, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));

/** Whether a link of a page leads to a file, and to a heading in it if it names one. */
function resolves(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  return existsSync(target) && (anchor === undefined || anchorsOf(target).includes(anchor));
}

describe("pages of the documentation", () => {
  it("everyRelativeLink_leadsToAFile", () => {
    const links = (text: string): string[] =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter((link) => !/^https?:/.test(link));
    expect(PAGES.flatMap((page) => links(read(page))).length).to.be.greaterThan(20);
    expect(onAllPages((text, page) => links(text).filter((link) => !resolves(page, link)))).to.deep.equal([]);
  });

  it("everyPathThatTheyName_isThere", () => {
    const paths = (text: string): string[] => {
      const found = text.matchAll(new RegExp(`(?<![\\w/.-])(?:${FOLDERS})/[\\w./*-]*[\\w*]`, "g"));
      return [...found].map(([path]) => path);
    };
    expect(PAGES.flatMap((page) => paths(read(page))).length).to.be.greaterThan(100);
    expect(onAllPages((text) => paths(text).filter((path) => globSync(path).length === 0))).to.deep.equal([]);
  });

  it("everySourceFileThatTheyNameWithoutItsFolder_isThere", () => {
    const sources = globSync(`{${FOLDERS.replaceAll("|", ",")}}/**/*.{ts,sol}`);
    const names = new Set([...sources, ...globSync("*.{ts,mjs}")].map((path) => basename(path)));
    const missing = (text: string): string[] =>
      [...text.matchAll(/`([\w.]+\.(?:ts|sol))`/g)].map(([, name]) => name!).filter((name) => !names.has(name));
    expect(onAllPages(missing)).to.deep.equal([]);
  });

  it("movingPicture_hasTheMovesOfTheListing_isSmall_andRunsNothing", () => {
    const picture = read("docs/pictures/descent.svg");
    const moves = [...read("README.md").matchAll(/^ {9}(\w+) +([\d,]+) gas {2}/gm)];
    expect(moves).to.have.length(9);
    const sum = moves.reduce((all, [, , gas]) => all + Number(gas!.replaceAll(",", "")), 0);
    for (const gas of [...moves.map(([, , gas]) => gas!), sum.toLocaleString("en-US")])
      expect(picture).to.contain(`>${gas} gas<`);
    expect(picture.length).to.be.below(40_000);
    expect(picture).to.not.match(/<script|\bon\w+=|href=|url\(/);
  });

  it("noLine_isWiderThan120Columns", () => {
    const wide = (text: string): string[] => text.split("\n").filter((line) => [...line].length > MAX_COLUMNS);
    expect(onAllPages(wide)).to.deep.equal([]);
  });

  it("everyCommandThatTheyName_isAScript", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const unknown = (text: string): string[] =>
      [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!).filter((name) => !(name in scripts));
    expect(onAllPages(unknown)).to.deep.equal([]);
  });
});
