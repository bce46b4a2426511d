import { readFileSync } from "node:fs";
import { expect } from "chai";
import { pino } from "pino";
import { Monitor } from "../../src/cli/monitor.ts";
import type { Figures } from "../../src/runs/figures.ts";
import { Health } from "../../src/base/health.ts";

const FIGURES: Figures = {
  openClaims: 0,
  openGames: 0,
  minClock: 0,
  headLag: 0,
  balance: 0n,
  gasPrice: 0n,
  credit: 0n,
  staked: 0n,
  locked: 0n,
  bond: 0n,
  attestation: 0,
  classes: 0,
  blobsAtRisk: 0,
};

describe("metrics on docs/operating.md", () => {
  it("areThoseOfTheMonitor_allOfThem", async () => {
    const monitor = new Monitor(new Health(pino({ level: "silent" })), 1_000);
    monitor.meter.figures(FIGURES);
    const answer = await fetch(`http://127.0.0.1:${await monitor.listen(0)}/metrics`);
    const own = [...(await answer.text()).matchAll(/^# TYPE (refute_\w+)/gm)].map(([, name]) => name!);
    await monitor.close();
    const page = readFileSync("docs/operating.md", "utf8");
    const named = new Set([...page.matchAll(/\brefute_[a-z_]+/g)].map(([name]) => name));
    expect([...named].sort()).to.deep.equal(own.sort());
    for (const file of ["prometheus/refute.rules.yml", "grafana/refute.json"]) {
      const used = readFileSync(`operations/${file}`, "utf8").matchAll(/\brefute_[a-z_]+/g);
      for (const [name] of used) expect(own, file).to.contain(name.replace(/_bucket$/, ""));
    }
  });

  it("everyConditionIsDescribed", () => {
    const page = readFileSync("docs/operating.md", "utf8");
    const kinds = /const KINDS = \{([^]*?)\n\}/.exec(readFileSync("src/base/health.ts", "utf8"))![1]!;
    const names = [...kinds.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name!);
    expect(names).to.have.length.above(8);
    for (const name of names) expect(page).to.contain(`\n- \`${name}\``);
  });
});
