import { expect } from "chai";
import { allCommands, topWords } from "../../src/cli/words/words.ts";
import { refute } from "./refute.ts";
import { OLD_WORDS } from "../../src/cli/words/oldWordTable.ts";

/** The words of release 0.1. */
const RELEASED = [
  ...["check", "run", "train", "audit", "compile", "calibrate", "conform", "quote", "pack", "submit", "dispatch"],
  ...["panel", "result", "panel-result", "status", "workers", "cancel", "expire", "reclaim", "canary", "worker"],
  ...["watcher", "executor", "serve", "ask", "pledge", "unpledge", "tickets", "deposit", "identify", "attest"],
  ...["release", "classes", "exam", "tdx", "stake", "unstake", "withdraw", "deploy", "deploy-exams", "deploy-tickets"],
  ...["deploy-panel", "deploy-tdx", "devnet", "stand-in-manufacturer", "stand-in-device", "dongle", "config"],
  "completion",
];

describe("words of the last release", () => {
  it("eachOfThem_isAWordStill_orHasNewWords", () => {
    const kept = RELEASED.filter((word) => OLD_WORDS[word] === undefined);
    expect(topWords()).to.include.members(kept);
    const now = allCommands().map((words) => words.join(" "));
    expect(now).to.include.members(Object.values(OLD_WORDS));
    expect(RELEASED).to.include.members(Object.keys(OLD_WORDS));
  });

  for (const [old, words] of Object.entries(OLD_WORDS))
    it(`${old}: doesWhat_${words.replace(" ", "_")}_does_andNotesIt`, async () => {
      // An unknown flag: every command says by its own name that it does not take it.
      const args = ["--nosuch", "x"];
      const [before, after] = [await refute([old, ...args]), await refute([...words.split(" "), ...args])];
      const note = `refute ${old} is refute ${words} now; the old word works until the next release`;
      expect(before.status).to.equal(2);
      expect(before.stderr).to.equal(`${note}\n${after.stderr}`);
      expect(before.stdout).to.equal(after.stdout);
      expect(after.stderr).to.contain(`refute ${words} --help`);

      const json = await refute([old, ...args, "--json"]);
      const [first, second, ...more] = json.stderr.split("\n").map((line) => JSON.parse(line) as object);
      expect(first).to.deep.equal({ note });
      expect(second).to.have.property("error");
      expect(more).to.deep.equal([]);

      const quiet = await refute([old, ...args, "--quiet"]);
      expect(quiet.stderr).to.equal(after.stderr);
    });

  it("help_hasNone_andHelpOfOne_isThatOfTheNewWords", async () => {
    const { stdout } = await refute(["--help"]);
    const texts = [stdout];
    for (const shell of ["bash", "zsh", "fish"]) texts.push((await refute(["help", "completion", shell])).stdout);
    for (const old of ["panel-result", "deploy-exams", "stand-in-device"])
      for (const text of texts) expect(text).not.to.contain(old);
    for (const asked of [
      ["help", "train"],
      ["train", "--help"],
    ]) {
      const help = await refute(asked);
      expect(help.status).to.equal(0);
      expect(help.stdout).to.equal((await refute(["model", "train", "--help"])).stdout);
      expect(help.stderr).to.contain("refute model train");
    }
  });

  it("answers_areThoseOfTheNewWords", async () => {
    const [before, after] = [await refute(["completion", "bash"]), await refute(["help", "completion", "bash"])];
    expect(before).to.include({ status: 0, stdout: after.stdout });
    expect(after.stderr).to.equal("");
    const json = await refute(["--json", "completion", "bash"]);
    expect(JSON.parse(json.stdout)).to.deep.equal({ shell: "bash", script: after.stdout });
  });

  it("panelAndExam_areNounsToo_whereACommandOfThemFollows", async () => {
    for (const args of [["panel", "post"], ["panel", "--help"], ["panel"], ["exam", "classes"], ["exam"]])
      expect((await refute(args)).stderr, args.join(" ")).not.to.contain("works until");
    for (const args of [
      ["panel", "model.onnx"],
      ["panel", "--seats", "3"],
      ["exam", "--json", "--rehearse"],
    ])
      expect((await refute(args)).stderr, args.join(" ")).to.contain("works until");
  });

  it("config_takesBoth", async () => {
    for (const [old, words] of [
      ["executor", "fleet executor"],
      ["panel", "panel post"],
      ["exam", "exam rehearse"],
      ["deploy-tdx", "deploy tdx"],
    ] as const) {
      const [before, after] = [await refute(["config", old]), await refute(["config", ...words.split(" ")])];
      expect(before.status, before.stderr).to.equal(after.status);
      expect(before.stdout).to.equal(after.stdout);
      expect(before.stderr).to.contain(`refute ${old} is refute ${words} now`);
      expect(after.stderr).not.to.contain("works until");
    }
    const { stdout } = await refute(["config", "--json", "executor", "--threads", "3"]);
    expect(JSON.parse(stdout)).to.have.property("command", "executor");
  });
});
