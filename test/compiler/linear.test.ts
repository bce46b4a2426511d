import { expect } from "chai";
import { Budget } from "../../src/compiler/budget.ts";
import { compileWithin } from "../../src/compiler/compile.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/onnx/tensorData.ts";
import { readModel } from "../../src/onnx/readModel.ts";
import { buildModel, type NodeSpec } from "../../testkit/onnx/onnxBuilder.ts";

const [FEW, MANY] = [150, 600];
const SHAPE = [4, 4];
const io = (name: string) => ({ name, dtype: DType.float32, shape: SHAPE });
const weights = floatTensor(
  Array.from({ length: 16 }, (_, k) => k / 16 - 0.4),
  SHAPE,
);

/** A model of so many nodes in a row. @param node The operator of node k, and what it reads beside the one before. */
function chain(count: number, node: (k: number) => Pick<NodeSpec, "op" | "attributes"> & { beside?: string }) {
  const name = (k: number): string => (k < 0 ? "x" : k === count - 1 ? "y" : `t${k}`);
  const nodes = Array.from({ length: count }, (_, k): NodeSpec => {
    const { beside, ...spec } = node(k);
    const before = beside === "before last" ? [name(Math.max(-1, k - 2))] : beside === undefined ? [] : [beside];
    return { ...spec, inputs: [name(k - 1), ...before], outputs: [name(k)] };
  });
  return buildModel({ inputs: [io("x")], outputs: [io("y")], nodes, initializers: { w: weights } });
}

/** A loop whose body, a product and a tanh, is computed so many times. */
function loop(count: number) {
  const nodes = [
    { op: "Identity", inputs: ["go"], outputs: ["goOn"] },
    { op: "MatMul", inputs: ["h", "w"], outputs: ["product"] },
    { op: "Tanh", inputs: ["product"], outputs: ["next"] },
  ];
  const flag = (name: string) => ({ name, dtype: DType.bool, shape: [] });
  const body = {
    inputs: [{ name: "i", dtype: DType.int64, shape: [] }, flag("go"), io("h")],
    outputs: [flag("goOn"), io("next")],
    nodes,
  };
  return buildModel({
    inputs: [io("x")],
    outputs: [io("y")],
    nodes: [{ op: "Loop", inputs: ["n", "yes", "x"], outputs: ["y"], attributes: { body: { graph: body } } }],
    initializers: {
      n: int64Tensor([count], []),
      yes: { dtype: DType.bool, shape: [], bytes: Uint8Array.of(1) },
      w: weights,
    },
  });
}

const GRAPHS: Record<string, (count: number) => Uint8Array> = {
  elementwise: (count) => chain(count, (k) => ({ op: ["Add", "Mul", "Sub"][k % 3]!, beside: "w" })),
  withTwoReaders: (count) => chain(count, (k) => ({ op: k % 2 === 0 ? "Add" : "Mul", beside: "before last" })),
  products: (count) => chain(count, () => ({ op: "MatMul", beside: "w" })),
  softmaxes: (count) => chain(count, () => ({ op: "Softmax" })),
  transpositions: (count) => chain(count, () => ({ op: "Transpose", attributes: { perm: [1, 0] } })),
  unrolledLoop: loop,
};

/** Counts what a compilation asks of its budget. */
class Work extends Budget {
  expressions = 0;
  ticks = 0;
  elements = 0;

  override expression(): void {
    this.expressions++;
    super.expression();
  }

  override tick(): void {
    this.ticks++;
    super.tick();
  }

  override moveElements(count: number): void {
    this.elements += count;
    super.moveElements(count);
  }
}

function workOf(bytes: Uint8Array) {
  const work = new Work();
  const { program } = compileWithin(readModel(bytes), { shapes: {} }, work);
  const { expressions, ticks, elements } = work;
  return { expressions, ticks, elements, steps: program.steps.length };
}

describe("the work of compiling", function () {
  this.timeout(60_000);

  for (const [name, make] of Object.entries(GRAPHS))
    it(`${name}_growsNoFasterThanTheGraph`, () => {
      const [few, many] = [workOf(make(FEW)), workOf(make(MANY))];
      for (const kind of Object.keys(few) as (keyof typeof few)[])
        expect(many[kind], kind).to.be.at.most(1.1 * few[kind] * (MANY / FEW));
    });
});
