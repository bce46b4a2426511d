import { readFileSync } from "node:fs";
import { expect } from "chai";
import fc from "fast-check";
import { chooseCheckpoints, LONG_RANGE } from "../../src/compiler/passes/checkpoints.ts";
import { compile } from "../../src/compiler/compile.ts";
import * as errors from "../../src/compiler/errors.ts";
import { OPERATORS } from "../../src/compiler/table/registry.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { Reduce, type Step } from "../../src/program/types.ts";
import { validateProgram } from "../../src/program/validate.ts";
import { buildModel, type ModelSpec, type NodeSpec } from "../../testkit/onnx/onnxBuilder.ts";

const F = DType.float32;
const spec = (
  nodes: readonly NodeSpec[],
  shape: readonly (number | string)[] = [2, 3],
  more: Partial<ModelSpec> = {},
): ModelSpec => ({
  inputs: [{ name: "x", dtype: F, shape }],
  outputs: [{ name: "y", dtype: F }],
  nodes,
  ...more,
});
const build = (s: ModelSpec, shapes: Record<string, number[]> = {}) => compile(readModel(buildModel(s)), { shapes });
const node = (op: string, inputs: string[], attributes: NodeSpec["attributes"] = {}, outputs = ["y"]): NodeSpec => ({
  op,
  name: "the_node",
  inputs,
  outputs,
  attributes,
});

