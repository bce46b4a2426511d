import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "chai";
import { topWords } from "../src/cli/words/words.ts";
import { Imports } from "../testkit/house/imports.ts";
import { TYPESCRIPT } from "../testkit/house/order.ts";
import { commentSentences, pronounShare } from "../testkit/house/prose.ts";

/** The size that the house may have. A number here rises only with an issue that says so. */
/** The last one is `circuits`, an extra: no room of the path of a job may know of proofs. */
const MAX_ROOMS = 17;
const MAX_ENTRIES_OF_THE_ORDER = 45;
const MAX_FILES_OF_A_FOLDER = 50;
const MAX_SCRIPTS = 14;
/** The last one is `zk`: a proof takes the place of a claim, and no other noun holds its commands. */
const MAX_WORDS = 22;
const MAX_PAGES = 36;
/** Only falls. Morpho Blue, Dave and Lodestar have 0.074 to 0.080. */
const MAX_PRONOUNS = 0.08;
/** No sentence of those projects reaches this share. Only falls. */
const RIDDLE = 0.42;
const MAX_RIDDLES = 0;

/** Files that are loaded by names: stand-ins for other modules, hooks of mocha, and the entries of the package. */
const isFace = (file: string): boolean =>
  /^(web\/platform|src\/package)\/|^tools\/verify\/mutate\/useWorld\.ts$|^testkit\/mochaHooks\.ts$|\.d\.m?ts$/.test(
    file,
  );

const FOLDERS = "{src,watcher,contracts,testkit,tools,web,test,ignition,examples}";

describe("the budget of the house", () => {
  const files = globSync(`${FOLDERS}/**/*.{ts,tsx,mts,mjs,sol}`).filter((file) => !file.includes("node_modules/"));

  it("rooms_areAtMostSeventeen", () => {
    const rooms = new Set(globSync("src/*/**/*.ts").map((file) => file.split("/")[1]));
    expect([...rooms]).to.have.length.of.at.most(MAX_ROOMS);
    expect(globSync("src/*.ts")).to.deep.equal([]);
  });

  it("entriesOfTheOrder_areFew", () => {
    expect(TYPESCRIPT).to.have.length.of.at.most(MAX_ENTRIES_OF_THE_ORDER);
  });

  it("filesOfAFolder_areFew", () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_FILES_OF_A_FOLDER)).to.deep.equal([]);
  });

  it("scripts_areFew", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    expect(Object.keys(scripts)).to.have.length.of.at.most(MAX_SCRIPTS);
  });

  it("wordsAtTheTopOfTheCommandLine_areFew", () => {
    expect(topWords()).to.have.length.of.at.most(MAX_WORDS);
  });

  it("pages_areFew", () => {
    expect(globSync("docs/*.md")).to.have.length.of.at.most(MAX_PAGES);
  });

  it("exports_haveAnotherFileThatUsesThem", () => {
    const imports = new Imports(
      [...globSync("*.ts"), ...files].filter((file) => !file.endsWith(".sol") && !file.includes("/package/projects/")),
    );
    const isSubject = (file: string): boolean => /^(src|watcher|testkit|tools|web)\//.test(file) && !isFace(file);
    expect(imports.unusedExports(isSubject)).to.deep.equal([]);
  });

  it("comments_nameThingsAgain", () => {
    const commented = files.filter((file) => /^(src|contracts|watcher|testkit|tools)\/.*\.(ts|sol)$/.test(file));
    const shares = commented.flatMap((file) =>
      commentSentences(readFileSync(file, "utf8")).flatMap((sentence) => {
        const share = pronounShare(sentence);
        return share === undefined ? [] : [{ share, sentence: `${file}: ${sentence}` }];
      }),
    );
    const mean = shares.reduce((sum, { share }) => sum + share, 0) / shares.length;
    const lines = globSync("src/**/*.ts").reduce((sum, file) => sum + readFileSync(file, "utf8").split("\n").length, 0);
    console.log(`      ${shares.length} sentences, ${mean.toFixed(3)} pronouns a word; ${lines} lines of src`);
    expect(mean).to.be.at.most(MAX_PRONOUNS);
    expect(shares.filter(({ share }) => share >= RIDDLE).map(({ sentence }) => sentence)).to.have.length.of.at.most(
      MAX_RIDDLES,
    );
  });
});
