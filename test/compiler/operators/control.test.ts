import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { expectAgreement, modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";

const F = DType.float32;
const bool = (value: boolean) => ({ dtype: DType.bool, shape: [], bytes: Uint8Array.of(Number(value)) });
const lstm = floatTensor([0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.7, 0.8], [1, 4, 2]);
const square = floatTensor([0.25, -0.5, 0.75, 1], [1, 4, 1]);

/** Two branches over a captured value; one is a recurrent cell. */
const branches = (condition: Pick<Experiment, "operands" | "initializers">): Experiment => ({
  opset: 16,
  operands: { x: floatTensor([1, 2, -3, 4, 0.5, 6], [3, 1, 2]), ...condition.operands },
  initializers: { w: lstm, r: square, ...condition.initializers },
  nodes: [
    { op: "Relu", inputs: ["x"], outputs: ["captured"] },
    {
      op: "If",
      inputs: ["c"],
      outputs: ["y"],
      attributes: {
        then_branch: {
          graph: {
            inputs: [],
            outputs: [{ name: "yes", dtype: F }],
            nodes: [
              { op: "LSTM", inputs: ["captured", "w", "r"], outputs: ["", "yes"], attributes: { hidden_size: 1 } },
            ],
          },
        },
        else_branch: {
          graph: {
            inputs: [],
            outputs: [{ name: "no", dtype: F }],
            nodes: [
              { op: "ReduceSum", inputs: ["captured"], outputs: ["total"], attributes: { keepdims: 1 } },
              { op: "Neg", inputs: ["total"], outputs: ["no"] },
            ],
          },
        },
      },
    },
  ],
  outputs: { y: F },
});

const loop = (trips: Pick<Experiment, "operands" | "initializers">): Experiment => ({
  opset: 16,
  operands: { x: floatTensor([1, 2, 3]), ...trips.operands },
  initializers: { go: bool(true), ...trips.initializers },
  nodes: [
    {
      op: "Loop",
      inputs: ["n", "go", "x"],
      outputs: ["y", "all"],
      attributes: {
        body: {
          graph: {
            inputs: [
              { name: "i", dtype: DType.int64, shape: [] },
              { name: "go_in", dtype: DType.bool, shape: [] },
              { name: "v", dtype: F, shape: [3] },
            ],
            outputs: [
              { name: "go_out", dtype: DType.bool },
              { name: "w", dtype: F },
              { name: "each", dtype: F },
            ],
            nodes: [
              { op: "Identity", inputs: ["go_in"], outputs: ["go_out"] },
              { op: "Cast", inputs: ["i"], outputs: ["f"], attributes: { to: F } },
              { op: "Mul", inputs: ["v", "x"], outputs: ["m"] },
              { op: "Add", inputs: ["m", "f"], outputs: ["w"] },
              { op: "Sub", inputs: ["w", "v"], outputs: ["each"] },
            ],
          },
        },
      },
    },
  ],
  outputs: { y: F, all: F },
});

describe("control flow and sequences", () => {
  for (const value of [true, false]) {
    it(`ifOnAConstant_${value}_takesItsBranch`, () =>
      expectAgreement(branches({ operands: {}, initializers: { c: bool(value) } }), "If"));

    it(`ifOnData_${value}_choosesBetweenBothBranches`, () =>
      expectAgreement(branches({ operands: { c: bool(value) } }), "If"));
  }

  it("loopOfKnownLength_isUnrolled", () =>
    expectAgreement(loop({ operands: {}, initializers: { n: int64Tensor([4], []) } }), "Loop"));

  it("loopOfUnknownLength_isRefusedByName", () => {
    const bytes = modelOf(loop({ operands: { n: int64Tensor([4], []) } }));
    const call = () => compile(readModel(bytes), { shapes: {} });
    expect(call).to.throw(UnsupportedOperatorError, "compile time").with.property("attribute", "M");
  });

  for (const [what, n, go] of [
    ["ofNoTrip", 0, true],
    ["withAFalseCondition", 3, false],
  ] as const)
    it(`loop${what[0]!.toUpperCase()}${what.slice(1)}_givesNoSlices`, () => {
      const given = loop({ operands: {}, initializers: { n: int64Tensor([n], []), go: bool(go) } });
      const more = [
        { op: "Shape", inputs: ["all"], outputs: ["dims"] },
        { op: "Concat", inputs: ["all", "row"], outputs: ["rows"], attributes: { axis: 0 } },
      ];
      return expectAgreement(
        {
          ...given,
          initializers: { ...given.initializers, row: floatTensor([7, 8, 9], [1, 3]) },
          nodes: [...given.nodes, ...more],
          outputs: { y: F, dims: DType.int64, rows: F },
        },
        "Loop",
      );
    });

  for (const opset of [8, 16])
    it(`scanOfNothing_ofOperatorSet${opset}_givesNoSlices`, () => {
      const batch = opset === 8 ? [1] : [];
      const body = {
        inputs: [
          { name: "s", dtype: F, shape: [2] },
          { name: "e", dtype: F, shape: [2] },
        ],
        outputs: [
          { name: "t", dtype: F },
          { name: "o", dtype: F },
        ],
        nodes: [
          { op: "Add", inputs: ["s", "e"], outputs: ["t"] },
          { op: "Identity", inputs: ["t"], outputs: ["o"] },
        ],
      };
      const model = compile(
        readModel(
          modelOf({
            opset,
            operands: { x: floatTensor([5, 6], [...batch, 2]) },
            initializers: { none: floatTensor([], [...batch, 0, 2]) },
            nodes: [
              {
                op: "Scan",
                inputs: [...(opset === 8 ? [""] : []), "x", "none"],
                outputs: ["end", "all"],
                attributes: { body: { graph: body }, num_scan_inputs: 1 },
              },
              { op: "Abs", inputs: ["end"], outputs: ["y"] },
            ],
            outputs: { y: F, all: F },
          }),
        ),
        { shapes: {} },
      );
      expect(model.outputs.map(({ shape }) => shape)).to.deep.equal([[...batch, 2]]);
      expect(model.emptyOutputs!.map(({ shape }) => shape)).to.deep.equal([[...batch, 0, 2]]);
    });

  it("laterNode_withTheNameOfALocalValue_isNoReason", async () => {
    const branch = (op: string) => ({
      graph: {
        inputs: [],
        outputs: [{ name: "o", dtype: F }],
        nodes: [
          { op, inputs: ["x"], outputs: ["h"] },
          { op: "Relu", inputs: ["h"], outputs: ["o"] },
        ],
      },
    });
    await expectAgreement(
      {
        operands: { x: floatTensor([1, -2]), c: bool(true) },
        nodes: [
          {
            op: "If",
            inputs: ["c"],
            outputs: ["first"],
            attributes: { then_branch: branch("Neg"), else_branch: branch("Exp") },
          },
          { op: "Abs", inputs: ["first"], outputs: ["h"] },
          { op: "Neg", inputs: ["h"], outputs: ["o"] },
        ],
        outputs: { o: F },
      },
      "If",
    );
    const looped = loop({ operands: {}, initializers: { n: int64Tensor([3], []) } });
    // The names of the body's formal input, local value and output.
    const names = ["i", "v", "m", "w", "each"];
    const later = names.map((name, k) => ({ op: "Neg", inputs: [k === 0 ? "y" : names[k - 1]!], outputs: [name] }));
    await expectAgreement({ ...looped, nodes: [...looped.nodes, ...later], outputs: { each: F } }, "Loop");
  });

  it("sequenceOfParts_isAListAtCompileTime", () =>
    expectAgreement(
      {
        opset: 16,
        operands: { x: floatTensor([1, 2, 3, 4, 5, 6], [3, 2]) },
        initializers: { one: int64Tensor([1], []), last: int64Tensor([-1], []) },
        nodes: [
          { op: "SplitToSequence", inputs: ["x", "one"], outputs: ["s"], attributes: { axis: 0 } },
          { op: "SequenceAt", inputs: ["s", "last"], outputs: ["e"] },
          { op: "SequenceInsert", inputs: ["s", "e", "one"], outputs: ["t"] },
          { op: "ConcatFromSequence", inputs: ["t"], outputs: ["y"], attributes: { axis: 0 } },
          { op: "SequenceLength", inputs: ["t"], outputs: ["n"] },
        ],
        outputs: { y: F, n: DType.int64 },
      },
      "sequences",
    ));

  it("sequenceMap_runsItsBodyForEachElement", async () => {
    const body = {
      inputs: [
        { name: "a", dtype: F },
        { name: "b", dtype: F },
      ],
      outputs: [{ name: "c", dtype: F }],
      nodes: [{ op: "Add", inputs: ["a", "b"], outputs: ["c"] }],
    };
    await expectAgreement(
      {
        opset: 17,
        operands: { x: floatTensor([1, 2, 3, 4], [2, 2]), y: floatTensor([5, 6, 7], [3]), z: floatTensor([0.5], [1]) },
        nodes: [
          { op: "SequenceConstruct", inputs: ["x", "y"], outputs: ["list"] },
          { op: "SequenceMap", inputs: ["list", "z"], outputs: ["sums"], attributes: { body: { graph: body } } },
          { op: "SequenceAt", inputs: ["sums", "one"], outputs: ["second"] },
          { op: "SequenceAt", inputs: ["sums", "zero"], outputs: ["first"] },
        ],
        initializers: { one: int64Tensor([1], []), zero: int64Tensor([0], []) },
        outputs: { first: F, second: F },
      },
      "SequenceMap",
    );
  });
});
