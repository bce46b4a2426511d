import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { builtCommandLine } from "../../testkit/processes/commandLine.ts";
import { refute } from "./refute.ts";

const TARGET = ["--rpc-url", "http://127.0.0.1:1", "--chain-id", "1", "--market", `0x${"1".repeat(40)}`];

describe("the built command line", function () {
  let main: string;
  let folder: string;
  before(() => {
    main = builtCommandLine();
    folder = mkdtempSync(join(tmpdir(), "refute-"));
  });
  after(() => rmSync(folder, { recursive: true }));
  const start = (...args: string[]) => spawnSync(process.execPath, args, { encoding: "utf8", cwd: folder });

  it("startsInAnyFolder_withoutALoader", () => {
    const { status, stdout } = start(main, "--help");
    expect(status).to.equal(0);
    expect(stdout).to.match(/Usage: refute .*[\s\S]*worker/);
  });

  it("answerThatCannotBeWritten_isAnError_butAReaderThatWentAwayIsNone", function () {
    const shell = (redirected: string) =>
      spawnSync("sh", ["-c", `"$0" "$1" --version ${redirected}`, process.execPath, main], { encoding: "utf8" });
    expect(shell("| true")).to.include({ status: 0, stderr: "" });
    if (!existsSync("/dev/full")) return this.skip();
    const { status, stderr } = shell("> /dev/full");
    expect(status).to.equal(1);
    expect(stderr).to.match(/^refute: .*answer cannot be written \(.*ENOSPC.*\) \[ANSWER_LOST\]\n$/);
  });

  it("isNotBuiltAgain_whileTheSourcesAreTheSame", () => {
    const { mtimeMs } = statSync(main);
    expect(builtCommandLine()).to.equal(main);
    expect(statSync(main).mtimeMs).to.equal(mtimeMs);
  });

  it("nodeThatCannotExecute_isRefusedInOneLine", () => {
    const { status, stdout, stderr } = start("--jitless", main, "status");
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: "" });
    // What Node 22 itself says of the flag.
    const own = stderr.replace(/^Warning: disabling flag --expose_wasm.*\n/, "");
    expect(own).to.match(/^refute: this Node has no WebAssembly; .*--jitless.* \[CANNOT_RUN_HERE\]\n$/);
  });

  it("threads_startFromBuiltFiles", () => {
    const file = pathToFileURL(join(main, "../../executor/selfTest.js")).href;
    const script = `import { selfTestExecutor } from "${file}"; console.log((await selfTestExecutor()).threads);`;
    const { stdout, stderr } = start("--input-type=module", "--no-experimental-strip-types", "--eval", script);
    expect({ stdout, stderr }).to.deep.equal({ stdout: "2\n", stderr: "" });
  });

  it("declarationsForBrowsers_needNoTypesOfNode", () => {
    const declarations = join(main, "../../package/browser.d.ts");
    const program = ts.createProgram([declarations], {
      ...{
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        moduleResolution: ts.ModuleResolutionKind.Bundler,
      },
      ...{ lib: ["lib.es2023.d.ts", "lib.dom.d.ts"], types: [], strict: true, noEmit: true },
    });
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(join(main, "../../..")));
    expect(own.length).to.be.above(100);
    const problems = own.flatMap((file) => program.getSemanticDiagnostics(file));
    const told = problems.map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`,
    );
    expect(told).to.deep.equal([]);
    // What an editor shows at a name.
    expect(readFileSync(declarations.replace("browser", "requester"), "utf8")).to.include("/**");
  });

  it("stacks_nameTheSources", () => {
    const engine = pathToFileURL(join(main, "../../executor/reference.js")).href;
    const script = `process.setSourceMapsEnabled(true); const { executeReference } = await import("${engine}");
      try { executeReference(undefined, []); } catch (error) { console.log(error.stack); }`;
    expect(start("--input-type=module", "--eval", script).stdout).to.match(/src\/executor\/\w+\.ts:\d+/);
  });
});

describe("worker and watcher, on systems that nobody tried", () => {
  const { arch } = process;
  const onArm = (isArm: boolean) => Object.defineProperty(process, "arch", { value: isArm ? "arm64" : arch });
  afterEach(() => onArm(false));

  for (const role of ["worker", "watcher"])
    it(`${role}_refusesByName_beforeItReadsModelsOrKeys`, async () => {
      const mode = role === "watcher" ? ["--mode", "defend"] : [];
      const args = [role, ...mode, ...TARGET, "--models", "missing.json"];
      onArm(true);
      const refused = await refute(args);
      expect(refused.status).to.equal(1);
      expect(refused.output).to.match(/linux arm64 is not tried: .*--untried-platform.*\[CANNOT_RUN_HERE\]/);
      const willing = await refute([...args, "--untried-platform"]);
      expect(willing.output).to.match(/models file missing\.json.*\[USAGE\]/);
      const byVariable = await refute(args, { REFUTE_UNTRIED_PLATFORM: "true" });
      expect(byVariable.output).to.match(/models file missing\.json.*\[USAGE\]/);
    });
});
