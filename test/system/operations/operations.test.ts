/**
 * The files of `operations` do what they are for. The image's steps run as a script, because they need no Docker. Tests
 * that need promtool, systemd-analyze or Docker are left out where these are missing.
 */
import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { isInstalled, runCommand } from "../../../testkit/processes/runCommand.ts";
import { leaveOut } from "../shared/leaveOut.ts";
import { imageSteps, lint } from "./image.ts";

const FOLDER = "operations";
const DOCKERFILE = join(FOLDER, "docker/Dockerfile");
/** How open to attacks a unit may be, of 100, as systemd-analyze counts: its network alone makes it 10. */
const MAX_EXPOSED = 20;

type Panel = { title: string; targets?: { expr: string }[] };
type Service = { image: string; command: string[] };

function needs(context: Mocha.Context, program: string, debianPackage: string): void {
  if (!isInstalled(program)) leaveOut(context, `${program} is not there (Debian package ${debianPackage})`);
}

describe("operations", function () {
  this.timeout(1_800_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-operations-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("prometheus_readsConfigurationAndRules_andEachAlertFiresWhenItMust", function () {
    needs(this, "promtool", "prometheus");
    const at = join(FOLDER, "prometheus");
    runCommand("promtool", ["check", "config", "prometheus.yml"], at);
    runCommand("promtool", ["check", "rules", "refute.rules.yml"], at);
    runCommand("promtool", ["test", "rules", "refute.rules.test.yml"], at);
  });

  it("expressionsOfTheDashboard_areRead", function () {
    needs(this, "promtool", "prometheus");
    const { panels } = JSON.parse(readFileSync(join(FOLDER, "grafana/refute.json"), "utf8")) as { panels: Panel[] };
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions).to.not.be.empty;
    const rules = expressions.map((expr, k) => ({ record: `panel:${k}`, expr: expr.replaceAll("$instance", ".*") }));
    const file = join(folder, "dashboard.json");
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    runCommand("promtool", ["check", "rules", file]);
  });

  for (const role of ["worker", "watcher", "executor"])
    it(`unitOfTheService_isRead_andIsClosedToAttacks (${role})`, function () {
      needs(this, "systemd-analyze", "systemd");
      const unit = readFileSync(join(FOLDER, `systemd/refute-${role}.service`), "utf8");
      const file = join(folder, `refute-${role}.service`);
      // The program that a unit starts must exist where it is verified.
      writeFileSync(file, unit.replace("/usr/bin/node", process.execPath));
      runCommand("systemd-analyze", ["verify", file]);
      runCommand("systemd-analyze", ["security", "--offline=true", `--threshold=${MAX_EXPOSED}`, file]);
    });

  it("dockerfile_hasNoFaults", () => lint(readFileSync(DOCKERFILE, "utf8")));

  it("docker_buildsTheImage", function () {
    if (spawnSync("docker", ["info"]).status !== 0) leaveOut(this, "no Docker daemon is there");
    runCommand("docker", ["build", "--quiet", "--file", DOCKERFILE, "."]);
  });

  it("image_knowsTheCommandsAndFlagsOfTheServices", () => {
    const commit = join(folder, "commit.tar");
    runCommand("git", ["archive", "--output", commit, "HEAD"]);
    const [program, ...first] = imageSteps(readFileSync(DOCKERFILE, "utf8"), {
      root: join(folder, "image"),
      context: commit,
    });
    const refute = (args: readonly string[]): string => runCommand(program!, [...first, ...args]);
    expect(refute(["--version"])).to.match(/^\d+\.\d+\.\d+/);
    const { services } = parse(readFileSync(join(FOLDER, "docker/compose.yaml"), "utf8"), { merge: true }) as {
      services: Record<string, Service>;
    };
    const own = Object.entries(services).filter(([, { image }]) => image === "refute");
    expect(own).to.not.be.empty;
    for (const [name, { command }] of own) {
      const words = command.slice(
        0,
        command.findIndex((word) => word.startsWith("--")),
      );
      const help = refute([...words, "--help"]);
      const flags = command.filter((word) => word.startsWith("--"));
      expect(
        flags.filter((flag) => !help.includes(flag)),
        `compose.yaml: ${name} has flags that refute does not know`,
      ).to.deep.equal([]);
    }
  });
});
