import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { run } from "./pack.ts";
import { checkPages } from "./pages.ts";

/** What `refute devnet --json` says when it is ready. */
type Ready = { env: Record<string, string> };

/** Milliseconds until a devnet must be ready, and until it must have ended. */
const LIMIT_MS = 120_000;

/**
 * Installs, builds and runs `examples/iris` as a stranger would, with the packed package in place of the registry's.
 * Prints how long each step took. The project of `checkBrowser` must be there.
 * @throws Error with what a step printed
 */
export async function checkExample(tarball: string, folder: string): Promise<void> {
  const at = join(folder, "iris");
  cpSync("examples/iris", at, { recursive: true, filter: (path) => !path.includes("node_modules") });
  const manifest = JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as { dependencies: { refute: string } };
  manifest.dependencies.refute = `file:${tarball}`;
  writeFileSync(join(at, "package.json"), JSON.stringify(manifest));
  const start = Date.now();
  const told = (what: string): void =>
    console.log(`example: ${what} after ${((Date.now() - start) / 1e3).toFixed(0)} s`);
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], at);
  told("installed");
  run("npm", ["run", "build"], at);
  told("built");
  // Not through npx, which keeps a signal to itself.
  const refute = join("node_modules", "refute", "dist", "src", "cli", "main.js");
  const audit = run(process.execPath, [refute, "model", "audit", "model/iris.onnx", "--samples", "8", "--json"], at);
  if (!(JSON.parse(audit) as { clean: boolean }).clean) throw new Error(`the audit is not clean: ${audit}`);
  told("audited");
  const flags = ["devnet", "--model", "model/iris.onnx", "--port", "0", "--json"];
  const devnet = spawn(process.execPath, [refute, ...flags], { cwd: at });
  killAtExit(devnet);
  try {
    const { env } = await readyOf(devnet);
    told("the devnet is ready");
    const answer = run(process.execPath, ["scripts/ask.ts"], at, { ...process.env, ...env });
    told("answered");
    if (!/^virginica +9\d\.\d %$/m.test(answer)) throw new Error(`no iris virginica in:\n${answer}`);
    if (!/holds 0x[0-9a-f]{24}$/m.test(answer)) throw new Error(`no scores in the contract:\n${answer}`);
    await checkPages(at, join(folder, "browser"));
    told("shown in a browser");
  } finally {
    await stop(devnet);
  }
  for (const file of ["page/page.js", "page/oracle.json"])
    if (!existsSync(join(at, file))) throw new Error(`the example made no ${file}`);
}

function readyOf(devnet: ChildProcess): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let printed = "";
    const fail = (): void => reject(new Error(`the devnet is not ready: ${printed.slice(-2_000)}`));
    const timer = setTimeout(fail, LIMIT_MS);
    devnet.once("exit", fail);
    devnet.stderr!.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    let line = "";
    devnet.stdout!.on("data", (chunk: Buffer) => {
      line += chunk.toString();
      if (!line.includes("\n")) return;
      clearTimeout(timer);
      devnet.removeListener("exit", fail);
      resolve(JSON.parse(line) as Ready);
    });
  });
}

async function stop(devnet: ChildProcess): Promise<void> {
  if (devnet.exitCode !== null) return;
  const ended = new Promise((done) => devnet.once("exit", done));
  devnet.kill("SIGINT");
  await ended;
}
