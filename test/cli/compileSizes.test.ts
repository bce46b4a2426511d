import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { refute } from "./refute.ts";

describe("dimensions by name, and seeds as inputs, on the command line", () => {
  let folder: string;
  let model: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    model = join(folder, "model.onnx");
    writeFileSync(
      model,
      buildModel({
        inputs: [
          { name: "x", dtype: DType.float32, shape: ["batch", "sequence"] },
          { name: "y", dtype: DType.float32, shape: ["batch", "sequence"] },
        ],
        initializers: { three: floatTensor([1, 2, 3]) },
        outputs: [{ name: "z", dtype: DType.float32 }],
        nodes: [
          { op: "Mul", inputs: ["x", "three"], outputs: ["a"] },
          { op: "Add", inputs: ["a", "y"], outputs: ["z"] },
        ],
      }),
    );
  });
  after(() => rmSync(folder, { recursive: true }));

  type Sizes = { dimension: string; programs: { size: number; programRoot?: string; refused?: string }[] };

  it("compile_ofSeveralSizes_isAProgramEach_andARefusalEndsNone", async () => {
    const { status, stdout } = await refute([
      "model",
      "compile",
      model,
      "--dim",
      "batch=1",
      "--dim",
      "sequence=1,2,3",
      "--json",
    ]);
    expect(status).to.equal(1);
    const { dimension, programs } = JSON.parse(stdout) as Sizes;
    expect(dimension).to.equal("sequence");
    expect(programs.map(({ size, refused }) => [size, refused === undefined])).to.deep.equal([
      [1, true],
      [2, false],
      [3, true],
    ]);
    const alone = await refute(["model", "compile", model, "--dim", "batch=1", "--dim", "sequence=3", "--json"]);
    expect(alone.status).to.equal(0);
    expect((JSON.parse(alone.stdout) as { programRoot: string }).programRoot).to.equal(programs[2]!.programRoot);
    const text = await refute(["model", "compile", model, "--dim", "batch=2,4", "--dim", "sequence=3"]);
    expect(text.status).to.equal(0);
    expect(text.stdout)
      .to.match(/^batch +program root +steps/)
      .and.match(/\n2 +0x\w{64} +1 /);
  });

  it("compile_wrongDimensions_areRefusedByName", async () => {
    const twice = await refute(["model", "compile", model, "--dim", "batch=1,2", "--dim", "sequence=3,1"]);
    expect(twice.status).to.equal(2);
    expect(twice.stderr).to.contain('"batch" has several sizes already');
    const unknown = await refute(["model", "compile", model, "--dim", "length=3"]);
    expect(unknown.stderr).to.contain('no input has a dimension "length"; its inputs name "batch", "sequence"');
    const run = await refute(["run", model, "--dim", "sequence=1,3"]);
    expect(run.status).to.equal(2);
    expect(run.stderr).to.contain("refute model compile takes several");
  });

  it("run_seedAsInput_drawsWhatTheCompilersSeedDraws", async () => {
    const random = join(folder, "random.onnx");
    writeFileSync(
      random,
      buildModel({
        inputs: [],
        outputs: [{ name: "y", dtype: DType.float32 }],
        nodes: [{ op: "RandomNormal", inputs: [], outputs: ["y"], attributes: { shape: [3] } }],
      }),
    );
    const seed = join(folder, "seed.json");
    writeFileSync(seed, "[5]");
    type Answer = { programRoot: string; outputs: unknown[] };
    const { status, stdout } = await refute([
      "run",
      random,
      "--seed-input",
      "--input",
      `random_seed=${seed}`,
      "--json",
    ]);
    expect(status).to.equal(0);
    const { outputs, programRoot } = JSON.parse(stdout) as Answer;
    const known = JSON.parse((await refute(["run", random, "--seed", "5", "--json"])).stdout) as Answer;
    expect(outputs).to.deep.equal(known.outputs);
    expect(programRoot).to.not.equal(known.programRoot);
    const both = await refute(["run", random, "--seed-input", "--seed", "5"]);
    expect(both.stderr).to.contain("give one of both flags");
  });
});
