import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allCommands, topWords, WORDS } from "../../src/cli/words/words.ts";
import { refute } from "./refute.ts";

const SCREEN = { columns: 80, lines: 24 };
const NOUNS = Object.values(WORDS).flatMap((group) =>
  Object.entries(group).flatMap(([noun, { commands }]) =>
    commands === undefined ? [] : [{ noun, parts: Object.keys(commands) }],
  ),
);

describe("the words of the command line", () => {
  it("words_areThereOnceEach", () => {
    expect(new Set(topWords()).size).to.equal(topWords().length);
  });

  it("help_fitsAScreenWithItsPrompt_namesEveryWord_andMarksExtras", async () => {
    for (const args of [["--help"], ["help"], ["-h"]]) {
      const { status, stdout } = await refute(args);
      expect(status).to.equal(0);
      const lines = stdout.split("\n");
      expect(lines.length).to.be.below(SCREEN.lines);
      expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(SCREEN.columns);
      for (const word of topWords()) expect(stdout, word).to.match(new RegExp(`^(?:\\w+)? +${word}  `, "m"));
      expect(stdout).to.match(/^Extras +panel .*\n +tickets .*\n +exam .*\n +tdx .*\n +fleet /m);
    }
  });

  for (const { noun, parts } of NOUNS)
    it(`help_of_${noun}_listsItsCommands_inALineEach`, async () => {
      const { status, stdout } = await refute([noun, "--help"]);
      expect(status).to.equal(0);
      const lines = stdout.split("\n");
      const listed = lines.slice(lines.indexOf("Commands:") + 1).slice(0, parts.length);
      expect(listed.map((line) => line.trim().split(/ +/)[0])).to.deep.equal(parts);
      expect(Math.max(...listed.map((line) => line.length))).to.be.at.most(SCREEN.columns);
      if (Object.hasOwn(WORDS.Extras!, noun)) expect(stdout).to.contain("(an extra: ");
    });

  it("help_ofWords_isTheHelpOfTheCommand", async () => {
    for (const words of [...NOUNS.map(({ noun }) => [noun]), ["check"], ["tickets", "serve"], ["help", "completion"]]) {
      const asked = words[0] === "help" ? [...words, "--help"] : ["help", ...words];
      const { status, stdout } = await refute(asked);
      expect(status, words.join(" ")).to.equal(0);
      expect(stdout, words.join(" ")).to.contain(`Usage: refute ${words.join(" ")} `);
      if (words[0] !== "help") expect(stdout).to.equal((await refute([...words, "--help"])).stdout);
    }
    const nothing = await refute(["help", "nothing"]);
    expect(nothing.status).to.equal(2);
    expect(nothing.stderr).to.contain("unknown command 'nothing'");
  });

  it("everyCommand_hasItsOwnName_flagsAndExamples", async () => {
    const { commands } = JSON.parse((await refute(["help", "--json"])).stdout) as {
      commands: { command: string; group: string; help: string }[];
    };
    const helps = new Map(commands.map(({ command, help }) => [command, help]));
    for (const words of allCommands()) {
      const name = words.join(" ");
      expect(helps.get(name), name).to.match(new RegExp(`^Usage: refute ${name} `));
      expect(helps.get(name), name).to.match(new RegExp(`^Examples:\\n  refute ${name}\\b`, "m"));
    }
    expect([...helps.keys()]).to.include.members(topWords());
  });

  const SUGGESTIONS: [typed: string, suggested: string][] = [
    ["complie m.onnx", "refute model compile"],
    ["pannel", "refute panel"],
    ["deploy-exam", "refute deploy exams"],
    ["panel-results", "refute panel result"],
    ["stand-in-devise", "refute device stand-in"],
    ["earnings", "refute tickets earnings"],
    ["job submit", "refute submit"],
    ["model chek", "refute check"],
    ["tickets deposti 1", "refute tickets deposit"],
    ["panel psot", "refute panel post"],
    ["account unpledge", "refute tickets unpledge"],
    ["deploy market", "refute deploy"],
  ];
  for (const [typed, suggested] of SUGGESTIONS)
    it(`${typed}: suggests_${suggested}`, async () => {
      const { status, stderr } = await refute(typed.split(" "));
      expect(status).to.equal(2);
      const [, suggestions = ""] = /\(Did you mean (.+)\?\)/.exec(stderr) ?? [];
      expect(suggestions.split(" or ")).to.include(suggested);
    });

  it("words_thatAreNearNothing_andNamesOfPrototypes_areUnknown", async () => {
    for (const args of [["frobnicate"], ["constructor"], ["model", "toString"], ["model", "market"]]) {
      const { status, stderr } = await refute(args);
      expect(status).to.equal(2);
      expect(stderr).to.match(/unknown command '.+'; refute .*--help shows all commands \[USAGE\]$/);
    }
  });

  it("nounAlone_isRefused_withTheCallThatListsItsCommands", async () => {
    for (const { noun } of NOUNS.filter(({ noun }) => !["deploy", "devnet", "help"].includes(noun))) {
      const { status, stderr } = await refute([noun]);
      expect(status).to.equal(2);
      expect(stderr).to.contain(`no command is given; refute ${noun} --help lists them`);
    }
  });

  it("aFileOfSettings_isSharedByCommands_andHasNoUnknownSettings", async () => {
    const folder = mkdtempSync(join(tmpdir(), "refute-words-"));
    try {
      const file = join(folder, "settings.json");
      const status = (settings: object) => {
        const chain = { rpcUrl: "http://127.0.0.1:9", chainId: 1, market: `0x${"12".repeat(20)}` };
        writeFileSync(file, JSON.stringify({ ...chain, ...settings }));
        return refute(["status", "--config", file]);
      };
      // Of a worker, of tickets, of a deployment and of the exams of the last release: the node is asked.
      const shared = await status({ minFee: "1", face: "1", gridBlocks: 32, rehearse: true });
      expect(shared.stderr).to.contain("[RPC_UNAVAILABLE]");
      const unknown = await status({ minFee: "1", minfee: "1" });
      expect(unknown.status).to.equal(2);
      expect(unknown.stderr).to.match(/unknown setting in the config file .*: minfee \[USAGE\]$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
