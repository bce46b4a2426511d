import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { choose, linesOf } from "../../tools/choose.ts";
import { decimal, file, flag, helpOf, list, readOptions, UsageError, whole } from "../../tools/options.ts";
import { PROGRAMS, type Program } from "../../tools/programs.ts";

const about = "";
const TABLE: readonly Program[] = [
  { name: "speed", about, main: "a.ts" },
  { name: "speed worst", about, main: "b.ts" },
  { name: "market runs", about: "runs of many items", main: "c.ts" },
];
const nameOf = (...words: string[]): unknown => {
  const choice = choose(TABLE, words);
  return choice.kind === "program" ? [choice.program.name, ...choice.options] : choice.kind;
};
/** Starts a script of package.json as npm does. */
const call = (...words: string[]) => spawnSync("node", ["tools/main.ts", ...words], { encoding: "utf8" });

describe("programs of the tools", () => {
  it("longerName_goesBeforeAShorterOne_andTheRestAreOptions", () => {
    expect(nameOf("speed", "--threads", "1")).to.deep.equal(["speed", "--threads", "1"]);
    expect(nameOf("speed", "worst", "--kinds", "sums")).to.deep.equal(["speed worst", "--kinds", "sums"]);
    expect(nameOf("market", "runs")).to.deep.equal(["market runs"]);
  });

  it("withoutAName_programsAreListed_withOneLineEach", () => {
    expect([nameOf(), nameOf("--help"), nameOf("market")]).to.deep.equal(["list", "list", "list"]);
    expect(choose(TABLE, ["market"])).to.deep.equal({ kind: "list", programs: TABLE.slice(2) });
    expect(linesOf(TABLE)[2]).to.equal("  market runs  runs of many items");
  });

  it("unknownName_getsTheNearestOne", () => {
    expect(choose(TABLE, ["sped"])).to.deep.equal({ kind: "unknown", name: "sped", nearest: "speed" });
    expect(choose(TABLE, ["market", "run"])).to.deep.equal({
      ...{ kind: "unknown", name: "market run" },
      nearest: "market runs",
    });
  });

  it("eachProgram_isThere_underANameOfItsOwn", () => {
    for (const programs of Object.values(PROGRAMS)) {
      const names = programs.map(({ name }) => name);
      expect(new Set(names).size).to.equal(names.length);
      expect(programs.filter(({ main }) => !existsSync(join("tools", main)))).to.deep.equal([]);
    }
  });

  it("eachProgramWithOptions_readsThemAsTheOthersDo", () => {
    const mains = new Set(
      Object.values(PROGRAMS).flatMap((programs) => programs.map(({ main }) => join("tools", main))),
    );
    const without = [...mains].filter((main) => !readFileSync(main, "utf8").includes("readOptions("));
    expect(without).to.deep.equal([]);
    const own = globSync("tools/**/*.ts").filter((file) => readFileSync(file, "utf8").includes("parseArgs("));
    expect(own).to.deep.equal(["tools/options.ts"]);
  });

  it("scripts_areAtMostFourteen", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: object };
    expect(Object.keys(scripts)).to.have.length.of.at.most(14);
  });

  it("call_ofNoProgram_orWithAWrongOption_endsWithStatusTwoAndOneLine", () => {
    const cases: [string[], string][] = [
      [["measure", "sped"], "npm run measure -- sped: no such program; did you mean speed?\n"],
      [["write", "cases"], "npm run write -- cases: give FOLDER and NAMES\n"],
      [["verify", "builds", "--all"], "npm run verify -- builds: Unknown option '--all'; --help lists the options\n"],
    ];
    for (const [words, message] of cases) {
      const { status, stdout, stderr } = call(...words);
      expect({ status, stdout, stderr }, words.join(" ")).to.deep.equal({ status: 2, stdout: "", stderr: message });
    }
  });

  it("call_forHelp_saysWhatTheProgramDoes", () => {
    const { status, stdout } = call("verify", "contracts", "--help");
    expect(status).to.equal(0);
    expect(stdout).to.equal(
      "npm run verify -- contracts\n" +
        "  the packed contracts are the compiler's output; each deployed one is below 24,576 bytes\n",
    );
  });

  describe("options", () => {
    const OPTIONS = {
      models: list("models by name"),
      count: whole("answers", 20),
      seconds: decimal("time", 1.5),
      json: file("a file for the figures"),
      attack: flag("attacks"),
    };

    it("values_areReadByTheirKind", () => {
      const given = ["--models", "a,b", "--count", "3", "--seconds", "0.5", "--json", "x.json", "--attack", "word"];
      expect(readOptions(OPTIONS, "[WORDS]", given)).to.deep.equal({
        ...{ models: ["a", "b"], count: 3, seconds: 0.5, json: "x.json", attack: true, words: ["word"] },
      });
    });

    it("leftOut_haveTheirUsualValues", () => {
      expect(readOptions(OPTIONS, undefined, [])).to.deep.equal({
        ...{ models: undefined, count: 20, seconds: 1.5, json: undefined, attack: false, words: [] },
      });
    });

    it("wrongValues_andWordsThatNobodyTakes_areRefused", () => {
      const refusal = (...given: string[]) => expect(() => readOptions(OPTIONS, undefined, given)).to.throw(UsageError);
      for (const value of ["x", "1.5", "-1", ""])
        refusal(`--count=${value}`)
          .with.property("message")
          .match(/^--count/);
      refusal("--seconds", "fast").with.property("message", "--seconds fast: expected a number");
      refusal("--count")
        .with.property("message")
        .match(/^Option '--count/);
      refusal("word")
        .with.property("message")
        .match(/^Unexpected argument 'word'/);
    });

    it("help_hasALineForEachOption_withItsUsualValue", () => {
      const lines = helpOf(OPTIONS, "[WORDS]").split("\n").slice(2);
      expect(lines).to.deep.equal([
        "  --models A,B  models by name",
        "  --count N     answers (20)",
        "  --seconds X   time (1.5)",
        "  --json PATH   a file for the figures",
        "  --attack      attacks",
      ]);
    });
  });
});