describe("compile", () => {
  describe("refusals", () => {
    it("operatorOutsideTheTable_namesOperatorAndNode", () => {
      expect(() => build(spec([node("MaxRoiPool", ["x"])]))).to.throw(
        errors.UnsupportedOperatorError,
        /MaxRoiPool \(node the_node\)/,
      );
      const custom = { ...node("Relu", ["x"]), domain: "com.example" };
      expect(() => build(spec([custom]))).to.throw(errors.UnsupportedOperatorError, "com.example.Relu");
    });

    it("unknownAttribute_isNamed", () => {
      const call = () => build(spec([node("Relu", ["x"], { slope: 2 })]));
      expect(call).to.throw(errors.UnsupportedOperatorError, "slope").with.property("attribute", "slope");
    });

    it("attributeOutsideTheTable_isNamed", () => {
      const pads = { pads: int64Tensor([0, 1, 0, 1]) };
      const call = () =>
        build(spec([node("Pad", ["x", "pads"], { mode: "symmetric" })], [2, 3], { initializers: pads }));
      expect(call).to.throw(errors.UnsupportedOperatorError, "symmetric").with.property("attribute", "mode");
    });

    it("operatorBeforeItsOpset_isRefused", () => {
      expect(() => build(spec([node("Gelu", ["x"])]))).to.throw(errors.UnsupportedOperatorError, "expected 20 to 27");
    });

    it("outputThatIsNotComputed_isRefused", () => {
      const s = spec([node("Relu", ["x"], {}, ["y", "second"])], [1, 1, 4, 4]);
      expect(() => build(s)).to.throw(errors.UnsupportedOperatorError, "output 1");
    });

    it("shapeKnownOnlyAtRunTime_isRefused", () => {
      const inputs = [
        { name: "x", dtype: F, shape: [2, 3] },
        { name: "s", dtype: DType.int64, shape: [1] },
      ];
      expect(() => build(spec([node("Reshape", ["x", "s"])], [], { inputs }))).to.throw(
        errors.UnsupportedOperatorError,
        "compile time",
      );
    });

    it("shapesThatDoNotFit_areRefused", () => {
      const c = { c: floatTensor([1, 2]) };
      expect(() => build(spec([node("Add", ["x", "c"])], [2, 3], { initializers: c }))).to.throw(
        errors.NodeInputError,
        "broadcast",
      );
      expect(() => build(spec([node("MatMul", ["x", "x"])]))).to.throw(errors.NodeInputError, "multiply");
    });

    it("inputShapes_mustBindTheModel", () => {
      const s = spec([node("Relu", ["x"])], ["n", 3, "n"]);
      expect(() => build(s)).to.throw(errors.InputShapeError, '"x"');
      expect(() => build(s, { x: [2, 4, 2] })).to.throw(errors.InputShapeError, "does not fit");
      expect(() => build(s, { x: [2, 3] })).to.throw(errors.InputShapeError, "does not fit");
      expect(() => build(s, { x: [2, 3, 4] })).to.throw(errors.InputShapeError, '"n"');
      expect(() => build(s, { x: [0, 3, 0] })).to.throw(errors.EmptyOutputsError, "no output has elements");
      expect(() => build(s, { x: [-1, 3, -1] })).to.throw(errors.InputShapeError, "whole");
      expect(() => build(s, { z: [1] })).to.throw(errors.InputShapeError, '"z"');
      expect(build(s, { x: [2, 3, 2] }).inputs[0]!.shape).to.deep.equal([2, 3, 2]);
    });

    it("emptyTensor_isRefused", () => {
      const initializers = { a: int64Tensor([2]), b: int64Tensor([2]) };
      expect(() => build(spec([node("Slice", ["x", "a", "b"])], [2, 3], { initializers }))).to.throw(
        errors.EmptyOutputsError,
        "no output has elements",
      );
    });

    it("tensorTooLargeToCount_isRefused", () => {
      const s = spec([node("MatMul", ["x", "x"])], ["n", 1]);
      expect(() => build(s, { x: [2 ** 40, 1] })).to.throw(errors.InputShapeError, "2^32 elements");
      const tile = spec([node("Expand", ["x", "a"])], [2], { initializers: { a: int64Tensor([2 ** 20, 2 ** 20, 2]) } });
      expect(() => build(tile)).to.throw(errors.NodeInputError, "2^32 elements");
    });

    it("placeInNothing_isRefused", () => {
      const inputs = [{ name: "x", dtype: DType.float32, shape: ["n", 3] }];
      const model = spec([node("ArgMax", ["x"])], []);
      expect(() =>
        build({ ...model, inputs, outputs: [{ name: "y", dtype: DType.int64, shape: [] }] }, { x: [0, 3] }),
      ).to.throw(errors.NodeInputError, /ArgMax/);
    });

    it("stepTooLargeToProve_namesNodeAndOperator", () => {
      const bytes = buildModel(spec([node("ReduceSum", ["x"])], [1000, 10]));
      const call = () => compile(readModel(bytes), { shapes: {}, stepGasLimit: 300_000 });
      expect(call).to.throw(errors.StepTooExpensiveError, /ReduceSum \(node the_node\).*smaller shapes/);
    });
  });

  describe("outputs", () => {
    const bytes = floatTensor([1, -2, 3, -4, 5, -6]).bytes;

    it("thatAreInputs_areCopied", () => {
      const model = build(spec([node("Identity", ["x"])]));
      expect(model.program.steps).to.have.length(1);
      expect(executeReference(model, [bytes])[0]).to.deep.equal(bytes);
    });

    it("thatAreConstants_areCopied", () => {
      const initializers = { c: floatTensor([1, 2, 3]) };
      const model = build(spec([node("Neg", ["c"])], [2, 3], { initializers }));
      expect(executeReference(model, [bytes])[0]).to.deep.equal(floatTensor([-1, -2, -3]).bytes);
    });

    it("ofTheSameStep_shareACheckpoint", () => {
      const outputs = [
        { name: "y", dtype: F },
        { name: "z", dtype: F },
      ];
      const model = build(spec([node("Relu", ["x"]), node("Identity", ["y"], {}, ["z"])], [2, 3], { outputs }));
      expect(model.program.steps).to.have.length(1);
      expect(model.program.outputs).to.deep.equal([0, 0]);
    });

    it("unusedNodes_leaveNoStepAndNoConstant", () => {
      const initializers = { c: floatTensor([1, 2, 3]) };
      const model = build(
        spec([node("Relu", ["x"]), node("Add", ["x", "c"], {}, ["unused"])], [2, 3], { initializers }),
      );
      expect(model.program.steps).to.have.length(1);
      expect(model.constants.size).to.equal(0);
    });
  });

  it("constants_areCanonicalAndSharedByRoot", () => {
    const initializers = { a: floatTensor([-0, NaN, 2]), b: floatTensor([0, NaN, 2]) };
    new DataView(initializers.b.bytes.buffer, initializers.b.bytes.byteOffset).setUint32(4, 0xffc00001, true);
    const nodes = [node("Add", ["x", "a"], {}, ["z"]), node("Mul", ["z", "b"])];
    const model = build(spec(nodes, [2, 3], { initializers }));
    expect(model.constants.size).to.equal(1);
    const [constant] = [...model.constants.values()];
    expect(new Uint32Array(Uint8Array.from(constant!).buffer)).to.deep.equal(Uint32Array.of(0, 0x7fc00000, 0x40000000));
  });

  it("scaleOfBatchNormalization_isFoldedExactly", () => {
    const vector = floatTensor([1, 2, 3]);
    const model = build(
      spec([node("BatchNormalization", ["x", "c", "c", "c", "c"])], [2, 3], { initializers: { c: vector } }),
    );
    expect(model.program.steps).to.have.length(1);
    const folded = [...model.constants.values()].map((b) => [...new Float32Array(Uint8Array.from(b).buffer)]);
    const expected = [1, 2, 3].map((v) => Math.fround(v / Math.fround(Math.sqrt(Math.fround(v + Math.fround(1e-5))))));
    expect(folded).to.deep.include(expected);
  });

  it("scatteredReduction_readsACopyInstead", () => {
    const reduce = node("ReduceSum", ["x", "axes"], { keepdims: 0 });
    const initializers = { axes: int64Tensor([0]) };
    const model = build(spec([reduce], [400, 300], { initializers }));
    expect(model.program.steps.map((step) => step.reduce)).to.deep.equal([Reduce.none, Reduce.sum]);
    expect(model.program.maxStepGas).to.be.below(2_000_000);
    const other = { name: "z", dtype: F, shape: [400, 300] };
    const inputs = [{ name: "x", dtype: F, shape: [2, 400] }, other];
    const product = build(spec([node("MatMul", ["x", "z"])], [], { inputs }));
    expect(product.program.maxStepGas).to.be.below(2_000_000);
  });

  it("sharedValue_isComputedOnce", () => {
    const nodes = [
      node("MatMul", ["x", "w"], {}, ["m"]),
      node("Relu", ["m"], {}, ["a"]),
      node("Softmax", ["m"], {}, ["b"]),
      node("Add", ["a", "b"]),
    ];
    const w = floatTensor([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]);
    const { program } = build(spec(nodes, [2, 3], { initializers: { w } }));
    expect(program.steps.filter((step) => step.reduce === Reduce.dot)).to.have.length(1);
  });

  it("diamondOfElementwiseNodes_fusesIntoItsProducer", () => {
    const nodes = [
      node("MatMul", ["x", "w"], {}, ["m"]),
      node("Sigmoid", ["m"], {}, ["s"]),
      node("Mul", ["m", "s"], {}, ["silu"]),
      node("Add", ["silu", "x"]),
    ];
    const w = floatTensor([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]);
    const { program, origins } = build(spec(nodes, [2, 3], { initializers: { w } }));
    expect(program.steps).to.have.length(1);
    expect(origins[0]).to.deep.equal({ node: "the_node", operator: "MatMul+Sigmoid+Mul+Add" });
  });
});

