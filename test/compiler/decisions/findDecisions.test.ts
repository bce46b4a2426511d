import { expect } from "chai";
import { isDecided, type DecidedOutput, type UndecidedOutput } from "../../../src/model/decision/decision.ts";
import { findDecisions } from "../../../src/compiler/decisions/findDecisions.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor, numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { buildModel, type AttributeValue, type ModelSpec, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";

type Attributes = Readonly<Record<string, AttributeValue>>;

/** A node with the output `y`, if no other is given. */
const node = (op: string, inputs: readonly string[], attributes: Attributes = {}, output = "y"): NodeSpec => ({
  ...{ op, name: op.toLowerCase(), inputs, outputs: op === "TopK" ? ["largest", output] : [output] },
  attributes,
});

const SPEC: ModelSpec = {
  inputs: [
    { name: "x", dtype: DType.float32, shape: [2, 3] },
    { name: "ids", dtype: DType.int64, shape: [2, 3] },
  ],
  outputs: [{ name: "y", dtype: DType.int64 }],
  nodes: [],
  initializers: {
    w: floatTensor([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]),
    hundred: floatTensor([100], []),
    two: int64Tensor([2]),
    names: int64Tensor([7, 8, 9]),
  },
};

/** What is found of the output `y` of these nodes after h = MatMul(x, w). */
function found(nodes: readonly NodeSpec[], more: Partial<ModelSpec> = {}): DecidedOutput | UndecidedOutput {
  const product = node("MatMul", ["x", "w"], {}, "h");
  return findDecisions(readModel(buildModel({ ...SPEC, ...more, nodes: [product, ...nodes] }))).outputs[0]!;
}

/** The decisions of `y`. */
function decisions(nodes: readonly NodeSpec[], more: Partial<ModelSpec> = {}) {
  const output = found(nodes, more);
  if (!isDecided(output)) throw new Error(output.reason);
  return output.decisions;
}

/** Why `y` is not decided. */
function reason(nodes: readonly NodeSpec[], more: Partial<ModelSpec> = {}): string {
  const output = found(nodes, more);
  return isDecided(output) ? `decided by ${output.decisions.length}` : output.reason;
}

