import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { Output, outputMode } from "../../src/cli/output.ts";
import { commandAt } from "../../src/cli/words/walk.ts";
import { UsageError } from "../../src/cli/errors.ts";
import { fileOrUrl, filePath, filePaths, namedFolder, text, whole } from "../../src/cli/parse.ts";
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
      models: required("any", "models", filePath),
      native: required("any", "calibrations", filePaths),
      catalogue: required("any", "models", fileOrUrl),
      store: required("any", "a store", fileOrUrl),
      inputs: required("any", "data", namedFolder),
      name: required("file", "a name", text),
    };
    const given = {
      ...{ models: "m.json", native: "a.json, /b.json", catalogue: "https://host/c.json", store: "shared" },
      ...{ inputs: "x=pictures", name: "n" },
    };
    writeFileSync(join(folder, "config.json"), JSON.stringify(given));
    const readPaths = (...args: string[]) => {
      const command = addSettings(new Command(), paths).exitOverride();
      return readSettings(command.parse(args, { from: "user" }), paths, { REFUTE_CONFIG: join(folder, "config.json") });
    };
    expect(readPaths()).to.deep.equal({
      ...given,
      models: join(folder, "m.json"),
      native: [join(folder, "a.json"), "/b.json"],
      store: join(folder, "shared"),
      inputs: `x=${join(folder, "pictures")}`,
    });
    expect(readPaths("--models", "m.json")).to.have.property("models", "m.json");
  });

  it("settingsOfAllCommands_whoseHelpShowsAPath_arePaths", async function () {
    // Imported as commands are: a module that is required and imported is there twice.
    const { CommandTree } = await import("../../src/cli/words/commandTree.ts");
    const { settingsOf } = await import("../../src/cli/settings.ts");
    const { allCommands } = await import("../../src/cli/words/words.ts");
    const tree = new CommandTree(new Output(outputMode([], {})));
    await tree.loadAll();
    const all = allCommands().flatMap((words) => Object.entries(settingsOf(commandAt(tree.program, words)!) ?? {}));
    const isShown = ({ value }: { value: string | undefined }): boolean =>
      /(^|[^a-z])(file|folder|socket|source|place)s?$/.test(value ?? "");
    expect(all.filter(([, setting]) => isShown(setting)).length).to.be.above(30);
    const wrong = all.filter(([, setting]) => isShown(setting) !== "place" in setting.parse);
    expect([...new Set(wrong.map(([key]) => key))]).to.deep.equal([]);
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
