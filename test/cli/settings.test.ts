import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { z } from "zod";
import { UsageError } from "../../src/cli/errors.ts";
import { readSettings } from "../../src/cli/settings.ts";

const shape = { rpcUrl: z.string().default("http://default"), chainId: z.coerce.number().int().positive() };

describe("readSettings", function () {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(folder, { recursive: true }));

  const read = (args: string[], env: NodeJS.ProcessEnv, config?: string) => {
    if (config !== undefined) {
      writeFileSync(join(folder, "config.json"), config);
      args = [...args, "--config", join(folder, "config.json")];
    }
    const command = new Command()
      .option("--rpc-url <url>")
      .option("--chain-id <id>")
      .option("--config <file>")
      .exitOverride();
    return readSettings(command.parse(args, { from: "user" }), shape, env);
  };

  it("flagEnvironmentConfigDefault_theFirstThatIsGivenWins", function () {
    const config = JSON.stringify({ chainId: 3, rpcUrl: "http://config" });
    expect(read(["--chain-id", "1"], { REFUTE_CHAIN_ID: "2" }, config).chainId).to.equal(1);
    expect(read([], { REFUTE_CHAIN_ID: "2" }, config).chainId).to.equal(2);
    expect(read([], {}, config)).to.deep.equal({ chainId: 3, rpcUrl: "http://config" });
    expect(read(["--chain-id", "1"], {}).rpcUrl).to.equal("http://default");
  });

  it("missingSetting_namesEveryWayToSetIt", function () {
    expect(() => read([], {})).to.throw(UsageError, /chainId.*--chain-id, REFUTE_CHAIN_ID/);
  });

  it("unknownSettingInTheConfigFile_isRefusedByName", function () {
    expect(() => read(["--chain-id", "1"], {}, '{"chainID": 1}')).to.throw(UsageError, /chainID/);
  });

  it("unfitValueOrBrokenFile_isRefused", function () {
    expect(() => read(["--chain-id", "one"], {})).to.throw(UsageError, /chainId/);
    expect(() => read([], {}, "{")).to.throw(UsageError, /not JSON/);
    expect(() => read([], {}, "[]")).to.throw(UsageError, /one JSON object/);
    expect(() => read(["--config", join(folder, "absent.json")], {})).to.throw(UsageError, /cannot read/);
  });
});
