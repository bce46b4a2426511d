import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readModels } from "../../src/cli/models.ts";
import { compile } from "../../src/compiler/compile.ts";
import { DeployParametersError } from "../../src/chain/market/errors.ts";
import { OWN_EXAM_PLAN, readExamPlan } from "../../src/deploy/network/examClasses.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { loadModel } from "../../src/compiler/wraps/modelSpec.ts";
import { checkClassProgram } from "../../tools/verify/examClasses/check.ts";

describe("the zoo", function () {
  this.timeout(60_000);

  it("cheapestPrograms_areThoseOfItsFile_andDifferByNonce", async () => {
    const { classes } = readExamPlan(OWN_EXAM_PLAN);
    const specs = readModels("ignition/examClasses/models.json");
    for (const [k, nonces] of [
      [0, 40],
      [1, 6],
    ] as const) {
      const spec = specs[k]!;
      const program = knownProgram(compile(loadModel(spec).model, { shapes: spec.shapes }));
      expect(program.model.programRoot).to.equal(classes[k]!.programRoot);
      // What the contract roots: one input, the seed.
      expect(program.model.inputs.map(({ dtype, shape }) => [dtype, shape])).to.have.length(1);
      const { milliseconds, ...found } = await checkClassProgram(program, nonces);
      expect(milliseconds).to.be.greaterThan(0);
      expect(found).to.deep.equal({ roots: nonces, results: nonces, nans: 0 });
    }
  });

  it("zooFile_thatIsNone_isRefusedByName", () => {
    const folder = mkdtempSync(join(tmpdir(), "refute-zoo-"));
    const refusalOf = (text: string): string => {
      const path = join(folder, "zoo.json5");
      writeFileSync(path, text);
      try {
        readExamPlan(path);
        return "taken";
      } catch (error) {
        expect(error).to.be.instanceOf(DeployParametersError);
        return (error as Error).message;
      }
    };
    const good = { odds: 8, spacing: 256, classes: [{ programRoot: `0x${"12".repeat(32)}`, blocks: 16 }] };
    const bad = (changes: object): string => refusalOf(JSON.stringify({ ...good, ...changes }));
    expect(bad({})).to.equal("taken");
    expect(refusalOf("{")).to.match(/is not JSON5/);
    expect(bad({ odds: 0 })).to.match(/odds/);
    expect(bad({ spacing: 255 })).to.match(/spacing/);
    expect(bad({ classes: [] })).to.match(/classes/);
    expect(bad({ classes: [{ programRoot: "0x12", blocks: 16 }] })).to.match(/classes.0.programRoot.*program root/);
    expect(bad({ classes: [{ ...good.classes[0], blocks: 257 }] })).to.match(/classes.0.blocks/);
    // 16 blocks of 2 s, for 16 exams 256 blocks apart: 32 s, 8,192 s.
    const gpu = { gpu: "a card", gpuSeconds: 24, cpuSeconds: 64, watcherSeconds: 4_096, blockSeconds: 2 };
    const ofGpu = (changes: object | string): string => {
      const calibrated = typeof changes === "string" ? changes : { ...gpu, ...changes };
      return bad({ classes: [{ ...good.classes[0], gpu: calibrated }] });
    };
    expect(ofGpu({})).to.equal("taken");
    expect(ofGpu("not calibrated")).to.match(
      /classes\.0, which is for GPUs and not calibrated: measure it \(npm run measure/,
    );
    expect(ofGpu({ gpuSeconds: 24.1 })).to.match(/gives 32 s, and a card takes 24\.1 s/);
    expect(ofGpu({ cpuSeconds: 63 })).to.match(/without a GPU it takes 63 s/);
    expect(ofGpu({ watcherSeconds: 4_097 })).to.match(/a watcher executes in 4097 s.*challenged for 8192 s/);
    expect(ofGpu({ gpuSeconds: 0 })).to.match(/classes\.0\.gpu/);
    rmSync(folder, { recursive: true });
  });
});
