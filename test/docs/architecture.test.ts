import { globSync, readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { Imports } from "../../testkit/house/imports.ts";

const page = readFileSync("docs/architecture.md", "utf8");
/** The folders that the page's lists describe: the path in code letters that begins an item, before a colon. */
const described = [...page.matchAll(/^- `((?:src|contracts|watcher)[\w/]*)`:\s/gm)].map(([, path]) => path!);

const foldersOf = (parent: string): string[] =>
  readdirSync(parent, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [`${parent}/${entry.name}`] : [],
  );

const isRoom = (path: string): boolean => path === "watcher" || /^src\/\w+$/.test(path);
/** The rooms, in the order of the page. */
const rooms = described.filter(isRoom);
/** The watcher is a party, although its folder stands beside `src`. */
const rank = (path: string): number => {
  const room = path.split("/")[0] === "src" ? path.split("/").slice(0, 2).join("/") : path.split("/")[0]!;
  return rooms.indexOf(room === "watcher" ? "src/parties" : room);
};

describe("docs/architecture.md", () => {
  it("everyRoom_isDescribedOnce", () => {
    expect([...rooms].sort()).to.deep.equal([...foldersOf("src"), "watcher"].sort());
  });

  it("everyFolderOfCompilerExecutorAndParties_isDescribedOnce", () => {
    for (const room of ["src/compiler", "src/executor", "src/parties"]) {
      const inner = described.filter((path) => path.startsWith(`${room}/`));
      expect(inner.sort(), room).to.deep.equal(foldersOf(room).sort());
    }
  });

  it("everyFolderOfContracts_isDescribedOnce", () => {
    const listed = described.filter((path) => path.startsWith("contracts/"));
    expect(listed.sort()).to.deep.equal(foldersOf("contracts").sort());
  });

  it("noRoom_importsFromARoomBelowItInTheList", () => {
    const files = globSync(["src/**/*.ts", "watcher/*.ts"]);
    const imports = new Imports(files);
    const wrong = files.flatMap((file) =>
      imports
        .of(file)
        .filter((target) => rank(target) > rank(file))
        .map((target) => `${file} imports ${target}`),
    );
    expect(files.filter((file) => rank(file) === -1)).to.deep.equal([]);
    expect(wrong).to.deep.equal([]);
  });
});
