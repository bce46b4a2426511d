import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { UsageError } from "../../src/cli/errors.ts";
import { list, text, whole } from "../../src/cli/parse.ts";
import { addSettings, defaulted, readSettings, required } from "../../src/cli/settings.ts";

const settings = {
  rpcUrl: defaulted("url", "a node", text, "http://default"),
  chainId: required<number>("id", "its chain", whole(1)),
};

describe("readSettings", function () {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(folder, { recursive: true }));

  const read = (args: string[], env: NodeJS.ProcessEnv, config?: string) => {
    if (config !== undefined) {
      writeFileSync(join(folder, "config.json"), config);
      args = [...args, "--config", join(folder, "config.json")];
    }
    const command = addSettings(new Command(), settings).exitOverride();
    return readSettings(command.parse(args, { from: "user" }), settings, env);
  };

  it("flagEnvironmentConfigDefault_theFirstThatIsGivenWins", function () {
    const config = JSON.stringify({ chainId: 3, rpcUrl: "http://config" });
    expect(read(["--chain-id", "1"], { REFUTE_CHAIN_ID: "2" }, config).chainId).to.equal(1);
    expect(read([], { REFUTE_CHAIN_ID: "2" }, config).chainId).to.equal(2);
    expect(read([], {}, config)).to.deep.equal({ chainId: 3, rpcUrl: "http://config" });
    expect(read(["--chain-id", "1"], {}).rpcUrl).to.equal("http://default");
  });

  it("pathsInAConfigFile_areRelativeToIt_andOthersToTheWorkingFolder", function () {
    const paths = {
      models: required("file", "models", text),
      native: required("files", "calibrations", list),
      catalogue: required("source", "models", text),
      name: required("name", "a name", text),
    };
    const given = { models: "m.json", native: "a.json, /b.json", catalogue: "https://host/c.json", name: "n" };
    writeFileSync(join(folder, "config.json"), JSON.stringify(given));
    const readPaths = (...args: string[]) => {
      const command = addSettings(new Command(), paths).exitOverride();
      return readSettings(command.parse(args, { from: "user" }), paths, { REFUTE_CONFIG: join(folder, "config.json") });
    };
    expect(readPaths()).to.deep.equal({
      ...given,
      models: join(folder, "m.json"),
      native: [join(folder, "a.json"), "/b.json"],
    });
    expect(readPaths("--models", "m.json")).to.have.property("models", "m.json");
  });

  it("missingSetting_namesEveryWayToSetIt", function () {
    expect(() => read([], {})).to.throw(UsageError, /chainId.*--chain-id, REFUTE_CHAIN_ID/);
  });

  it("unknownSettingInTheConfigFile_isRefusedByName", function () {
    expect(() => read(["--chain-id", "1"], {}, '{"chainID": 1}')).to.throw(UsageError, /chainID/);
  });

  it("unfitValueOrBrokenFile_isRefused", function () {
    expect(() => read(["--chain-id", "one"], {})).to.throw(
      UsageError,
      "--chain-id one: expected a whole number from 1 on",
    );
    expect(() => read([], { REFUTE_CHAIN_ID: "0" })).to.throw(UsageError, "REFUTE_CHAIN_ID 0: expected");
    expect(() => read([], {}, '{"chainId": []}')).to.throw(UsageError, '"chainId" of the config file: expected');
    expect(() => read([], {}, "{")).to.throw(UsageError, /not JSON/);
    expect(() => read([], {}, "[]")).to.throw(UsageError, /one JSON object/);
    expect(() => read(["--config", join(folder, "absent.json")], {})).to.throw(UsageError, /cannot read/);
  });
});
