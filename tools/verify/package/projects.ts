import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { parseEther, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { WrappedEther } from "../../../src/chain/clients/wrappedEther.ts";
import { openSession } from "../../../src/chain/market/session.ts";
import { mlpBytes } from "../../../testkit/models/mlp.ts";
import { Anvil, anvilBinary } from "../../../src/deploy/devnet/anvil.ts";
import { deployLocally } from "../../../src/deploy/devnet/deployLocally.ts";
import { run } from "./pack.ts";

/** A figure and the bar that it is compared with. */
export type Measured = { what: string; value: number; bar: number; unit: string };

const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  devDependencies: Record<string, string>;
};
const RUNS = 7;

/** Makes an empty project, installs packages of the registry, and adds the project's files. */
function project(name: string, folder: string, packages: readonly string[]): string {
  const at = join(folder, name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "package.json"), `${JSON.stringify({ name, private: true, type: "module" })}\n`);
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], at);
  cpSync(join(import.meta.dirname, "projects", name), at, { recursive: true });
  return at;
}

/** A package of the registry, in the version that Refute is tested with. */
const tested = (name: string): string => `${name}@${devDependencies[name]}`;

/** Installs the package with viem alone: how much that is, and how long its import takes. */
export function checkInstall(tarball: string, folder: string): Measured[] {
  const at = project("node", folder, [tarball, tested("viem")]);
  const others = foreignPackages(at);
  console.log(`installed beside viem and what it needs: ${others.join(", ")}`);
  const bytes = others.reduce((sum, name) => sum + folderBytes(join(at, "node_modules", name)), 0);
  const script = join(at, "node_modules/refute/package.json");
  const { scripts = {} } = JSON.parse(readFileSync(script, "utf8")) as { scripts?: Record<string, string> };
  const atInstall = Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name));
  if (atInstall.length > 0) throw new Error(`scripts run at install: ${atInstall.join(", ")}`);
  const version = run(process.execPath, ["node_modules/refute/dist/src/cli/main.js", "--help"], at).split("\n")[0]!;
  console.log(version);
  return [
    { what: "install beside viem", value: bytes / 1e6, bar: 5, unit: "MB" },
    { what: "import of refute/sdk, median", value: importMs(at, "refute/sdk"), bar: 300, unit: "ms" },
    { what: "of that, viem alone", value: importMs(at, "viem"), bar: 300, unit: "ms" },
  ];
}

function importMs(at: string, name: string): number {
  const times = Array.from({ length: RUNS }, () => Number(run(process.execPath, ["importTime.mjs", name], at)));
  return times.sort((a, b) => a - b)[(RUNS - 1) / 2]!;
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

/** Posts jobs on a chain of its own, in the project of `checkInstall`. */
export async function checkUse(folder: string): Promise<void> {
  const binary = anvilBinary();
  if (typeof binary !== "string") return console.log(`not used on a chain: ${binary.missing}`);
  const at = join(folder, "node");
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", tested("ethers")], at);
  const anvil = await Anvil.start();
  try {
    const { chainId, market } = await deployLocally(anvil.url, {});
    const key = await fundedKey(anvil, chainId, market);
    writeFileSync(join(at, "market.json"), JSON.stringify({ rpcUrl: anvil.url, chainId, market, key }));
    writeFileSync(join(at, "model.onnx"), mlpBytes());
    console.log(run(process.execPath, ["use.mjs"], at).trim());
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
    run(
      process.execPath,
      ["node_modules/typescript/bin/tsc", "-p", ".", "-m", module!, "--moduleResolution", resolution!],
      at,
    );
    console.log(`TypeScript strict, ${resolution}: no errors`);
  }
}

/** Compiles a contract on the package's base for consumers. */
export function checkContracts(tarball: string, folder: string): void {
  const names = ["viem", "hardhat", "@openzeppelin/contracts", "solc"];
  const at = project("hardhat", folder, [tarball, ...names.map(tested)]);
  run(process.execPath, ["node_modules/hardhat/dist/src/cli.js", "build", "--quiet"], at);
  const artifact = join(at, "artifacts/contracts/Oracle.sol/Oracle.json");
  const { bytecode } = JSON.parse(readFileSync(artifact, "utf8")) as { bytecode: string };
  console.log(`Hardhat: a consumer on refute/contracts compiles to ${bytecode.length / 2 - 1} bytes`);
}

/** Bundles a page. Nothing of Node may be in it. */
export async function checkBrowser(tarball: string, folder: string): Promise<Measured[]> {
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
  const foreign = Object.keys(metafile.inputs).filter((path) => /refute\/(?!dist\/browser\.js)/.test(path));
  if (foreign.length > 0) throw new Error(`the page holds ${foreign.join(", ")}`);
  const bytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
  return [{ what: "page with refute/browser and viem, gzip", value: bytes / 1e3, bar: 150, unit: "kB" }];
}
