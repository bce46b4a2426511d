import { expect } from "chai";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { contractArtifact, SOURCES } from "../../src/chain/market/artifacts.ts";
import { ALLOWED, licenceTexts } from "../../tools/package/licences.mjs";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";
import { builtCommandLine } from "../../testkit/processes/commandLine.ts";
import { contentProblems, pack, type Packed } from "../../testkit/processes/pack.ts";

type Manifest = {
  exports: Record<string, string | { types: string; default: string }>;
  dependencies?: object;
  optionalDependencies?: object;
};

describe("the package", function () {
  let folder: string;
  let packed: Packed;
  before(() => {
    builtCommandLine();
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    packed = pack(join(folder, "first"));
  });
  after(() => rmSync(folder, { recursive: true }));
  const paths = (): string[] => packed.files.map(({ path }) => path);
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;

  itAtLength("packedTwice_hasTheSameBytes", function () {
    expect(pack(join(folder, "second")).sha256).to.equal(packed.sha256);
  });

  itInTime("contents_areWhatUsersNeed_withoutTests_andBelowFiveMegabytes", function () {
    expect(contentProblems(packed.files)).to.deep.equal([]);
    expect(packed.unpackedSize).to.be.below(5e6);
    expect(paths()).to.include("contracts/consumer/ResultConsumer.sol");
    expect(paths()).to.include.members([
      "operations/systemd/refute-worker.service",
      "operations/prometheus/refute.rules.yml",
    ]);
  });

  itInTime("everyDeployedContract_isInTheOneFile_asHardhatCompiledIt", () => {
    const contracts = JSON.parse(brotliDecompressSync(readFileSync("dist/contracts.br")).toString()) as object;
    expect(paths()).to.include("dist/contracts.br");
    expect(contracts).to.include.all.keys(Object.keys(SOURCES));
    const { abi, bytecode } = contractArtifact("JobMarket");
    expect(contracts).to.have.property("JobMarket").that.deep.includes({ abi, bytecode });
  });

  itInTime("everyLinkOfItsPages_leadsToAFileInIt", () => {
    const links = paths()
      .filter((path) => path.endsWith(".md"))
      .flatMap((page) =>
        [...readFileSync(page, "utf8").matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, to]) => join(dirname(page), to!)),
      )
      .filter((to) => !/^(.*\/)?https?:/.test(to));
    expect(links).to.have.length.above(100);
    expect(links.filter((to) => !paths().includes(to))).to.deep.equal([]);
    expect(paths()).to.include.members(["docs/quickstart.md", "examples/model.onnx"]);
  });

  itInTime("everyContractsSource_comesWithWhatItImports", () => {
    const sources = paths().filter((path) => path.endsWith(".sol"));
    const missing = sources.flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/^import .*"(\.[^"]+)";$/gm)]
        .map(([, to]) => join(dirname(path), to!))
        .filter((to) => !sources.includes(to)),
    );
    expect(missing).to.deep.equal([]);
  });

  itInTime("everyEntry_isThere_withItsTypes_andCanBeImported", async function () {
    const entries = Object.entries(manifest.exports).flatMap(([name, target]) =>
      typeof target === "string" ? [] : [{ name: name.replace(".", "refute-ml"), ...target }],
    );
    expect(entries.map(({ name }) => name)).to.deep.equal(
      ["sdk", "abi", "browser", "node"].map((e) => `refute-ml/${e}`),
    );
    for (const entry of entries) {
      expect(paths()).to.include.members([entry.types, entry.default].map((path) => path.slice(2)));
      const exported = (await import(entry.name)) as object;
      expect(Object.keys(exported), entry.name).to.have.length.above(5);
    }
  });

  itInTime("nothingIsInstalledWithIt_butPeers", function () {
    expect(manifest).to.not.have.any.keys("dependencies", "optionalDependencies", "private");
  });

  itInTime("entryForBrowsers_importsViemAlone_andUsesNothingOfNode", function () {
    const text = readFileSync("dist/browser.js", "utf8");
    const imported = [...text.matchAll(/(?:from|import\() ?"([^"]+)"/g)].map(([, name]) => name);
    expect(new Set(imported)).to.deep.equal(new Set(["viem"]));
    expect(text).to.not.match(/\bBuffer\.|\bprocess\.|\brequire\(|\bWebAssembly\b/);
  });

  itInTime("builtFiles_importNothingThatIsNotInstalledWithThem", function () {
    const known = new Set(["viem", "viem/accounts", ...builtinModules.map((name) => `node:${name}`)]);
    const files = paths().filter((path) => path.startsWith("dist/") && path.endsWith(".js"));
    const imported = files.flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/^(?:import|export)[^;]*? from "([^".][^"]*)";$/gm)].map(
        ([, name]) => name!,
      ),
    );
    const foreign = new Set(imported.filter((name) => !known.has(name)));
    // Only what loads them needs these: it names them where they are missing.
    for (const name of foreign)
      if (/^(hardhat$|@nomicfoundation\/(hardhat-)?ignition)/.test(name)) foreign.delete(name);
    expect([...foreign]).to.deep.equal([]);
  });

  itInTime("licenceThatIsNotAllowed_isRefused", function () {
    expect(ALLOWED).to.not.include("GPL-3.0");
    expect(() =>
      licenceTexts(["node_modules/solc/index.js", "node_modules/@imgly/background-removal-data/x"]),
    ).to.throw(/@imgly\/background-removal-data .* is under .*: allowed are 0BSD/);
    expect(licenceTexts(["node_modules/zod/index.js", "src/base/errors.ts"])).to.match(/^zod [\d.]+ \(MIT\)$/m);
  });
});
