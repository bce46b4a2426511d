import { expect } from "chai";
import { Budget, type CompileLimits } from "../../src/compiler/budget.ts";
import { compile, compileWithin } from "../../src/compiler/compile.ts";
import { CompileBudgetError } from "../../src/compiler/errors.ts";
import { survey } from "../../src/compiler/survey.ts";
import { RefuteError } from "../../src/base/errors.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { ModelFormatError, ModelGraphError } from "../../src/model/onnx/errors.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { AT_LENGTH, itInTime } from "../../testkit/atLength.ts";
import { endingOf, hostileModel, strangelyShapedModels } from "../../testkit/fuzz/hostile.ts";
import { hostileAttributes, restructuredModel } from "../../testkit/fuzz/structure.ts";
import { buildModel, type AttributeValue, type ModelSpec, type NodeSpec } from "../../testkit/onnx/onnxBuilder.ts";

const X = { name: "x", dtype: DType.float32, shape: [2] };
const Y = { name: "y", dtype: DType.float32 };

const node = (
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, AttributeValue>> = {},
  domain = "",
): NodeSpec => ({ op, inputs, outputs, attributes, domain });

const bytesOf = (nodes: readonly NodeSpec[], more: Partial<ModelSpec> = {}): Uint8Array =>
  buildModel({ inputs: [X], outputs: [Y], nodes, ...more });

const compiled = (bytes: Uint8Array, limits: Partial<CompileLimits> = {}) =>
  compile(readModel(bytes), { shapes: {}, limits });

/** A constant that doubles with each node; its sum is added to the input. */
const doublings = (count: number): Uint8Array =>
  bytesOf(
    [
      ...Array.from({ length: count }, (_, k) => node("Concat", [`c${k}`, `c${k}`], [`c${k + 1}`], { axis: 0 })),
      node("Gather", [`c${count}`, "last"], ["l"]),
      node("Add", ["x", "l"], ["y"]),
    ],
    { initializers: { c0: floatTensor([1, 2]), last: int64Tensor([-1], []) } },
  );

/** The sum of a constant of so many elements, added to the input. */
const largeConstant = (count: number): Uint8Array =>
  bytesOf(
    [
      node("ConstantOfShape", ["n"], ["c"]),
      node("ReduceSum", ["c"], ["s"], { keepdims: 0 }),
      node("Add", ["x", "s"], ["y"]),
    ],
    { initializers: { n: int64Tensor([count]) } },
  );

const chain = (op: string, length: number): Uint8Array =>
  bytesOf(
    Array.from({ length }, (_, k) => node(op, [k === 0 ? "x" : `v${k}`], [k === length - 1 ? "y" : `v${k + 1}`])),
  );

/** Loops in loops, each of so many iterations. */
function loops(depth: number, iterations: number): Uint8Array {
  const body = (level: number): AttributeValue => ({
    graph: {
      inputs: [
        { name: `i${level}`, dtype: DType.int64 },
        { name: `c${level}`, dtype: DType.bool },
        { ...Y, name: `v${level}` },
      ],
      outputs: [
        { name: `c${level}`, dtype: DType.bool },
        { ...Y, name: `w${level}` },
      ],
      nodes:
        level === 0
          ? [node("Relu", ["v0"], ["w0"])]
          : [node("Loop", ["M", "", `v${level}`], [`w${level}`], { body: body(level - 1) })],
    },
  });
  return bytesOf([node("Loop", ["M", "", "x"], ["y"], { body: body(depth - 1) })], {
    initializers: { M: int64Tensor([iterations], []) },
  });
}

/** A function that calls the next one `calls` times, so many levels deep; the last has the given nodes. */
const functions = (levels: number, calls: number, last: readonly NodeSpec[]): Uint8Array =>
  bytesOf([node("f0", ["x"], ["y"], {}, "d")], {
    functions: Array.from({ length: levels }, (_, k) => ({
      name: `f${k}`,
      domain: "d",
      inputs: ["a"],
      outputs: ["b"],
      nodes:
        k === levels - 1
          ? last
          : Array.from({ length: calls }, (_, c) => node(`f${k + 1}`, ["a"], [c === 0 ? "b" : `u${c}`], {}, "d")),
    })),
  });

/** If nodes in each other's branches. */
function branches(depth: number): Uint8Array {
  const branch = (level: number): AttributeValue => {
    const last = node("Relu", ["x"], ["r0"]);
    const nodes = level === 0 ? [last] : [node("If", ["t"], [`r${level}`], { then_branch: branch(level - 1) })];
    return { graph: { inputs: [], outputs: [{ ...Y, name: `r${level}` }], nodes } };
  };
  return bytesOf([node("If", ["t"], ["y"], { then_branch: branch(depth) })], {
    initializers: { t: { dtype: DType.bool, shape: [], bytes: Uint8Array.of(1) } },
  });
}