describe("findDecisions", () => {
  it("eachKindOfDecision_namesItsTensorsAndParameters", () => {
    const cases: [NodeSpec, object][] = [
      [node("ArgMax", ["h"], { axis: 1 }), { kind: "argmax", axis: 1, largest: true }],
      [node("ArgMin", ["h"]), { kind: "argmax", axis: 0, largest: false }],
      [node("Hardmax", ["h"]), { kind: "argmax", axis: -1, largest: true }],
      [node("TopK", ["h", "two"], { largest: 0 }), { kind: "topk", axis: -1, k: 2, largest: false }],
      [node("Round", ["h"]), { kind: "rounding", boundaries: "halves" }],
      [node("Floor", ["h"]), { kind: "rounding", boundaries: "whole" }],
      [node("Ceil", ["h"]), { kind: "rounding", boundaries: "whole" }],
      [node("Cast", ["h"], { to: DType.uint8 }), { kind: "rounding", boundaries: "wholeButZero", range: [-1, 256] }],
      [node("Cast", ["h"], { to: DType.bool }), { kind: "sign" }],
      [node("Sign", ["h"]), { kind: "sign" }],
      [node("NonZero", ["h"]), { kind: "sign" }],
    ];
    for (const [decides, expected] of cases)
      expect(decisions([decides]), decides.op).to.deep.equal([
        { node: decides.name, operator: decides.op, tensors: ["h"], ...expected },
      ]);
    for (const op of ["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"])
      expect(decisions([node(op, ["hundred", "h"])])).to.deep.equal([
        { node: op.toLowerCase(), operator: op, tensors: ["hundred", "h"], kind: "comparison" },
      ]);
  });

  it("whatFollowsADecision_mayMoveCountAndDivideOnce", () => {
    const chosen = node("ArgMax", ["h"], { axis: 1, keepdims: 0 }, "a");
    expect(decisions([chosen, node("Gather", ["names", "a"])])).to.have.length(1);
    expect(decisions([chosen, node("Add", ["a", "two"], {}, "b"), node("Mul", ["b", "a"])])).to.have.length(1);
    expect(
      decisions([chosen, node("Cast", ["a"], { to: DType.float32 }, "f"), node("Identity", ["f"])]),
    ).to.have.length(1);
    const rounded = [node("Mul", ["h", "hundred"], {}, "s"), node("Round", ["s"], {}, "r")];
    const [decision] = decisions([...rounded, node("Div", ["r", "hundred"])]);
    expect(decision).to.include({ kind: "rounding", decimals: 2 });
    expect(reason([...rounded, node("Div", ["r", "hundred"], {}, "q"), node("Mul", ["q", "hundred"])])).to.contain(
      "floats of mul (Mul)",
    );
    expect(reason([...rounded, node("ReduceSum", ["r"])])).to.contain("floats of reducesum (ReduceSum)");
  });

  it("floatsThatReachAnOutput_areNamedByTheNodeThatRoundedThem", () => {
    expect(reason([node("Relu", ["h"], {}, "p"), node("Transpose", ["p"])])).to.equal(
      "it has floats of matmul (MatMul), which differ between machines",
    );
    expect(reason([node("Softmax", ["h"])])).to.contain("softmax (Softmax)");
    expect(reason([node("Where", ["c", "h", "hundred"]), node("Greater", ["h", "hundred"], {}, "c")])).to.contain(
      "matmul (MatMul)",
    );
    // The largest values themselves are floats; only their places are decided.
    const both = { outputs: [{ name: "largest", dtype: DType.float32 }] };
    expect(reason([node("TopK", ["h", "two"])], both)).to.contain("matmul (MatMul)");
  });

  it("decisionsBeforeFloats_belongToTheDecisionsBehindThem", () => {
    const nodes = [
      node("Greater", ["h", "hundred"], {}, "c"),
      node("Where", ["c", "h", "hundred"], {}, "chosen"),
      node("MatMul", ["chosen", "w"], {}, "again"),
      node("ArgMax", ["again"]),
    ];
    expect(decisions(nodes).map(({ tensors }) => tensors)).to.have.deep.members([["again"], ["h", "hundred"]]);
  });

  it("whatDependsOnNoFloat_isDecidedWithoutDecisions", () => {
    expect(decisions([node("Add", ["ids", "two"])])).to.deep.equal([]);
    expect(decisions([node("ArgMax", ["x"])])).to.deep.equal([]);
    expect(decisions([node("Shape", ["h"])])).to.deep.equal([]);
    expect(decisions([node("CumSum", ["ids", "two"])])).to.deep.equal([]);
    // Of given floats only the range of the type can be missed.
    expect(decisions([node("Cast", ["x"], { to: DType.int32 })])).to.deep.equal([
      {
        ...{ kind: "rounding", node: "cast", operator: "Cast", tensors: ["x"] },
        ...{ boundaries: "none", range: [-(2 ** 31), 2 ** 31] },
      },
    ]);
  });

  it("decisionOfConstantsOnly_saysSo", () => {
    const [decision] = decisions([node("Log", ["hundred"], {}, "l"), node("Cast", ["l"], { to: DType.int64 })]);
    expect(decision).to.include({ kind: "rounding", constant: true });
  });

  it("whatNoMarginIsReadOf_isNotDecided", () => {
    const argmax = node("ArgMax", ["u"]);
    expect(reason([node("IsNaN", ["h"])])).to.contain("isnan (IsNaN) jumps");
    expect(reason([node("ThresholdedRelu", ["h"], {}, "u"), argmax])).to.contain("thresholdedrelu (ThresholdedRelu)");
    expect(reason([node("DynamicQuantizeLinear", ["h"], {}, "u"), argmax])).to.contain("rounds to few bits");
    expect(reason([node("RandomNormalLike", ["h"], {}, "u"), argmax])).to.contain("draws random numbers");
    expect(reason([node("NoSuchOperator", ["h"], {}, "u"), argmax])).to.contain(
      "is not known to give one result on all machines",
    );
    expect(reason([node("TopK", ["h", "two"], { sorted: 0 })])).to.contain("in no order");
    expect(reason([node("Gather", ["ids", "two"], {}, "k"), node("TopK", ["h", "k"])])).to.contain("not constant");
    expect(reason([node("Hardmax", ["h"])], { opset: 12 })).to.contain("operator set 13");
  });

  it("whatRuntimesComputeOtherwise_isNotTakenForExact", () => {
    const float = { name: "x", dtype: DType.float32, shape: [2, 3] };
    const inputs = [float, { ...float, name: "z" }, { ...float, name: "n", dtype: DType.int32 }];
    const halves = ["a", "b", "c"].map((name) => ({ ...float, name, dtype: DType.float16 }));
    const all = { inputs: [...inputs, ...halves] };
    const kinds = (...nodes: NodeSpec[]): string[] => decisions(nodes, all).map(({ kind }) => kind);
    // The margin of what follows is read: a product of 16 bits that may not be rounded, and divisions that may be NaN.
    const greater = (a: string, b: string): NodeSpec => node("Greater", [a, b]);
    expect(kinds(node("Mul", ["a", "b"], {}, "d"), greater("d", "c"))).to.deep.equal(["comparison"]);
    expect(kinds(node("Div", ["x", "z"], {}, "d"), node("ArgMax", ["d"]))).to.deep.equal(["argmax"]);
    expect(kinds(node("Cast", ["x"], { to: DType.float16 }, "d"), greater("d", "c"))).to.deep.equal(["comparison"]);
    // One multiplication, or a division by a constant other than zero, is the same everywhere.
    expect(kinds(node("Mul", ["x", "z"], {}, "d"), node("ArgMax", ["d"]))).to.deep.equal([]);
    expect(kinds(node("Div", ["x", "hundred"], {}, "d"), node("ArgMax", ["d"]))).to.deep.equal([]);
    // The least integer divided by -1 ends the process of a runtime.
    expect(reason([node("Div", ["n", "n"])], all)).to.include("divides integers");
    expect(reason([node("Div", ["ids", "two"])])).to.equal("decided by 0");
  });

  it("largestElementsInNoOrder_areNotDecided_alsoOfGivenFloatsAndIntegers", () => {
    for (const input of ["x", "ids"])
      expect(reason([node("TopK", [input, "two"], { sorted: 0 })]), input).to.include("in no order");
    const one = { initializers: { ...SPEC.initializers, one: int64Tensor([1]) } };
    expect(reason([node("TopK", ["ids", "one"], { sorted: 0 })], one)).to.equal("decided by 0");
  });

  it("aDecisionWithinAFunction_cannotBeFetched", () => {
    const inner = [node("Exp", ["a"], {}, "e"), node("ArgMax", ["e"], {}, "b")];
    const f = { name: "Choose", domain: "test", inputs: ["a"], outputs: ["b"], nodes: inner };
    const call = { ...node("Choose", ["h"]), domain: "test" };
    expect(reason([call], { functions: [f] })).to.contain("within a function");
    // A value that the function takes can be.
    const outer = { ...f, nodes: [node("ArgMax", ["a"], {}, "b")] };
    expect(decisions([call], { functions: [outer] })[0]!.tensors).to.deep.equal(["h"]);
  });

  it("bodies_areLookedInto_andMayNotDecideThemselves", () => {
    const io = (name: string) => ({ name, dtype: DType.float32 });
    const body = (nodes: readonly NodeSpec[], inputs: string[], outputs: string[]) => ({
      graph: { inputs: inputs.map(io), outputs: outputs.map(io), nodes },
    });
    const branch = (inner: NodeSpec) => body([inner], [], ["r"]);
    const ifs = (condition: string, inner: NodeSpec) => {
      const branches = { then_branch: branch(inner), else_branch: branch(node("Neg", ["h"], {}, "r")) };
      return node("If", [condition], branches, "v");
    };
    const last = node("ArgMax", ["v"]);
    const limit = node("ReduceMax", ["h"], { keepdims: 0 }, "m");
    const condition = [limit, node("Greater", ["m", "hundred"], {}, "c")];
    const names = decisions([...condition, ifs("c", node("Exp", ["h"], {}, "r")), last]).map(
      ({ operator }) => operator,
    );
    expect(names).to.have.members(["Greater", "ArgMax"]);
    expect(reason([...condition, ifs("c", node("Round", ["h"], {}, "r")), last])).to.contain("decides within a body");

    const loop = (end: NodeSpec) =>
      node(
        "Loop",
        ["two", "", "h"],
        { body: body([end, node("Tanh", ["s"], {}, "next")], ["i", "on", "s"], ["end", "next"]) },
        "v",
      );
    expect(decisions([loop(node("Identity", ["on"], {}, "end")), last])).to.have.length(1);
    const random = node("RandomNormalLike", ["s"], {}, "end");
    expect(reason([loop(random), last])).to.contain("loop (Loop) runs as often as floats say");

    // What a loop carries is as bad as it becomes.
    const grows = [node("Add", ["s", "hundred"], {}, "next")];
    const given = node("Loop", ["two", "", "x"], { body: body(grows, ["i", "on", "s"], ["on", "next"]) }, "v");
    expect(reason([given, node("Identity", ["v"])])).to.contain("floats of add (Add)");

    const scan = { body: body([node("Exp", ["row"], {}, "out")], ["row"], ["out"]), num_scan_inputs: 1 };
    expect(decisions([node("Scan", ["h"], scan, "v"), last])).to.have.length(1);
  });

  it("carriedInputs_areAsTheOutputsThatTheyWere", () => {
    const spec = {
      ...SPEC,
      inputs: [...SPEC.inputs, { name: "state", dtype: DType.float32, shape: [2, 3] }],
      outputs: [
        { name: "y", dtype: DType.int64 },
        { name: "next", dtype: DType.float32 },
      ],
    };
    const model = (nodes: readonly NodeSpec[]) => readModel(buildModel({ ...spec, nodes }));
    const running = model([node("ArgMax", ["state"]), node("MatMul", ["state", "w"], {}, "next")]);
    expect(findDecisions(running).outputs[0]).to.deep.equal({ name: "y", decisions: [] });
    const [y] = findDecisions(running, { state: "next" }).outputs as [DecidedOutput];
    expect(y.decisions.map(({ tensors }) => tensors)).to.deep.equal([["state"]]);

    // What the item before decided belongs to this item's output.
    const decided = model([
      node("ArgMax", ["state"]),
      node("MatMul", ["x", "w"], {}, "h"),
      node("Round", ["h"], {}, "next"),
    ]);
    const [z] = findDecisions(decided, { state: "next" }).outputs as [DecidedOutput];
    expect(z.decisions.map(({ operator }) => operator)).to.deep.equal(["Round"]);
  });

  it("sumsOfIntegers_areNotDecided_becauseRuntimesSaturate", () => {
    const axes = { axes: [1] };
    for (const op of ["ReduceL1", "ReduceProd", "ReduceSumSquare"])
      expect(reason([node(op, ["ids"], axes)])).to.equal(
        `${op.toLowerCase()} (${op}) adds integers, which runtimes may saturate`,
      );
    expect(reason([node("ReduceSum", ["ids"])])).to.include("adds integers");
    expect(reason([node("Einsum", ["ids"], { equation: "ij->i" })])).to.include("adds integers");
    // What the shapes alone give is the same in every execution.
    expect(decisions([node("Shape", ["ids"], {}, "s"), node("ReduceProd", ["s"])])).to.deep.equal([]);
  });

  it("sumsOfIntegers_areDecided_whereNoPartialSumPassesTheType", () => {
    const MASK = node("Equal", ["ids", "two"], {}, "is");
    const cast = (from: string, to: DType, output = "m"): NodeSpec => node("Cast", [from], { to }, output);
    const sum = node("ReduceSum", ["m"], { keepdims: 0 });
    const shapes = { known: [2, 3], open: ["rows", 3] } as const;
    const why = (nodes: readonly NodeSpec[], shape: keyof typeof shapes = "known", masks: readonly string[] = []) => {
      const inputs = [
        { name: "x", dtype: DType.float32, shape: shapes[shape] },
        { name: "ids", dtype: DType.int64, shape: shapes[shape] },
        { name: "few", dtype: DType.int32, shape: shapes[shape] },
        { name: "bytes", dtype: DType.uint8, shape: shapes[shape] },
        { name: "flag", dtype: DType.bool, shape: [] },
      ];
      const initializers = {
        two: int64Tensor([2]),
        one: int64Tensor([1]),
        zero: int64Tensor([0], []),
        limit: int64Tensor([2 ** 50], []),
        past: int64Tensor([2 ** 51], []),
        table: int64Tensor([-5, 9, 7]),
        large: numberTensor(DType.int32, [-(2 ** 29), 2 ** 20]),
      };
      const file = buildModel({ ...SPEC, inputs, initializers, nodes });
      const output = findDecisions(readModel(file), {}, masks).outputs[0]!;
      return isDecided(output) ? "decided" : output.reason;
    };
    const undecided = "reducesum (ReduceSum) adds integers, which runtimes may saturate";
    const clip = (high: string) => node("Clip", ["ids", "zero", high], {}, "m");
    const decided: [string, NodeSpec[]][] = [
      ["a cast comparison", [MASK, cast("is", DType.int64), sum]],
      ["its opposite", [MASK, node("Not", ["is"], {}, "not"), cast("not", DType.int64), sum]],
      ["ones and zeros", [MASK, node("Where", ["is", "one", "zero"], {}, "m"), sum]],
      ["places", [node("ArgMax", ["ids"], { axis: 1 }, "m"), sum]],
      ["signs", [node("Sign", ["ids"], {}, "m"), sum]],
      ["six integers below 2^53 together", [clip("limit"), sum]],
      ["elements of a table", [node("Gather", ["table", "ids"], {}, "m"), sum]],
      ["one less a mask", [MASK, cast("is", DType.int64, "i"), node("Sub", ["one", "i"], {}, "m"), sum]],
      ["squares", [MASK, cast("is", DType.int32), node("ReduceSumSquare", ["m"], { keepdims: 0 })]],
      ["a product of ones", [MASK, cast("is", DType.int32), node("ReduceProd", ["m"], { keepdims: 0 })]],
      ["products of bytes", [cast("bytes", DType.int32), node("Einsum", ["m", "m"], { equation: "ij,ik->jk" })]],
      ["a sum of sums", [MASK, cast("is", DType.int64, "i"), node("ReduceSum", ["i", "one"], {}, "m"), sum]],
    ];
    for (const [what, nodes] of decided) expect(why(nodes), what).to.equal("decided");
    // Of a shape that is not known a tensor has fewer than 2^32 elements.
    expect(why([MASK, cast("is", DType.int64), sum], "open")).to.equal("decided");
    expect(why([MASK, cast("is", DType.int32), sum], "open")).to.equal(undecided);
    expect(why([cast("few", DType.int64), sum])).to.equal("decided");
    expect(why([clip("limit"), sum], "open")).to.equal(undecided);
    expect(why([node("Identity", ["ids"], {}, "m"), sum], "open", ["ids"])).to.equal("decided");
    expect(why([cast("ids", DType.int32), sum], "open", ["ids"])).to.equal("decided");

    const others: [string, NodeSpec[]][] = [
      ["inputs", [node("Identity", ["ids"], {}, "m"), sum]],
      ["six integers of 2^51", [clip("past"), sum]],
      ["int32", [node("Identity", ["few"], {}, "m"), sum]],
      ["six of 2^29", [node("Gather", ["large", "ids"], {}, "m"), sum]],
      ["no sign", [node("Sign", ["few"], {}, "s"), cast("s", DType.uint32), sum]],
      ["positions", [node("CumSum", ["ids", "one"], {}, "m"), sum]],
    ];
    for (const [what, nodes] of others) expect(why(nodes), what).to.equal(undecided);
    // 0 - 1 is 2^32 - 1 without a sign.
    expect(why([cast("bytes", DType.uint32, "w"), node("Sub", ["w", "w"], {}, "m"), sum])).to.equal(undecided);

    // What a loop adds up has no bound; a branch's has that of both.
    const io = (name: string, dtype: DType = DType.int64) => ({ name, dtype });
    const body = (next: NodeSpec) => ({
      graph: {
        inputs: [io("round"), io("on", DType.bool), io("s")],
        outputs: [io("on", DType.bool), io("next")],
        nodes: [next],
      },
    });
    const loop = (next: NodeSpec) => [
      ...[MASK, cast("is", DType.int64, "i")],
      node("Loop", ["two", "", "i"], { body: body(next) }, "m"),
    ];
    expect(why([...loop(node("Add", ["s", "s"], {}, "next")), sum])).to.equal(undecided);
    expect(why([...loop(node("Identity", ["s"], {}, "next")), sum])).to.equal("decided");
    const branch = (value: string) => ({
      graph: { inputs: [], outputs: [io("r")], nodes: [node("Identity", [value], {}, "r")] },
    });
    const branches = (no: string) => node("If", ["flag"], { then_branch: branch("one"), else_branch: branch(no) }, "m");
    expect(why([branches("table"), sum])).to.equal("decided");
    expect(why([branches("ids"), sum])).to.equal(undecided);
  });

  it("productsOfBytes_areDecided_onlyIfNoPairCanPass16Bits", () => {
    const bytes = (dtype: DType, values: readonly number[]) => ({
      dtype,
      shape: [2, 1],
      bytes: Uint8Array.from(values),
    });
    const inputs = [
      { name: "x", dtype: DType.uint8, shape: [1, 2] },
      { name: "v", dtype: DType.int8, shape: [2, 1] },
    ];
    const initializers = {
      few: bytes(DType.int8, [64, 256 - 64]),
      many: bytes(DType.int8, [65, 0]),
      least: bytes(DType.int8, [128, 0]),
      unsigned: bytes(DType.uint8, [255, 255]),
    };
    const why = (op: string, right: string): string => {
      const output = findDecisions(
        readModel(buildModel({ inputs, initializers, outputs: SPEC.outputs, nodes: [node(op, ["x", right])] })),
      ).outputs[0]!;
      return isDecided(output) ? `decided by ${output.decisions.length}` : output.reason;
    };
    for (const right of ["few", "unsigned"]) expect(why("MatMulInteger", right), right).to.equal("decided by 0");
    for (const right of ["many", "least", "v"])
      expect(why("MatMulInteger", right), right).to.equal(
        "matmulinteger (MatMulInteger) adds products of bytes, which some processors saturate",
      );
    for (const right of ["few", "unsigned"]) expect(why("ConvInteger", right), right).to.include("products of bytes");
  });
});
