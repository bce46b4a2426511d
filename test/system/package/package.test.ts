/**
 * The package, packed twice, and installed into empty projects of users, which use it. The packages that such projects
 * install come from the registry. A test may need the projects of earlier ones.
 */
import { expect } from "chai";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAddress, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { anvilBinary } from "../../../src/deploy/devnet/anvil.ts";
import { builtCommandLine } from "../../../testkit/processes/commandLine.ts";
import { contentProblems, pack, sizesByFolder, type Packed } from "../../../testkit/processes/pack.ts";
import { browserBinary } from "../shared/browsers.ts";
import { leaveOut } from "../shared/leaveOut.ts";
import { Example } from "./example.ts";
import { answerOfAskingPage, textOfExamplePage } from "./pages.ts";
import {
  bundledPage,
  checkTypes,
  importCost,
  installedBytes,
  installedScripts,
  installNode,
  testedConsumer,
  useOnAChain,
} from "./projects.ts";
import { Shell } from "./shell.ts";
import { shellLines } from "./shellLines.ts";

const kilobytes = (bytes: number): string => `${(bytes / 1e3).toFixed(1)} kB`;

/** Compares a figure with its bar, and prints both. */
function expectBelow(what: string, value: number, bar: number, unit: string): void {
  console.log(`  ${what}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit}, the bar is ${bar} ${unit}`);
  expect(value, what).to.be.below(bar);
}

/** Types all lines of a page. @returns What each printed */
async function typePage(shell: Shell, page: string): Promise<string[]> {
  const outputs: string[] = [];
  for (const line of shellLines(page)) outputs.push(await shell.type(line));
  return outputs;
}

describe("the package in projects of users", function () {
  this.timeout(1_800_000);
  let folder: string;
  let packed: Packed;
  before(() => {
    // What is bundled under a licence that is not allowed ends the build.
    builtCommandLine();
    folder = mkdtempSync(join(tmpdir(), "refute-package-"));
    packed = pack(join(folder, "first"));
    console.log(`  ${packed.sha256}  ${packed.files.length} files, ${kilobytes(packed.size)}`);
    for (const [name, bytes] of sizesByFolder(packed.files)) console.log(`  ${kilobytes(bytes).padStart(9)}  ${name}`);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("contents_areWhatUsersNeed", () => {
    expect(contentProblems(packed.files)).to.deep.equal([]);
  });

  it("packedTwice_hasTheSameBytes", () => {
    expect(pack(join(folder, "second")).sha256).to.equal(packed.sha256);
  });

  it("installedBesideViem_runsNoScript_andIsSmall", () => {
    const at = installNode(packed.file, folder);
    expect(installedScripts(at)).to.deep.equal([]);
    expectBelow("install beside viem", installedBytes(at) / 1e6, 5, "MB");
  });

  it("importOfTheSdk_loadsNoCompiler", () => {
    const at = join(folder, "node");
    const [sdk, viem] = [importCost(at, "refute-ml/sdk"), importCost(at, "viem")];
    console.log(
      `  import of refute-ml/sdk: ${sdk.milliseconds.toFixed(0)} ms, of viem alone: ${viem.milliseconds.toFixed(0)} ms`,
    );
    expectBelow("modules of refute-ml loaded", sdk.modules, 150, "modules");
  });

  it("jobsOnAChain_arePostedByAKeyOfViem_andByASignerOfEthers", async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") leaveOut(this, binary.missing);
    expect(await useOnAChain(folder)).to.match(/^2 jobs posted/);
  });

  it("types_areStrict_asNodeAndAsBundlersResolveThem", () => checkTypes(packed.file, folder));

  it("consumerOnTheContracts_compilesWithHardhat_andItsTestPasses", () => {
    expect(testedConsumer(packed.file, folder)).to.match(/\b1 passing/);
  });

  it("page_holdsNothingOfNode_andIsSmall", async () => {
    const { foreign, bytes } = await bundledPage(packed.file, folder);
    expect(foreign).to.deep.equal([]);
    expectBelow("page with refute-ml/browser and viem, gzip", bytes / 1e3, 150, "kB");
  });

  describe("pages, typed as they stand", () => {
    let shell: Shell;
    before(() => {
      const at = join(folder, "reader");
      mkdirSync(at);
      shell = new Shell(at, packed.file);
    });
    afterEach(() => shell.stop());

    it("quickstart_fromTheInstallToAnAnswer", async () => {
      const outputs = await typePage(shell, "docs/quickstart.md");
      expect(outputs.at(-1)).to.match(/^y /m);
    });

    it("operating_aWorkerOfOnesOwnTakesTheJob_byTheCommandsThatTheDevnetPrints", async () => {
      const lines = shellLines("docs/operating.md");
      await shell.type(lines.shift()!);
      const user = { ...shell.env };
      const commands = [...shell.devnet.matchAll(/^ {2}(refute (?:device|account|worker|watcher) .+)$/gm)].map(
        ([, line]) => line,
      );
      expect(lines.filter((line) => line.startsWith("refute "))).to.deep.equal(commands);
      shell.paste(shell.devnet);
      for (const line of lines) await shell.type(line);
      const [{ REFUTE_PRIVATE_KEY: own }] = [shell.env];
      shell.env = user;
      const submit = "npx refute-ml submit model.onnx --input x=x.json --fee 0.05 --wait --json";
      const { worker } = JSON.parse(await shell.type(submit)) as { worker: Hex };
      expect(getAddress(worker)).to.equal(privateKeyToAddress(own as Hex));
    });

    it("sdkAndFleet_theirInstallsAndFiles", async () => {
      for (const page of ["docs/sdk.md", "docs/fleet.md"])
        expect(await typePage(shell, page), page).to.have.length.above(0);
    });
  });

  describe("examples/iris", () => {
    let example: Example;
    before(async () => {
      example = await Example.start(packed.file, folder);
    });
    after(() => example?.stop());

    it("audit_isClean", () => expect(example.audit()).to.equal(true));

    it("question_isAnswered_andTheContractHoldsTheScores", () => {
      const answer = example.answer();
      expect(answer).to.match(/^virginica +9\d\.\d %$/m);
      expect(answer).to.match(/holds 0x[0-9a-f]{24}$/m);
      expect(example.missingFiles()).to.deep.equal([]);
    });

    it("page_showsTheAnswer", async function () {
      const binary = browserBinary();
      if (binary === undefined) leaveOut(this, "chromium is not installed");
      expect(await textOfExamplePage(binary, example.at)).to.match(/virginica, 9\d\.\d %/);
    });

    it("pageWithAWallet_postsAJob_andDecodesTheAnswer", async function () {
      const binary = browserBinary();
      if (binary === undefined) leaveOut(this, "chromium is not installed");
      const answer = await answerOfAskingPage(binary, example.at, join(folder, "browser"));
      expect(answer).to.match(/^\[\{"index":0,"score":0\.9\d+,"label":"setosa"\}/);
    });
  });
});