function refusalOf(bytes: Uint8Array, limits: Partial<CompileLimits>): CompileBudgetError {
  try {
    compiled(bytes, limits);
  } catch (error) {
    if (error instanceof CompileBudgetError) return error;
    throw error;
  }
  throw new Error("the model compiles");
}

describe("limits of a compilation", function () {
  this.timeout(60_000);

  itInTime("constantThatDoubles_isRefused_withNodeLimitAndFlag", () => {
    const error = refusalOf(doublings(40), { foldElements: 2 ** 20 });
    expect(error).to.include({ code: "COMPILE_BUDGET", operator: "Concat", limit: "foldElements" });
    expect(error.message).to.match(/^Concat \(node \(producing c1\d\)\): .*--fold-elements/);
  });

  itInTime("constantThatDoubles_withinTheLimit_hasItsElements", () => {
    const { constants } = compiled(doublings(10));
    const { bytes } = floatTensor(Array.from({ length: 2048 }, (_, i) => 1 + (i % 2)));
    expect([...constants.values()]).to.deep.equal([bytes]);
  });

  itInTime("constantsOfTooManyBytes_areRefused", () => {
    expect(refusalOf(doublings(40), { mib: 1 })).to.include({ limit: "mib", operator: "Concat" });
  });

  itInTime("hugeConstantThatIsReduced_isRefusedAtOnce", () => {
    expect(refusalOf(largeConstant(5e8), {})).to.include({ limit: "foldElements", operator: "ReduceSum" });
  });

  itInTime("tooManyNodes_areRefused_beforeTheFirstIsCompiled", () => {
    expect(refusalOf(chain("Relu", 1001), { nodes: 1000 })).to.include({ limit: "nodes", operator: "" });
  });

  itInTime("iterationsOfLoops_countAsNodes", () => {
    const error = refusalOf(loops(3, 1000), { nodes: 5000 });
    expect(error).to.include({ limit: "nodes", operator: "Relu" });
    expect(error.message).to.include("--compile-nodes");
  });

  itInTime("expressions_countAsMemory", () => {
    expect(refusalOf(chain("Relu", 20_000), { mib: 1 })).to.include({ limit: "mib", operator: "Relu" });
  });

  itInTime("time_isUpAtANode_orWithinOne", () => {
    let now = 0;
    const slow = new Budget({ seconds: 10 }, () => (now += 1000));
    expect(() => compileWithin(readModel(chain("Relu", 20)), { shapes: {} }, slow)).to.throw(
      CompileBudgetError,
      /^Relu \(node .*more than 10 seconds.*--compile-seconds/,
    );
    let reads = 0;
    const late = new Budget({ seconds: 10 }, () => (reads++ < 5 ? 0 : 20_000));
    expect(() => compileWithin(readModel(largeConstant(1e5)), { shapes: {} }, late)).to.throw(
      CompileBudgetError,
      "ReduceSum",
    );
  });

  itInTime("limits_decideWhetherNotWhat", () => {
    const bytes = doublings(8);
    const limits = { seconds: 100, mib: 2, nodes: 50, foldElements: 10_000 };
    expect(compiled(bytes, limits).programRoot).to.equal(compiled(bytes).programRoot);
  });

  itInTime("survey_namesTheNode_andTakesNoLongerForManyRefusals", () => {
    const model = readModel(largeConstant(5e8));
    const { refusals } = survey(model, { shapes: {} });
    expect(refusals.map(({ operator, code }) => [operator, code])).to.deep.equal([["ReduceSum", "COMPILE_BUDGET"]]);
    // Each refused node is another attempt; the second has used up what all attempts together may take.
    const unknown = bytesOf([node("Add", ["x"], ["a"]), node("Add", ["x"], ["b"]), node("Relu", ["x"], ["y"])]);
    const codes = survey(readModel(unknown), { shapes: {}, limits: { seconds: 0 } }).refusals.map(({ code }) => code);
    expect(codes).to.deep.equal(["COMPILE_BUDGET"]);
  });
});

describe("constants one after the other", () => {
  const shape = [1, 2, 3, 2];
  const data = Array.from({ length: 12 }, (_, k) => k);
  const parts = { a: floatTensor(data, shape), b: floatTensor(data.toReversed(), shape) };
  const kernel = floatTensor([1, 2, 3, 4, 5, 6, 7, 8], [1, 8, 1, 1]);

  /** The output for parts that are known at compile time, or are inputs. */
  function outputOf(nodes: readonly NodeSpec[], constant: boolean): Uint8Array {
    const inputs = Object.entries(constant ? {} : parts).map(([name, { dtype }]) => ({ name, dtype, shape }));
    const initializers = { ...(constant ? parts : {}), kernel };
    const model = compiled(bytesOf(nodes, { inputs: [X, ...inputs], initializers }));
    const bytes = { x: floatTensor([0, 1]).bytes, a: parts.a.bytes, b: parts.b.bytes };
    const tensors = executeReference(
      model,
      model.inputs.map(({ name }) => bytes[name as keyof typeof bytes]),
    );
    const { outputs, checkpoints } = model.program;
    return tensors[checkpoints[outputs[0]!]!.step]!;
  }

  for (const axis of [0, 1, 2, 3])
    itInTime(`alongDimension${axis}_areThoseOfTheExecution`, () => {
      const nodes = [
        node("Concat", ["a", "b"], ["c"], { axis }),
        node("ReduceSum", ["x"], ["s"], { keepdims: 0 }),
        node("Add", ["c", "s"], ["y"]),
      ];
      expect(outputOf(nodes, true)).to.deep.equal(outputOf(nodes, false));
    });

  itInTime("channelsLast_areThoseOfTheExecution", () => {
    const nodes = [
      node("Concat", ["a", "b", "b", "a"], ["c"], { axis: 1 }),
      node("Conv", ["c", "kernel"], ["d"]),
      node("Add", ["d", "x"], ["y"]),
    ];
    expect(outputOf(nodes, true)).to.deep.equal(outputOf(nodes, false));
  });
});

describe("hostile models", function () {
  this.timeout(120_000);

  itInTime("functionsOfManyLevels_areRefused", () => {
    expect(() => readModel(functions(3000, 1, [node("Relu", ["a"], ["b"])]))).to.throw(
      ModelGraphError,
      "deeper than 64 calls",
    );
  });

  itInTime("functionsOfFewLevels_compile", () => {
    expect(compiled(functions(60, 1, [node("Relu", ["a"], ["b"])])).program.steps).to.have.length(1);
  });

  itInTime("functionsWithoutNodes_cannotCallEachOtherForEver", () => {
    expect(() => readModel(functions(40, 2, []))).to.throw(ModelGraphError, "larger than 200000 nodes");
  });

  itInTime("bodiesOfManyLevels_areRefused", () => {
    expect(() => readModel(branches(100))).to.throw(ModelFormatError, "nested too deeply");
  });

  itInTime("manyInputsAndOutputsOfOneNode_areNoProduct", () => {
    const names = (prefix: string): string[] => Array.from({ length: 20_000 }, (_, k) => `${prefix}${k}`);
    const inputs = names("i").map(() => "x");
    expect(endingOf(bytesOf([node("Foo", inputs, names("o")), node("Relu", ["x"], ["y"])]))).to.equal(
      "COMPILE_UNSUPPORTED",
    );
    const parts = bytesOf([node("Split", ["x"], names("o"), { axis: 0 }), node("Relu", ["o1"], ["y"])], {
      inputs: [{ ...X, shape: [20_000] }],
    });
    expect(compiled(parts).program.steps).to.have.length(1);
  });

  itInTime("longChains_areLinear", () => {
    expect(compiled(chain("Identity", 10_000)).program.steps).to.have.length(1);
    expect(compiled(chain("Relu", 4000)).program.steps).to.have.length(100);
  });

  itInTime("resizedToMoreThanCanBeListed_isRefused", () => {
    for (const mode of ["nearest", "linear", "cubic"])
      expect(
        endingOf(
          bytesOf([node("Resize", ["x", "none", "scales"], ["y"], { mode })], {
            inputs: [{ ...X, shape: [1, 1, 2, 2] }],
            initializers: { none: floatTensor([]), scales: floatTensor([1, 1, 1e9, 1e9]) },
          }),
        ),
        mode,
      ).to.equal("COMPILE_BUDGET");
  });

  itInTime("namesOfObjectProperties_areNamesLikeOthers", () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const own = { name, dtype: DType.float32, shape: ["n"] };
      const model = readModel(bytesOf([node("Relu", [name], ["y"])], { inputs: [own] }));
      expect(() => compile(model, { shapes: {} }), name).to.throw(RefuteError, "leaves");
      const shapes = Object.fromEntries([[name, [3]]]);
      expect(compile(model, { shapes }).inputs, name).to.deep.equal([{ name, dtype: DType.float32, shape: [3] }]);
      for (const nodes of [
        [node(name, ["x"], ["y"])],
        [node("Relu", ["x"], ["y"], {}, name)],
        [node("FusedConv", ["x", "x"], ["y"], { activation: name }, "com.microsoft")],
        [node("RNN", ["x", "x", "x"], ["y"], { activations: { strings: [name] }, hidden_size: 1 })],
      ])
        expect(() => compiled(bytesOf(nodes)), name).to.throw(RefuteError);
    }
  });

  itInTime("operandsOfOtherShapesAndTypes_areRefusedByTheNode", () => {
    const initializers = {
      none: int64Tensor([]),
      one: int64Tensor([1], []),
      f: floatTensor([1], []),
      c: floatTensor([1, 2, 3]),
      w: floatTensor(new Array(6).fill(1), [1, 6, 1]),
      r: floatTensor(new Array(12).fill(1), [1, 6, 2]),
      h: floatTensor([], [1, 2, 2, 0]),
    };
    const inputs = [X, { ...X, name: "t", shape: [1, 3, 2] }, { ...X, name: "s", shape: [1, 1, 1] }];
    for (const nodes of [
      [node("Mean", [], ["y"])],
      [node("InstanceNormalization", ["t", "c", "f"], ["y"])],
      [node("GRU", ["s", "w", "r", "", "", "h"], ["y"], { hidden_size: 2 })],
      [node("Range", ["none", "one", "one"], ["i"]), node("Gather", ["x", "i"], ["y"])],
      [node("Range", ["one", "f", "one"], ["i"]), node("Gather", ["x", "i"], ["y"])],
      [node("TopK", ["f", "one"], ["y"], { axis: 0 })],
    ])
      expect(endingOf(bytesOf(nodes, { inputs, initializers })), nodes[0]!.op).to.equal("COMPILE_NODE_INPUT");
  });

  itInTime("tensorsWithoutElements_giveAProgramOrARefusal", () => {
    const initializers = { s: int64Tensor([0, 2]), zero: int64Tensor([0]), c: floatTensor([1, 2]) };
    for (const data of ["x", "c"]) {
      const split = node("Split", [data, "s"], ["e", "f"], { axis: 0 });
      const slice = node("Slice", [data, "zero", "zero"], ["e"]);
      for (const first of [split, slice])
        for (const next of [
          "Relu",
          "Identity",
          "ReduceMax",
          "ReduceSum",
          "ArgMax",
          "NonZero",
          "Softmax",
          "TopK",
          "Tile",
        ])
          endingOf(
            bytesOf([first, node(next, ["e", "zero"], ["z"]), node("Concat", ["z", "x"], ["y"], { axis: 0 })], {
              initializers,
            }),
          );
      expect(endingOf(bytesOf([split, node("Concat", ["e", "x"], ["y"], { axis: 0 })], { initializers }))).to.equal(
        "program",
      );
    }
  });

  itInTime("reductionsOfNothing_areTheirIdentities_andOutputsWithoutElementsAreKnown", () => {
    const initializers = { m: floatTensor([], [2, 0]), n: floatTensor([], [0, 2]), axes: int64Tensor([1]) };
    const outputs = ["y", "z", "least", "e"].map((name) => ({ ...Y, name }));
    const nodes = [
      node("MatMul", ["m", "n"], ["p"]),
      node("Add", ["p", "x"], ["y"]),
      node("ReduceMin", ["m", "axes"], ["min"], { keepdims: 0 }),
      node("Sub", ["x", "min"], ["z"]),
      node("ReduceMax", ["m", "axes"], ["max"], { keepdims: 0 }),
      node("Max", ["x", "max"], ["least"]),
      node("Slice", ["x", "axes", "axes"], ["e"]),
    ];
    const model = compile(readModel(bytesOf(nodes, { outputs, initializers, opset: 18 })), { shapes: {} });
    expect(model.emptyOutputs).to.deep.equal([{ name: "e", dtype: DType.float32, shape: [0] }]);
    const tensors = executeReference(model, [floatTensor([3, -4]).bytes]);
    const { outputs: checkpoints } = model.program;
    const values = checkpoints.map((at) => tensors[model.program.checkpoints[at]!.step]!);
    expect(values).to.deep.equal(
      [
        [3, -4, 3, -4],
        [-Infinity, -Infinity],
        [3, -4],
      ].map((expected) => floatTensor(expected).bytes),
    );
    expect(endingOf(bytesOf([node("ArgMax", ["m"], ["y"], { axis: 1 })], { initializers }))).to.equal(
      "COMPILE_NODE_INPUT",
    );
  });

  it("scalarsEmptyOnesAndOthersOfFewOrManyDimensions_inEachOperator_giveAProgramOrARefusal", () => {
    let number = 0;
    for (const { what, bytes } of strangelyShapedModels()) {
      if (!AT_LENGTH && number++ % 5 > 0) continue;
      try {
        endingOf(bytes);
      } catch (cause) {
        throw new Error(what, { cause });
      }
    }
  });

  itInTime("dimensionsBelow0_areRefusedByTheNode", () => {
    const data = { ...X, shape: [1, 1, 4, 4] };
    const one = { ...X, name: "b", shape: [1], dtype: DType.int64 };
    const indices = { ...data, name: "i", dtype: DType.int64 };
    const rois = { ...X, name: "r", shape: [1, 4] };
    const inputs = [data, one, indices, rois];
    for (const least of [-1, -(2 ** 31), Number.MIN_SAFE_INTEGER]) {
      for (const [output_height, output_width] of [
        [least, 1],
        [1, least],
        [least, least],
      ] as const) {
        const attributes = { sampling_ratio: 1, output_height, output_width };
        expect(endingOf(bytesOf([node("RoiAlign", ["x", "r", "b"], ["y"], attributes)], { inputs }))).to.equal(
          "COMPILE_NODE_INPUT",
        );
      }
      for (const strides of [
        [least, 1],
        [least, least],
      ])
        expect(
          endingOf(bytesOf([node("MaxUnpool", ["x", "i"], ["y"], { kernel_shape: [1, 1], strides })], { inputs })),
        ).to.equal("COMPILE_NODE_INPUT");
    }
  });

  itInTime("listsAsLongAsAnAttributeSays_areRefusedBeforeTheyAreMade", () => {
    const tree = {
      nodes_treeids: [0, 0, 0],
      nodes_nodeids: [0, 1, 2],
      nodes_featureids: [0, 0, 0],
      nodes_modes: { strings: ["BRANCH_LEQ", "LEAF", "LEAF"] },
      nodes_values: { floats: [0, 0, 0] },
      nodes_truenodeids: [1, 0, 0],
      nodes_falsenodeids: [2, 0, 0],
      target_treeids: [0, 0],
      target_nodeids: [1, 2],
      target_ids: [0, 0],
      target_weights: { floats: [1, 2] },
    };
    for (const n_targets of [2 ** 31, 2 ** 40])
      expect(
        endingOf(bytesOf([node("TreeEnsembleRegressor", ["x"], ["y"], { ...tree, n_targets }, "ai.onnx.ml")])),
      ).to.equal("COMPILE_BUDGET");
    const pool = { pool_int64s: [1, 2], ngram_indexes: [0, 1], mode: "TF", ngram_counts: [-(2 ** 31)] };
    const words = { inputs: [{ ...X, dtype: DType.int64 }] };
    expect(endingOf(bytesOf([node("TfIdfVectorizer", ["x"], ["y"], pool)], words))).to.equal("COMPILE_NODE_INPUT");
  });

  itInTime("hostileAttributes_ofEachOperator_giveAProgramOrARefusal", () => {
    let number = 0;
    for (const { what, bytes } of hostileAttributes(1, 1)) {
      if (number++ % 10 > 0) continue;
      try {
        endingOf(bytes);
      } catch (cause) {
        throw new Error(what, { cause });
      }
    }
  });

  itInTime("changesOfStructure_giveAProgramOrARefusal", () => {
    const endings = new Set<string>();
    for (let seed = 0; seed < 150; seed++) {
      try {
        endings.add(endingOf(restructuredModel(seed), { seconds: 1, mib: 64, nodes: 2000, foldElements: 2 ** 20 }));
      } catch (cause) {
        throw new Error(`seed ${seed}`, { cause });
      }
    }
    for (const code of ["program", "COMPILE_UNSUPPORTED", "COMPILE_NODE_INPUT", "MODEL_DTYPE", "MODEL_GRAPH"])
      expect(endings).to.include(code);
  });

  // A few of them; `npm run verify -- soak --hostile N` tries others, for as long as one likes.
  itInTime("randomOnes_giveAProgramOrARefusal", () => {
    const endings = new Set<string>();
    for (let seed = 0; seed < 600; seed++) {
      try {
        endings.add(endingOf(hostileModel(seed)));
      } catch (cause) {
        throw new Error(`seed ${seed}`, { cause });
      }
    }
    for (const code of ["program", "COMPILE_UNSUPPORTED", "COMPILE_NODE_INPUT", "COMPILE_INPUT_SHAPE", "MODEL_GRAPH"])
      expect(endings).to.include(code);
  });
});