describe("chooseCheckpoints", () => {
  const step = (reads: readonly number[], count: number): Step => ({
    dtype: F,
    count,
    inputs: reads.map((index) => ({ kind: "step", index, dtype: F, count: 1 })),
    outDigits: [count],
    redDigits: [],
    reduce: Reduce.none,
    constants: [],
    termReads: [],
    epilogueReads: [],
    term: { code: [], outA: 0, outB: 0 },
    epilogue: { code: [], out: 0 },
  });

  it("anyGraph_hasShortClosedRanges", () => {
    const graph = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 99999 })),
      {
        minLength: 1,
        maxLength: 80,
      },
    );
    fc.assert(
      fc.property(graph, (shape) => {
        const steps = shape.map(([near, far, count], s) =>
          step(
            [...new Set([s - near, s - far])].filter((t) => t >= 0),
            count,
          ),
        );
        const read = new Set(steps.flatMap((s) => s.inputs.map((ref) => (ref as { index: number }).index)));
        const outputs = steps.flatMap((_, s) => (read.has(s) ? [] : [s]));
        const checkpoints = chooseCheckpoints(steps, outputs);
        const chosen = new Set(checkpoints.map((c) => c.step));
        for (const output of outputs) expect(chosen.has(output)).to.equal(true);
        for (const { first, step: last } of checkpoints) {
          expect(last - first).to.be.below(LONG_RANGE);
          for (let s = first; s <= last; s++)
            for (const ref of steps[s]!.inputs) {
              const { index } = ref as { index: number };
              expect(index >= first || chosen.has(index)).to.equal(true);
            }
        }
      }),
    );
  });
});

