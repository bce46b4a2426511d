import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";

const PROGRAM = `
  import { spawn } from "node:child_process";
  import { mkdirSync } from "node:fs";
  import { killAtExit } from "${resolve("src/deploy/devnet/killAtExit.ts")}";
  import { removeAtExit } from "${resolve("src/deploy/devnet/removeAtExit.ts")}";
  const [kept, released] = [process.argv[1] + "/it's kept", process.argv[1] + "/released"];
  for (const path of [kept, released]) mkdirSync(path);
  removeAtExit(kept);
  removeAtExit(released)();
  mkdirSync(released);
  const child = spawn("sleep", ["1000"]);
  killAtExit(child);
  killAtExit(spawn("no such program").on("error", () => {}));
  setTimeout(() => console.log(child.pid), 100);
`;
const LIMIT_MS = 20_000;

/** Whether a process runs: one that has ended, and that nobody has asked for its status, does not. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + LIMIT_MS; !isSo(); await sleep(20)) expect(Date.now()).to.be.below(end);
}

describe("guard", function () {
  let folder: string;
  before(function () {
    if (process.platform === "win32") this.skip();
    folder = mkdtempSync(join(tmpdir(), "refute-guard-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const signal of ["SIGKILL", "SIGTERM"] as const)
    it(`${signal}_endsTheProcesses_andRemovesTheFolders_ofTheOneThatIsKilled`, async () => {
      const args = ["--input-type=module", "-e", PROGRAM, mkdtempSync(join(folder, signal))];
      const parent = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      const pid = Number(await new Promise((done) => parent.stdout.once("data", done)));
      expect(isAlive(pid)).to.equal(true);
      expect(existsSync(join(args.at(-1)!, "it's kept"))).to.equal(true);
      parent.kill(signal);
      await until(() => !isAlive(pid) && !existsSync(join(args.at(-1)!, "it's kept")));
      expect(existsSync(join(args.at(-1)!, "released"))).to.equal(true);
    });
});
