import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { UsageError } from "../../src/cli/errors.ts";
import { readModels } from "../../src/cli/models.ts";
import { cacheKey } from "../../src/runs/programs/cacheKey.ts";
import { gpt2Decoder } from "../../testkit/models/exports/language.ts";
import { mlpBytes } from "../../testkit/models/mlp.ts";
import { refute } from "./refute.ts";

/** What `refute check --json` says of the outputs. */
type Decided = { decisions: { output: string; decisions?: object[]; undecided?: string }[] };

describe("refute --decide", function () {
  let folder: string;
  let mlp: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    mlp = join(folder, "mlp.onnx");
    writeFileSync(mlp, mlpBytes());
  });
  after(() => rmSync(folder, { recursive: true }));

  const check = async (...args: string[]): Promise<Decided["decisions"]> =>
    (JSON.parse((await refute(["check", ...args, "--json"])).stdout) as Decided).decisions;

  it("check_floatsThatDiffer_areNotDecided", async () => {
    const { output } = await refute(["check", mlp]);
    expect(output).to.match(/: needs exact execution: it has floats of .+, which differ between machines/);
    const [only, ...others] = await check(mlp);
    expect(others).to.deep.equal([]);
    expect(only).to.have.property("undecided").that.contains("which differ between machines");
  });

  it("check_appendedDecision_isPrintedWithItsTensorAndMargin", async () => {
    const [{ output: name }] = (await check(mlp)) as [Decided["decisions"][0]];
    const decide = ["--decide", `${name}=argmax`];
    const { status, output } = await refute(["check", mlp, ...decide]);
    expect(status).to.equal(0);
    expect(output)
      .to.contain(`${name}_argmax: decided by`)
      .and.contain(`of ${name} along axis -1; margin: the largest value minus the second largest of a row`);
    const [decided] = await check(mlp, ...decide);
    expect(decided!.decisions).to.have.length(1);
    expect(decided!.decisions![0]).to.include({ kind: "argmax", axis: -1, largest: true });

    const compiled = await refute(["model", "compile", mlp, ...decide]);
    expect(compiled.status).to.equal(0);
    expect(compiled.stdout).to.contain(`${name}_argmax`);
  });

  it("check_decoder_givesTokensThatLogitsDecide", async () => {
    const path = join(folder, "decoder.onnx");
    writeFileSync(path, gpt2Decoder("input").bytes);
    const flags = ["--decoder", "--slots", "4"];
    for (const drawn of [true, false]) {
      const [tokens, ...others] = await check(path, ...flags, ...(drawn ? [] : ["--greedy"]));
      expect(others).to.deep.equal([]);
      expect(tokens).to.deep.equal({
        output: "tokens",
        decisions: [{ kind: "token", node: "tokens", operator: "ArgMax", tensors: ["logits"], drawn }],
      });
    }
  });

  it("modelsFile_takesDecisions_whichAreAnotherProgram", async () => {
    const file = (decide: object): string => {
      const path = join(folder, "models.json");
      writeFileSync(path, JSON.stringify([{ path: mlp, ...decide }]));
      return path;
    };
    const [spec] = readModels(file({ decide: { y: "top5", z: "round=1" } }));
    expect(spec!.decide).to.deep.equal({ y: { kind: "top", k: 5 }, z: { kind: "round", decimals: 1 } });
    expect(await cacheKey(spec!)).not.to.equal(await cacheKey({ ...spec!, decide: undefined }));
    expect(() => readModels(file({ decide: { y: "best" } }))).to.throw(UsageError, /decide\.y: .*"best".*argmax/);
  });

  it("wrongDecisions_areWrongUsage_exit2", async () => {
    for (const [args, why] of [
      [["check", mlp, "--decide", "argmax"], /OUTPUT=DECISION.*\[USAGE\]/],
      [["check", mlp, "--decide", "y=best"], /"best".*expected argmax.*\[DECISION_APPEND\]/],
      [["check", mlp, "--decide", "nothing=argmax"], /no such output.*\[DECISION_APPEND\]/],
      [["run", mlp, "--decide", "y=argmax", "--compare"], /--compare.*\[USAGE\]/],
    ] as const) {
      const { status, stderr } = await refute(args);
      expect(status, args.join(" ")).to.equal(2);
      expect(stderr).to.match(why);
    }
  });
});
