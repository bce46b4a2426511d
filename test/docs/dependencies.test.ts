import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";

type Licence = string | { type: string };
type Package = Partial<Record<"dependencies" | "devDependencies" | "peerDependencies", Record<string, string>>>;

const PAGE = readFileSync("docs/dependencies.md", "utf8");
const ENTRY = /\*\*([@\w./-]+)\*\*\s+\(([^,]+),\s+[\d.]+\s+MB\)/g;

const json = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8")) as T;

describe("docs/dependencies.md", () => {
  const named = [...PAGE.matchAll(ENTRY)].map(([, name, licence]) => ({ name: name!, licence: licence! }));

  it("namesEveryPackageOfPackageJson_once_andNoOther", () => {
    const { dependencies, devDependencies, peerDependencies } = json<Package>("package.json");
    const wanted = new Set(Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }));
    expect(named.map(({ name }) => name).sort()).to.deep.equal([...wanted].sort());
  });

  it("hasTheLicenceOfWhatIsInstalled", () => {
    for (const { name, licence } of named) {
      if (!existsSync(`node_modules/${name}`)) continue;
      const { license } = json<{ license: Licence }>(`node_modules/${name}/package.json`);
      const own = typeof license === "string" ? license.replaceAll(/^\(|\)$/g, "") : license.type;
      expect(licence.replaceAll(/\s+/g, " "), name).to.equal(own);
    }
  });

  it("saysOfEveryGroupWhatWasConsideredInstead", () => {
    const groups = PAGE.split(/^- /m).slice(1);
    for (const group of groups.filter((text) => text.includes(" MB)")))
      if (!/only executed|for the demo|models of sound|to train with/.test(group))
        expect(group, group.slice(0, 40)).to.match(/Instead:/);
  });
});
