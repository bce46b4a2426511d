import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { parseEther, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { WrappedEther } from "../../../src/chain/clients/wrappedEther.ts";
import { openSession } from "../../../src/chain/market/session.ts";
import { mlpBytes } from "../../../testkit/models/mlp.ts";
import { Anvil } from "../../../src/deploy/devnet/anvil.ts";
import { deployLocally } from "../../../src/deploy/devnet/deployLocally.ts";
import { runCommand } from "../../../testkit/processes/runCommand.ts";

const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  devDependencies: Record<string, string>;
};
const RUNS = 7;

/** Makes an empty project, installs packages of the registry, and adds the project's files. */
function project(name: string, folder: string, packages: readonly string[]): string {
  const at = join(folder, name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "package.json"), `${JSON.stringify({ name, private: true, type: "module" })}\n`);
  runCommand("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], at);
  const files = join(import.meta.dirname, "projects", name);
  if (existsSync(files)) cpSync(files, at, { recursive: true });
  return at;
}

/** A package of the registry, in the version that Refute is tested with. */
const tested = (name: string): string => `${name}@${devDependencies[name]}`;

/** Installs the package with viem alone. @returns the project's folder */
export function installNode(tarball: string, folder: string): string {
  const at = project("node", folder, [tarball, tested("viem")]);
  console.log(`  installed beside viem and what it needs: ${foreignPackages(at).join(", ")}`);
  const [usage] = runCommand(process.execPath, ["node_modules/refute-ml/dist/src/cli/main.js", "--help"], at).split(
    "\n",
  );
  console.log(`  ${usage}`);
  return at;
}

/** Bytes of the packages of a project that viem does not bring along. */
export const installedBytes = (at: string): number =>
  foreignPackages(at).reduce((sum, name) => sum + folderBytes(join(at, "node_modules", name)), 0);

/** The package's scripts that run where it is installed. */
export function installedScripts(at: string): string[] {
  const manifest = join(at, "node_modules/refute-ml/package.json");
  const { scripts = {} } = JSON.parse(readFileSync(manifest, "utf8")) as { scripts?: Record<string, string> };
  return Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name));
}

/** What the import of a package takes: milliseconds (the median of several runs), and the modules of refute loaded. */
export function importCost(at: string, name: string): { milliseconds: number; modules: number } {
  const runOnce = (): string => runCommand(process.execPath, ["importTime.mjs", name], at);
  const runs = Array.from({ length: RUNS }, () => JSON.parse(runOnce()) as { milliseconds: number; modules: number });
  return runs.sort((a, b) => a.milliseconds - b.milliseconds)[(RUNS - 1) / 2]!;
}

/** The packages of a project that viem does not bring along. */
function foreignPackages(at: string): string[] {
  const modules = join(at, "node_modules");
  const known = new Set<string>();
  const add = (name: string): void => {
    if (known.has(name) || !existsSync(join(modules, name))) return;
    known.add(name);
    const { dependencies = {} } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as {
      dependencies?: Record<string, string>;
    };
    for (const needed of Object.keys(dependencies)) add(needed);
  };
  add("viem");
  const names = readdirSync(modules).filter((name) => !name.startsWith("."));
  const all = names.flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  return all.filter((name) => !known.has(name));
}

const folderBytes = (folder: string): number =>
  (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);

/** Posts jobs on a chain of its own, in the project of `installNode`. @returns what the project prints */
export async function useOnAChain(folder: string): Promise<string> {
  const at = join(folder, "node");
  runCommand("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", tested("ethers")], at);
  const anvil = await Anvil.start();
  try {
    const { chainId, market } = await deployLocally(anvil.url, {});
    const key = await fundedKey(anvil, chainId, market);
    writeFileSync(join(at, "market.json"), JSON.stringify({ rpcUrl: anvil.url, chainId, market, key }));
    writeFileSync(join(at, "model.onnx"), mlpBytes());
    return runCommand(process.execPath, ["use.mjs"], at);
  } finally {
    await anvil.close();
  }
}

async function fundedKey(anvil: Anvil, chainId: number, market: Hex): Promise<Hex> {
  const key = generatePrivateKey();
  const account = privateKeyToAccount(key);
  await anvil.request("anvil_setBalance", [account.address, `0x${parseEther("10").toString(16)}`]);
  const session = await openSession({ endpoint: { rpcUrls: [anvil.url] }, chainId, market, account });
  await new WrappedEther(session.deployment.asset, session).deposit(parseEther("1"));
  return key;
}

/** Compiles a strict project, with the declarations of all libraries checked, as Node and as bundlers resolve. */
export function checkTypes(tarball: string, folder: string): void {
  const at = project("typescript", folder, [tarball, tested("viem"), tested("typescript"), tested("@types/node")]);
  for (const [module, resolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    runCommand(
      process.execPath,
      ["node_modules/typescript/bin/tsc", "-p", ".", "-m", module!, "--moduleResolution", resolution!],
      at,
    );
  }
}

/** The compiler inside the npm package `solc`: nothing is downloaded. */
const OWN_COMPILER = 'version: "0.8.37", path: fileURLToPath(import.meta.resolve("solc/soljson.js"))';

/** Compiles the contract of docs/sdk.md with default settings, and runs its test. @returns what Hardhat printed */
export function testedConsumer(tarball: string, folder: string): string {
  const plugins = ["@nomicfoundation/hardhat-viem", "@nomicfoundation/hardhat-mocha", "mocha"];
  const names = ["viem", "hardhat", "@openzeppelin/contracts", "solc", ...plugins];
  const at = project("hardhat", folder, [tarball, ...names.map(tested)]);
  const page = readFileSync("docs/sdk.md", "utf8");
  const [, contract] = /^```solidity\n([^]*?)^```$/m.exec(page)!;
  mkdirSync(join(at, "contracts"));
  writeFileSync(join(at, "contracts/Oracle.sol"), contract!);
  for (const [, file, text] of page.matchAll(/^```typescript\n\/\/ (\S+)\n([^]*?)^```$/gm)) {
    mkdirSync(dirname(join(at, file!)), { recursive: true });
    const own = text!.replace('version: "0.8.30"', OWN_COMPILER);
    writeFileSync(join(at, file!), own === text ? own : `import { fileURLToPath } from "node:url";\n${own}`);
  }
  return runCommand(process.execPath, ["node_modules/hardhat/dist/src/cli.js", "test"], at);
}

/** Bundles a page. @returns the files of the package in it that are not for browsers, and its bytes compressed */
export async function bundledPage(tarball: string, folder: string): Promise<{ foreign: string[]; bytes: number }> {
  const at = project("browser", folder, [tarball, tested("viem")]);
  const { outputFiles, metafile } = await build({
    entryPoints: [resolve(at, "main.js")],
    absWorkingDir: at,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: "browser",
    format: "esm",
    logLevel: "warning",
  });
  const foreign = Object.keys(metafile.inputs).filter((path) => /refute-ml\/(?!dist\/browser\.js)/.test(path));
  return { foreign, bytes: gzipSync(outputFiles[0]!.contents, { level: 9 }).length };
}
