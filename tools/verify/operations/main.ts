/**
 * `npm run operations:check`: the files of `operations` do what they are for. The image's steps run as a script,
 * because they need no Docker; what needs promtool or systemd-analyze is left out with a message where these are
 * missing.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { run } from "../package/pack.ts";
import { imageSteps, lint } from "./image.ts";

const FOLDER = "operations";
/** How open to attacks a unit may be, of 100, as systemd-analyze counts: its network alone makes it 10. */
const MAX_EXPOSED = 20;
const folder = mkdtempSync(join(tmpdir(), "refute-operations-"));
try {
  checkAlerts();
  checkDashboard();
  checkServices();
  checkDocker();
  checkImage();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Whether a program is there; says so if it is not. */
function has(program: string, debianPackage: string): boolean {
  const found = spawnSync(program, ["--version"]).error === undefined;
  if (!found) console.log(`${program} is not there (Debian package ${debianPackage}): what it checks is left out`);
  return found;
}

function checkAlerts(): void {
  if (!has("promtool", "prometheus")) return;
  const at = join(FOLDER, "prometheus");
  run("promtool", ["check", "config", "prometheus.yml"], at);
  run("promtool", ["check", "rules", "refute.rules.yml"], at);
  run("promtool", ["test", "rules", "refute.rules.test.yml"], at);
  console.log("prometheus: configuration, rules, and when each alert fires");
}

/** The expressions of the dashboard, as rules that promtool reads. */
function checkDashboard(): void {
  type Panel = { title: string; targets?: { expr: string }[] };
  const { panels } = JSON.parse(readFileSync(join(FOLDER, "grafana/refute.json"), "utf8")) as { panels: Panel[] };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  if (!has("promtool", "prometheus")) return;
  const rules = expressions.map((expr, k) => ({ record: `panel:${k}`, expr: expr.replaceAll("$instance", ".*") }));
  const file = join(folder, "dashboard.json");
  writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
  run("promtool", ["check", "rules", file]);
  console.log(`grafana: ${expressions.length} expressions`);
}

function checkServices(): void {
  if (!has("systemd-analyze", "systemd")) return;
  for (const role of ["worker", "watcher", "executor"]) {
    const unit = readFileSync(join(FOLDER, `systemd/refute-${role}.service`), "utf8");
    const file = join(folder, `refute-${role}.service`);
    // The program that a unit starts must exist where it is verified.
    writeFileSync(file, unit.replace("/usr/bin/npm", process.execPath));
    run("systemd-analyze", ["verify", file]);
    run("systemd-analyze", ["security", "--offline=true", `--threshold=${MAX_EXPOSED}`, file]);
  }
  console.log("systemd: three units");
}

/** Builds the image, where a Docker daemon is there to do it. */
function checkDocker(): void {
  const isThere = spawnSync("docker", ["info"]).status === 0;
  if (!isThere) return console.log("no Docker daemon is there: the image's steps run as a script only");
  run("docker", ["build", "--quiet", "--file", join(FOLDER, "docker/Dockerfile"), "."]);
  console.log("docker: the image is built");
}

/** Builds what the image holds, and asks it what the services of compose.yaml would take. */
function checkImage(): void {
  const dockerfile = readFileSync(join(FOLDER, "docker/Dockerfile"), "utf8");
  lint(dockerfile);
  const commit = join(folder, "commit.tar");
  run("git", ["archive", "--output", commit, "HEAD"]);
  const command = imageSteps(dockerfile, { root: join(folder, "image"), context: commit });
  const refute = (args: readonly string[]): string => run(command[0]!, [...command.slice(1), ...args]);
  console.log(`image: refute ${refute(["--version"]).trim()}`);
  type Service = { image: string; command: string[] };
  const { services } = parse(readFileSync(join(FOLDER, "docker/compose.yaml"), "utf8"), { merge: true }) as {
    services: Record<string, Service>;
  };
  for (const [name, { image, command: args }] of Object.entries(services)) {
    if (image !== "refute") continue;
    const words = args.slice(
      0,
      args.findIndex((arg) => arg.startsWith("--")),
    );
    const help = refute([...words, "--help"]);
    for (const flag of args.filter((arg) => arg.startsWith("--")))
      if (!help.includes(flag))
        throw new Error(`compose.yaml: ${name} has the flag ${flag}, which refute does not know`);
    console.log(`compose: ${name}`);
  }
}
