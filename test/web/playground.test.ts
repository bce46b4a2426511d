import { expect } from "chai";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { mlpBytes } from "../../testkit/models/mlp.ts";
import { rejection } from "../../testkit/rejection.ts";
import { playDispute } from "../../web/playground/dispute.ts";
import { drawInputs, openModel, outputViews, runExactly, type Exact } from "../../web/playground/engine.ts";
import { exactly } from "../../web/playground/execute.ts";
import { railsOf, widthOf } from "../../web/playground/rails.ts";
import { dirname, isAbsolute, join, normalize, relative } from "../../web/platform/path.ts";

const silent = (): void => undefined;

/** A name that is markup, and turns the direction of what follows. */
const HOSTILE = `<img src=x onerror="alert(1)">\u202e\u0000`;

/** A model of one float input of a shape that it leaves open, with one node. */
const oneNode = (op: string, shape: readonly (number | string)[] = [1, 8]): Uint8Array =>
  buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape }],
    outputs: [{ name: "y", dtype: DType.float32, shape }],
    initializers: {},
    nodes: [{ op, inputs: ["x"], outputs: ["y"], name: HOSTILE }],
  });

describe("web: the playground's engine", () => {
  const mlp = openModel("mlp.onnx", mlpBytes(), {}, silent);
  let exact: Exact;
  before(async () => {
    const compiled = mlp.compiled!;
    exact = await runExactly(compiled, await exactly(compiled), drawInputs(compiled, new Map(), 1), silent);
  });

  it("kernels_giveTheBitsOfTheDefinition", () => {
    expect(exact.how.by).to.equal("kernels");
    expect(exact.tensors).to.deep.equal(executeReference(mlp.compiled!, exact.inputs));
  });

  it("whatIsNotGivenTheMemory_isExecutedByTheDefinition", async () => {
    const how = await exactly(mlp.compiled!);
    let reported = 0;
    const progress = (): void => {
      if (reported++ === 0) throw new RangeError("Array buffer allocation failed");
    };
    expect(await how.run(exact.inputs, { progress })).to.deep.equal(exact.tensors);
    expect(how.by).to.equal("definition");
    expect(await how.run(exact.inputs, {})).to.deep.equal(exact.tensors);
  });

  it("otherErrors_areNotHidden", async () => {
    const how = await exactly(mlp.compiled!);
    const progress = (): never => {
      throw new TypeError("a bug");
    };
    expect(await rejection(how.run(exact.inputs, { progress }))).to.be.instanceOf(TypeError);
    expect(how.by).to.equal("kernels");
  });

  it("model_isReported_withItsGraphAndSteps", () => {
    const { report, graph, steps } = mlp.view;
    expect(report).to.include({ served: true, source: "mlp.onnx" });
    expect(graph.map(({ operator }) => operator)).to.deep.equal(["MatMul", "Add", "Relu", "MatMul", "Add", "Softmax"]);
    expect(graph.map(({ reads }) => reads)).to.deep.equal([[], [0], [1], [2], [3], [4]]);
    expect(steps.length).to.equal(report.program!.steps);
    expect(steps.filter(({ isCheckpoint }) => isCheckpoint).length).to.equal(report.program!.checkpoints);
  });

  it("refusals_areThoseOfTheCompiler", () => {
    const { view, compiled } = openModel("m", oneNode("NoSuchOperator"), {}, silent);
    expect(compiled).to.equal(undefined);
    expect(view.report.served).to.equal(false);
    expect(view.graph[0]!.refusal).to.be.a("string");
  });

  it("openShapes_areAskedFor_andTaken", () => {
    const bytes = oneNode("Relu", ["batch", 8]);
    expect(openModel("m", bytes, {}, silent).view.report.refusals[0]!.code).to.equal("COMPILE_INPUT_SHAPE");
    expect(openModel("m", bytes, { x: [2, 8] }, silent).view.report.served).to.equal(true);
  });

  it("whatIsNoModel_isRefused", () => {
    expect(() => openModel("m", Uint8Array.of(1, 2, 3), {}, silent)).to.throw();
  });

  it("differingBits_areCounted_andShownFirst", () => {
    const [own] = outputViews(exact, undefined);
    expect(own).to.include({ name: "y", count: 10, differing: undefined });
    const { checkpoints, outputs } = exact.program.model.program;
    const bytes = exact.tensors[checkpoints[outputs[0]!]!.step]!.slice();
    bytes[4 * 7]! ^= 1;
    const [beside] = outputViews(exact, new Map([["y", bytes]]));
    expect(beside!.differing).to.equal(1);
    const changed = beside!.elements.find(({ bits, plain }) => bits !== plain!.bits);
    expect(changed!.index).to.equal(7);
  });

  it("everyChangedNumber_isFound", async () => {
    for (const [step, { count }] of exact.program.model.program.steps.entries()) {
      const element = count - 1;
      const played = await playDispute(exact, { step, element }, silent);
      expect(played).to.include({ step, element });
      expect(played.claimed).to.not.equal(played.exact);
      expect(played.sum!.claimed).to.not.equal(played.sum!.exact);
    }
  });

  it("lastSum_isThatOfAMatrixProduct", async () => {
    const { sum } = await playDispute(exact, { step: 0, element: 299 }, silent);
    expect(sum).to.include({ reduce: "dot", count: 64, dtype: "float32", elementBytes: 4 });
    const total = sum!.terms.reduce((all, { factors: [a, b] }) => all + Number(a) * Number(b), Number(sum!.others[0]));
    expect(Math.fround(total)).to.be.closeTo(Number(sum!.exact), 1e-6);
  });
});

describe("web: the graph as a list", () => {
  it("values_haveALane_untilTheyAreReadLast", () => {
    const rails = railsOf([{ reads: [] }, { reads: [0] }, { reads: [0] }, { reads: [1, 2] }, { reads: [3] }]);
    expect(rails.map(({ lane }) => lane)).to.deep.equal([0, 1, 0, 0, 0]);
    expect(rails.map(({ reads }) => reads)).to.deep.equal([[], [0], [0], [1, 0], [0]]);
    expect(widthOf(rails)).to.equal(2);
  });

  it("manyValuesThatAreReadLate_takeFewLanes", () => {
    const graph = Array.from({ length: 30_000 }, (_, k) => ({ reads: k < 20_000 ? [] : [k - 20_000] }));
    expect(widthOf(railsOf(graph))).to.be.at.most(33);
  });

  it("longChains_needOneLane", () => {
    const chain = Array.from({ length: 10_000 }, (_, k) => ({ reads: k === 0 ? [] : [k - 1] }));
    expect(widthOf(railsOf(chain))).to.equal(1);
  });
});

describe("web: paths without files", () => {
  it("paths_areThoseOfNode", () => {
    expect([dirname("a/b/c"), dirname("c"), dirname("/c")]).to.deep.equal(["a/b", "", ""]);
    expect([normalize("a/./b//../c"), normalize("../a"), normalize("")]).to.deep.equal(["a/c", "../a", "."]);
    expect([join("a", "", "b"), join("/a", "../b"), isAbsolute("/a")]).to.deep.equal(["a/b", "/b", true]);
    expect([relative("a/b", "a/c/d"), relative("a", "a/b")]).to.deep.equal(["../c/d", "b"]);
  });
});