describe("long ranges", () => {
  /** A chain of so many steps, each of a tensor of so many numbers. */
  const chain = (length: number, width: number): number => {
    const nodes = Array.from({ length }, (_, k): NodeSpec => ({
      op: k % 2 === 0 ? "Exp" : "Softmax",
      inputs: [k ? `v${k}` : "x"],
      outputs: [k === length - 1 ? "y" : `v${k + 1}`],
    }));
    const { checkpoints } = build(spec(nodes, [1, width])).program;
    return Math.max(...checkpoints.map(({ first, step }) => step - first + 1));
  };

  it("whereTheySaveEnoughHashing", () => {
    expect(chain(100, 300)).to.equal(16);
    expect(chain(100, 30_000)).to.be.within(17, LONG_RANGE);
  });
});

describe("compiled programs", () => {
  it("manySteps_areValid", () => {
    const nodes = Array.from({ length: 100 }, (_, k): NodeSpec => ({
      op: "Softmax",
      inputs: [k ? `v${k}` : "x"],
      outputs: [k === 99 ? "y" : `v${k + 1}`],
    }));
    const { program } = build(spec(nodes, [2, 300]));
    validateProgram(program);
    expect(program.steps.length).to.equal(400);
    expect(program.checkpoints.length).to.be.within(25, 40);
  });
});

describe("docs/operators.md", () => {
  const text = readFileSync(new URL("../../docs/operators.md", import.meta.url), "utf8");
  /** What stands below a heading, up to the next one. */
  const section = (heading: string): string => text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))!;

  it("table_isTheRegistry", () => {
    const entries = [...section("Domain `ai.onnx`").matchAll(/^- \*\*(.+?)\*\* \((\d+)\):/gm)];
    const rows = entries.map(([, operator, since]) => `${operator} ${since}`);
    const registry = OPERATORS.filter(({ domain, use }) => domain === "" && use !== "bodies");
    expect(rows.toSorted()).to.deep.equal(registry.map(({ operator, since }) => `${operator} ${since}`).toSorted());
  });

  it("everyEntryOfTheList_hasTheFormThatIsRead", () => {
    const entry = /^- \*\*\w+\*\* \(\d+\): \S/;
    const starts = section("Domain `ai.onnx`")
      .split("\n")
      .filter((line) => line.startsWith("- "));
    expect(starts.filter((line) => !entry.test(line))).to.deep.equal([]);
  });

  it("listOfMicrosoft_isItsRegistry", () => {
    const entries = [...section("Domain `com.microsoft`").matchAll(/^- \*\*([^*]+)\*\*:/gm)];
    const names = entries.flatMap(([, operators]) => operators!.split(/,\s+/));
    const registry = OPERATORS.filter(({ domain }) => domain === "com.microsoft");
    expect(names.sort()).to.deep.equal(registry.map(({ operator }) => operator).sort());
  });

  it("listOfBodiesAndSequences_isItsTable", () => {
    const entries = [...section("Bodies and sequences").matchAll(/\*\*([^*]+)\*\*\s+\((\d+)\)/g)];
    const rows = entries.flatMap(([, operators, since]) => operators!.split(/,\s+/).map((name) => `${name} ${since}`));
    const control = OPERATORS.filter(({ use }) => use === "bodies");
    expect(rows.sort()).to.deep.equal(control.map(({ operator, since }) => `${operator} ${since}`).sort());
  });
});
