import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { refute } from "./refute.ts";

const KEY = `0x${"ab".repeat(32)}`;

type Answer = { settings: { setting: string; value: string | null; source: string }[]; secrets: object[] };

describe("refute config", function () {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(folder, { recursive: true }));

  const file = (settings: object): string => {
    writeFileSync(join(folder, "config.json"), JSON.stringify(settings));
    return join(folder, "config.json");
  };

  it("eachSetting_hasItsValueAndWhereItComesFrom", async function () {
    const env = { REFUTE_RPC_URL: "https://node.example/t0ken", REFUTE_PRIVATE_KEY: KEY };
    const args = ["config", "worker", "--json", "--config", file({ minFee: "0.5", interval: 7 })];
    const { status, stdout, output } = await refute(args, env);
    expect(status).to.equal(0);
    const { settings, secrets } = JSON.parse(stdout) as Answer;
    const shown = (name: string) => settings.find(({ setting }) => setting === name)!;
    expect(shown("rpc-url")).to.include({ value: "https://node.example", source: "REFUTE_RPC_URL" });
    expect(shown("min-fee")).to.include({ value: "0.5", source: '"minFee" of the config file' });
    expect(shown("interval")).to.include({ value: "7", source: '"interval" of the config file' });
    expect(shown("self-audit")).to.include({ value: "8", source: "default" });
    expect(shown("market")).to.include({ value: null, source: "missing" });
    expect(secrets[0]).to.deep.equal({ variable: "REFUTE_PRIVATE_KEY", set: true });
    expect(output).to.not.contain("t0ken").and.not.contain(KEY.slice(2));
  });

  it("flags_winOverEverything_andUnknownOnesAreRefused", async function () {
    const args = ["config", "worker", "--config", file({ minFee: "0.5", interval: 7 }), "--json"];
    const { status, stdout } = await refute([...args, "--interval", "9", "--untried-platform"]);
    expect(status).to.equal(0);
    const { settings } = JSON.parse(stdout) as Answer;
    const shown = (name: string) => settings.find(({ setting }) => setting === name)!;
    expect(shown("interval")).to.include({ value: "9", source: "--interval" });
    expect(shown("untried-platform")).to.include({ value: "true", source: "--untried-platform" });
    expect(shown("min-fee")).to.include({ value: "0.5", source: '"minFee" of the config file' });
    const strange = await refute([...args, "--intervall", "9"]);
    expect(strange.status).to.equal(2);
    expect(strange.output).to.contain("--intervall: refute worker has no such flag");
    expect((await refute([...args, "--private-key", KEY])).output).to.not.contain(KEY.slice(2));
  });

  it("unfitValuesAndUnknownSettings_areNamed", async function () {
    const { status, stdout, stderr } = await refute(["config", "watcher", "--config", file({ chainId: 0, minfee: 1 })]);
    expect(status).to.equal(2);
    expect(stdout).to.contain('"chainId" of the config file 0: expected a whole number from 1 on');
    expect(stderr).to.contain("expected a whole number from 1 on").and.contain("unknown setting").and.contain("minfee");
  });

  it("aCommandWithoutSettings_isRefused", async function () {
    for (const name of ["config", "nothing", KEY]) {
      const { status, output } = await refute(["config", name]);
      expect(status).to.equal(2);
      expect(output).to.contain("expected a command with settings").and.contain("worker").and.not.contain(KEY);
    }
  });
});
