import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryFolder } from "../../src/deploy/devnet/temporaryFolder.ts";
import { pasteable } from "../../src/cli/words/hints.ts";
import { programWords } from "../../src/cli/words/programWords.ts";
import { allCommands } from "../../src/cli/words/words.ts";
import { refute } from "./refute.ts";

describe("hints", () => {
  const { path: folder, remove } = temporaryFolder("refute-hints-");
  const bin = join(folder, "node_modules/.bin");
  const main = join(folder, "node_modules/refute-ml/dist/src/cli/main.js");
  before(() => {
    mkdirSync(bin, { recursive: true });
    mkdirSync(join(main, ".."), { recursive: true });
    writeFileSync(main, "");
    symlinkSync(main, join(bin, "refute"));
  });
  after(() => remove());

  it("programWords_areWhatTheReadersShellFinds", () => {
    const script = join(bin, "refute");
    // npx and scripts of npm put the folder on the path of what they start, not on that of the reader's shell.
    for (const npm_command of ["exec", "run-script"])
      expect(programWords({ PATH: bin, npm_command }, script)).to.equal("npx refute-ml");
    expect(programWords({ PATH: "/usr/bin" }, script)).to.equal("npx refute-ml");
    expect(programWords({ PATH: `/usr/bin:${bin}` }, script)).to.equal("refute");
    expect(programWords({ npm_command: "run-script", npm_lifecycle_event: "refute" }, script)).to.equal(
      "npm run refute --",
    );
  });

  it("programWords_ofAnotherProgramOfTheNameOnThePath_areNotItsName", () => {
    const others = join(folder, "others");
    mkdirSync(others);
    writeFileSync(join(others, "refute"), "");
    expect(programWords({ PATH: others }, join(bin, "refute"))).to.equal("npx refute-ml");
  });

  it("pasteable_rewritesEachCommand_andNoOtherWords", () => {
    for (const words of allCommands()) {
      const command = words.join(" ");
      expect(pasteable(`run refute ${command}, then go on`, "npx refute-ml")).to.equal(
        `run npx refute-ml ${command}, then go on`,
      );
    }
    for (const text of [
      "npx refute-ml run",
      "refute what is wrong",
      "or refute a lie",
      "my-refute check",
      "a/refute run",
    ])
      expect(pasteable(text, "npx refute-ml")).to.equal(text);
  });

  it("errorsAndExamples_areWrittenForWhoUsesNpx", async () => {
    const script = process.argv[1]!;
    process.argv[1] = join(bin, "refute");
    try {
      const env = { npm_command: "exec", npm_lifecycle_event: "npx" };
      expect((await refute(["chekc"], env)).stderr).to.match(
        /Did you mean npx refute-ml check\?.*; npx refute-ml --help/,
      );
      expect((await refute(["check", "--help"], env)).stdout).to.include("\n  npx refute-ml check model.onnx\n");
      const checked = await refute(["check", "examples/iris/model/iris.onnx"], env);
      expect(checked.stdout).to.match(/^next: npx refute-ml run /m);
    } finally {
      process.argv[1] = script;
    }
  });

  it("package_hasACommandOfItsOwnName_soThatNpxAsksNoRegistryForAnother", () => {
    const { name, bin: commands } = JSON.parse(readFileSync("package.json", "utf8")) as {
      name: string;
      bin: Record<string, string>;
    };
    expect(commands[name]).to.equal(commands.refute);
  });
});
