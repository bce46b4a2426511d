import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toBinary } from "@bufbuild/protobuf";
import { expect } from "chai";
import { TensorProtoSchema } from "onnx-buf";
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { readNpy } from "../../src/model/onnx/inputs/npy.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { refute } from "./refute.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { buildModel, tensorProto } from "../../testkit/onnx/onnxBuilder.ts";

describe("refute check, run and conform", function () {
  let folder: string;
  let mlp: string;
  const file = (name: string, data: string | Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, data);
    return path;
  };
  const proto = (tensor: TensorData): Uint8Array => toBinary(TensorProtoSchema, tensorProto("", tensor));
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    mlp = file("mlp.onnx", mlpBytes());
  });
  after(() => rmSync(folder, { recursive: true }));

  const unknown = (): string =>
    file(
      "unknown.onnx",
      buildModel({
        inputs: [{ name: "x", dtype: DType.float32, shape: [2] }],
        outputs: [{ name: "y", dtype: DType.float32 }],
        nodes: [
          { op: "NoSuchOperator", name: "here", inputs: ["x"], outputs: ["a"] },
          { op: "Relu", inputs: ["a"], outputs: ["y"] },
        ],
      }),
    );

  it("check_modelThatCanBeServed_isDescribed_exit0", async () => {
    const { status, output } = await refute(["check", mlp]);
    expect(status).to.equal(0);
    expect(output)
      .to.match(/^can be served/)
      .and.match(/MatMul 2/)
      .and.match(/worst dispute +\d+ transactions, \d+ gas/);
    const { program } = JSON.parse((await refute(["check", mlp, "--json"])).output) as { program: object };
    expect(program).to.include({
      programRoot: mlpProgram().model.programRoot,
      parameters: 64 * 300 + 300 + 3_000 + 10,
    });
  });

  it("check_modelThatCannot_isRefusedByOperatorAndNode_exit1", async () => {
    const { status, output } = await refute(["check", unknown()]);
    expect(status).to.equal(1);
    expect(output)
      .to.match(/CANNOT be served/)
      .and.match(/NoSuchOperator +here/)
      .and.contain("1 nodes");
  });

  it("check_modelThatTheReaderRefuses_isStillListed", async () => {
    const path = file(
      "strings.onnx",
      buildModel({
        inputs: [
          { name: "x", dtype: DType.float32, shape: ["n", 3] },
          { name: "s", dtype: 8 as DType, shape: [1] },
        ],
        outputs: [{ name: "y", dtype: DType.float32 }],
        nodes: [
          { op: "StringNormalizer", name: "letters", inputs: ["s"], outputs: ["t"] },
          { op: "Relu", inputs: ["x"], outputs: ["r"] },
          { op: "NoSuchOperator", name: "here", inputs: ["r"], outputs: ["y"] },
        ],
      }),
    );
    const { status, output } = await refute(["check", path, "--shape", "x=2,3"]);
    expect(status).to.equal(1);
    expect(output)
      .to.match(/input "s" has the element type string/)
      .and.match(/StringNormalizer +letters/)
      .and.match(/NoSuchOperator +here/)
      .and.match(/operators .*Relu 1,/);
    const open = await refute(["check", path]);
    expect(open.output)
      .to.match(/the input "x" \[n, 3\] leaves "n" open: give its shape/)
      .and.match(/NoSuchOperator +here/);
  });

  it("check_newerOperatorSet_isNamed_andTheRestJudged", async () => {
    const io = { dtype: DType.float32, shape: [2] };
    const nodes = [{ op: "Relu", inputs: ["x"], outputs: ["y"] }];
    const bytes = buildModel({ opset: 99, inputs: [{ name: "x", ...io }], outputs: [{ name: "y", ...io }], nodes });
    const { status, output } = await refute(["check", file("new.onnx", bytes)]);
    expect(status).to.equal(1);
    expect(output)
      .to.match(/refused \(1\)/)
      .and.match(/operator set 99/);
  });

  it("check_refusalInABody_namesItsNode_andGoesOn", async () => {
    const io = { dtype: DType.float32, shape: [2] };
    const branch = (op: string) => ({
      graph: {
        inputs: [],
        outputs: [{ name: "r", dtype: DType.float32 }],
        nodes: [{ op, name: `in${op}`, inputs: ["x"], outputs: ["r"] }],
      },
    });
    const bytes = buildModel({
      inputs: [
        { name: "x", ...io },
        { name: "c", dtype: DType.bool, shape: [] },
      ],
      outputs: [{ name: "y", ...io }],
      nodes: [
        {
          op: "If",
          inputs: ["c"],
          outputs: ["a"],
          attributes: { then_branch: branch("Unknown"), else_branch: branch("Neg") },
        },
        { op: "AlsoUnknown", name: "after", inputs: ["a"], outputs: ["y"] },
      ],
    });
    const { status, output } = await refute(["check", file("body.onnx", bytes)]);
    expect(status).to.equal(1);
    expect(output)
      .to.match(/Unknown +inUnknown/)
      .and.match(/AlsoUnknown +after/)
      .and.match(/Neg 1/);
  });

  it("check_fileThatIsNoModel_isRefused", async () => {
    const { status, output } = await refute(["check", file("text.onnx", "not a model")]);
    expect(status).to.equal(1);
    expect(output).to.contain("[MODEL_");
  });

  it("run_onProtoNpyOrJson_givesTheSameOutput", async () => {
    const tensor: TensorData = { dtype: DType.float32, shape: [1, 64], bytes: mlpInput(3) };
    const values = Array.from(new Float32Array(Uint8Array.from(tensor.bytes).buffer));
    const inputs = [file("x.pb", proto(tensor)), file("x.json", JSON.stringify([values]))];
    const outputs: { values: number[] }[][] = [];
    for (const path of inputs) {
      const { status, output } = await refute(["run", mlp, "--input", `x=${path}`, "--json"]);
      expect(status, output).to.equal(0);
      outputs.push((JSON.parse(output) as { outputs: { values: number[] }[] }).outputs);
    }
    expect(outputs[0]).to.deep.equal(outputs[1]);
    expect(outputs[0]![0]!.values.reduce((sum, value) => sum + value, 0)).to.be.closeTo(1, 1e-6);
  });

  it("run_writesOutputsToFiles_andPrintsNoneOfTheirElements", async () => {
    const path = file("w.pb", proto({ dtype: DType.float32, shape: [1, 64], bytes: mlpInput(5) }));
    const args = ["run", mlp, "--input", `x=${path}`, "--json"];
    const { outputs: printed } = JSON.parse((await refute(args)).output) as { outputs: { values: number[] }[] };
    const to = join(folder, "y.npy");
    const { status, output } = await refute([...args, "--output", `y=${to}`]);
    expect(status, output).to.equal(0);
    expect((JSON.parse(output) as { outputs: object[] }).outputs).to.deep.equal([
      { name: "y", type: "float32", shape: [1, 10], file: to },
    ]);
    const { bytes } = readNpy(readFileSync(to), to);
    expect([...new Float32Array(bytes.buffer)]).to.deep.equal(printed[0]!.values);
  });

  it("run_ofLongOutputs_printsNoJson_unlessFilesTakeThem", async () => {
    const model = file(
      "long.onnx",
      buildModel({
        inputs: [{ name: "x", dtype: DType.bool, shape: [1] }],
        outputs: [{ name: "y", dtype: DType.bool }],
        initializers: { size: int64Tensor([10_000_001]) },
        nodes: [{ op: "Expand", inputs: ["x", "size"], outputs: ["y"] }],
      }),
    );
    const args = ["run", model, "--input", `x=${file("b.json", "[true]")}`, "--json"];
    const refused = await refute(args);
    expect(refused.status).to.equal(2);
    expect(refused.output).to.contain("10000001 elements").and.contain("--output y=FILE.npy");
    const { status, output } = await refute([...args, "--output", `y=${join(folder, "long.npy")}`]);
    expect(status, output).to.equal(0);
    expect(statSync(join(folder, "long.npy")).size).to.equal(128 + 10_000_001);
  });

  it("run_compared_namesOutputsThatNoInputReaches", async () => {
    const model = file(
      "constant.onnx",
      buildModel({
        inputs: [{ name: "x", dtype: DType.float32, shape: [2] }],
        outputs: ["y", "z"].map((name) => ({ name, dtype: DType.float32 })),
        initializers: { a: floatTensor([1, 2]) },
        nodes: [
          { op: "Relu", inputs: ["x"], outputs: ["y"] },
          { op: "Neg", inputs: ["a"], outputs: ["z"] },
        ],
      }),
    );
    const args = ["run", model, "--input", `x=${file("two.json", "[1, 2]")}`, "--compare"];
    expect((await refute(args)).output).to.match(/^z .* a constant: no input reaches it/m);
    const { comparison } = JSON.parse((await refute([...args, "--json"])).output) as {
      comparison: { outputs: { name: string; constant?: true }[] };
    };
    expect(comparison.outputs.map(({ name, constant }) => [name, constant])).to.deep.equal([
      ["y", undefined],
      ["z", true],
    ]);
  });

  it("check_endsWithACommandToPaste", async () => {
    const served = await refute(["check", mlp]);
    expect(served.output.trimEnd().split("\n").at(-1)).to.equal(`next: refute run ${mlp} --input x=x.json`);
    const open = file(
      "open.onnx",
      buildModel({
        inputs: [{ name: "x", dtype: DType.float32, shape: ["n", 3] }],
        outputs: [{ name: "y", dtype: DType.float32 }],
        nodes: [{ op: "Relu", inputs: ["x"], outputs: ["y"] }],
      }),
    );
    for (const flags of [[], ["--shape", "x=7,4"]]) {
      const { stdout, stderr } = await refute(["check", open, ...flags]);
      const size = flags.length === 0 ? 1 : 7;
      expect(stdout).to.include(`next: refute check ${open} --shape x=${size},3`);
      expect(stderr).to.match(/cannot be judged/);
    }
  });

  it("run_compared_showsThatOnnxruntimeIsWithinTolerance", async () => {
    const path = file("c.pb", proto({ dtype: DType.float32, shape: [1, 64], bytes: mlpInput(4) }));
    const { status, output } = await refute(["run", mlp, "--input", `x=${path}`, "--compare"]);
    expect(status, output).to.equal(0);
    expect(output)
      .to.match(/y +\d\.\d\de-\d+ +\d+/)
      .and.match(/no tensor differs .*\([2-9] compared\)/);
  });

  it("run_compared_whereOnnxruntimeRefusesTheModel_givesTheResultAndSaysSo", async () => {
    const model = file(
      "sequence.onnx",
      buildModel({
        opset: 27,
        inputs: [{ name: "x", dtype: DType.float32, shape: [3] }],
        outputs: [{ name: "y", dtype: DType.float32 }],
        initializers: { axis: int64Tensor([0], []) },
        nodes: [{ op: "CumProd", inputs: ["x", "axis"], outputs: ["y"] }],
      }),
    );
    const args = ["run", model, "--input", `x=${file("three.json", "[1, 2, 3]")}`, "--compare"];
    const { status, output } = await refute(args);
    expect(status, output).to.equal(0);
    expect(output)
      .to.match(/y float32\[3\]: 1, 2, 6/)
      .and.match(/not compared: onnxruntime refuses the model: /);
    const json = JSON.parse((await refute([...args, "--json"])).output) as { comparison: { refused: string } };
    expect(json.comparison.refused).to.include("onnxruntime refuses");
  });

  it("run_withUnfitInputs_namesThem", async () => {
    const wrongType = file("i.json", "[[1]]");
    const cases: [string[], RegExp][] = [
      [[], /input x is missing/],
      [["--input", `z=${wrongType}`], /no input z; its inputs are x/],
      [["--input", "x"], /expected NAME=FILE/],
      [["--input", `x=${join(folder, "absent.npy")}`], /absent\.npy.*cannot be read/],
      [["--input", `x=${wrongType}`], /\[1, 1\] does not fit the input "x" \[1, 64\]/],
      [["--input", `x=${file("x.txt", "1")}`], /\.pb, \.npy or \.json/],
      [["--input", `x=${file("d.pb", proto({ dtype: DType.int64, shape: [1], bytes: new Uint8Array(8) }))}`], /int64/],
    ];
    for (const [args, expected] of cases) {
      const { status, output } = await refute(["run", mlp, ...args]);
      expect(status, output).to.be.oneOf([1, 2]);
      expect(output).to.match(expected);
    }
  });

  it("bind_makesAnInputPartOfTheProgram_andSeedMakesRandomOperatorsRun", async () => {
    const model = file(
      "bound.onnx",
      buildModel({
        inputs: [
          { name: "x", dtype: DType.float32, shape: [2] },
          { name: "times", dtype: DType.int64, shape: [1] },
        ],
        outputs: [
          { name: "y", dtype: DType.float32 },
          { name: "r", dtype: DType.float32 },
        ],
        nodes: [
          { op: "Tile", inputs: ["x", "times"], outputs: ["y"] },
          { op: "RandomUniform", inputs: [], outputs: ["r"], attributes: { shape: [2] } },
        ],
      }),
    );
    const x = `x=${file("b.json", "[1, 2]")}`;
    const given = ["run", model, "--input", x, "--bind", "times=3", "--json"];
    const values = async (seed: string): Promise<number[][]> => {
      const { status, output } = await refute([...given, "--seed", seed]);
      expect(status, output).to.equal(0);
      return (JSON.parse(output) as { outputs: { values: number[] }[] }).outputs.map((o) => o.values);
    };
    const [y, r] = await values("7");
    expect(y).to.deep.equal([1, 2, 1, 2, 1, 2]);
    expect((await values("7"))[1]).to.deep.equal(r);
    expect((await values("8"))[1]).to.not.deep.equal(r);
    const cases: [string[], RegExp][] = [
      [given, /RandomUniform .*seed/],
      [["run", model, "--input", x, "--bind", "n=3"], /no input n; its inputs are x, times/],
      [["run", model, "--input", x, "--bind", "times=[1, 2]"], /\[2\] does not fit the input "times" \[1\]/],
      [["run", model, "--input", x, "--bind", "times=1.5"], /1\.5, which is no int64/],
      [["run", model, "--input", x, "--bind", "times=three"], /expected a JSON value, or a file/],
      [["run", model, "--input", x, "--seed", "-1"], /below 2\^64/],
    ];
    for (const [args, expected] of cases) {
      const { status, output } = await refute(args);
      expect(status, output).to.be.oneOf([1, 2]);
      expect(output).to.match(expected);
    }
  });

  it("conform_countsRightWrongAndRefusedCases", async () => {
    const suite = join(folder, "suite");
    const makeCase = (name: string, op: string, expected: readonly number[]): void => {
      mkdirSync(join(suite, name, "test_data_set_0"), { recursive: true });
      const io = { dtype: DType.float32, shape: [2] };
      const nodes = [{ op, inputs: ["x"], outputs: ["y"] }];
      const model = buildModel({ inputs: [{ name: "x", ...io }], outputs: [{ name: "y", ...io }], nodes });
      writeFileSync(join(suite, name, "model.onnx"), model);
      writeFileSync(join(suite, name, "test_data_set_0", "input_0.pb"), proto(floatTensor([-1, 2])));
      writeFileSync(join(suite, name, "test_data_set_0", "output_0.pb"), proto(floatTensor(expected)));
    };
    makeCase("a_right", "Relu", [0, 2]);
    makeCase("b_refused", "NoSuchOperator", [0, 2]);
    const good = await refute(["model", "conform", suite]);
    expect(good.status).to.equal(0);
    expect(good.output).to.match(/b_refused: refused: NoSuchOperator .*\n1 passed, 0 failed, 1 refused$/);
    makeCase("c_wrong", "Relu", [0, 2.5]);
    const bad = await refute(["model", "conform", suite]);
    expect(bad.status).to.equal(1);
    expect(bad.output).to.match(/c_wrong: failed: .*element 1 is 2, expected 2\.5/);
    expect(bad.output).to.contain("1 passed, 1 failed, 1 refused");
    expect((await refute(["model", "conform", join(folder, "nowhere")])).output).to.contain("cannot read the folder");
  });
});
