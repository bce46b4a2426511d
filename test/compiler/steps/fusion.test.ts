import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../../src/onnx/tensorData.ts";
import type { TensorData } from "../../../src/onnx/model.ts";
import { elementCount } from "../../../src/onnx/model.ts";
import { expectAgreement } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import type { AttributeValue, NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

type Value = { name: string; shape: readonly number[] };

/** Grows a random graph of float32 values: whatever fuses, shares, or is read through views in it must not change the result. */
class RandomGraph {
  readonly nodes: NodeSpec[] = [];
  readonly initializers: Record<string, TensorData> = {};
  readonly values: Value[] = [];
  readonly #r: RandomTensors;

  constructor(r: RandomTensors) {
    this.#r = r;
  }

  #add(
    op: string,
    inputs: readonly Value[],
    shape: readonly number[],
    attributes: Record<string, AttributeValue> = {},
  ): void {
    const name = `v${this.values.length}`;
    this.nodes.push({ op, name: `n${name}`, inputs: inputs.map((i) => i.name), outputs: [name], attributes });
    this.values.push({ name, shape });
  }

  #constant(data: TensorData): Value {
    const name = `c${Object.keys(this.initializers).length}`;
    this.initializers[name] = data;
    return { name, shape: data.shape };
  }

  /** A recent value more often than an old one, so that chains grow long. */
  #value(): Value {
    const back = this.#r.pick([1, 1, 1, 2, 2, 3, 5]);
    return this.values.at(-Math.min(back, this.values.length))!;
  }

  grow(): void {
    const r = this.#r;
    const x = this.#value();
    const rank = x.shape.length;
    switch (r.int(0, 15)) {
      case 0:
        return this.#add(r.pick(["Relu", "Tanh", "Sigmoid", "Neg", "HardSigmoid", "Abs", "Softsign"]), [x], x.shape);
      case 1:
      case 2:
        return this.#binary(x);
      case 3: {
        const perm = r.permutation(rank);
        return this.#add(
          "Transpose",
          [x],
          perm.map((d) => x.shape[d]!),
          { perm },
        );
      }
      case 4:
        return this.#reshape(x);
      case 5: {
        const axis = r.int(0, rank - 1);
        const start = r.int(0, x.shape[axis]! - 1);
        const inputs = [[start], [x.shape[axis]!], [axis]].map((list) => this.#constant(int64Tensor(list)));
        return this.#add(
          "Slice",
          [x, ...inputs],
          x.shape.map((d, k) => (k === axis ? d - start : d)),
        );
      }
      case 6: {
        const other = this.values.find((v) => v !== x && v.shape.join() === x.shape.join()) ?? x;
        const axis = r.int(0, rank - 1);
        return this.#add(
          "Concat",
          [x, other],
          x.shape.map((d, k) => (k === axis ? 2 * d : d)),
          { axis },
        );
      }
      case 7: {
        const pads = Array.from({ length: 2 * rank }, () => r.int(0, 1));
        return this.#add(
          "Pad",
          [x, this.#constant(int64Tensor(pads))],
          x.shape.map((d, k) => d + pads[k]! + pads[k + rank]!),
        );
      }
      case 8: {
        const axis = r.int(0, rank - 1);
        const op = r.pick(["ReduceMean", "ReduceMax"]);
        return this.#add(
          op,
          [x],
          x.shape.map((d, k) => (k === axis ? 1 : d)),
          { axes: [axis], keepdims: 1 },
        );
      }
      case 9:
        return this.#add("Softmax", [x], x.shape, { axis: r.int(0, rank - 1) });
      case 10:
      case 11:
      case 12:
        return this.#convolve(x);
      case 13: {
        const n = r.int(1, 4);
        if (rank < 2) return;
        const weights = this.#constant(r.float([x.shape.at(-1)!, n], -0.5, 0.5));
        return this.#add("MatMul", [x, weights], [...x.shape.slice(0, -1), n]);
      }
      case 14: {
        const axis = r.int(0, rank - 1);
        const indices = r.integer(DType.int64, [r.int(1, 4)], 0, x.shape[axis]! - 1);
        return this.#add(
          "Gather",
          [x, this.#constant(indices)],
          x.shape.map((d, k) => (k === axis ? indices.shape[0]! : d)),
          { axis },
        );
      }
      default: {
        const axis = x.shape.indexOf(1);
        if (axis < 0) return;
        const wanted = x.shape.map((d, k) => (k === axis ? 3 : d));
        return this.#add("Expand", [x, this.#constant(int64Tensor(wanted))], wanted);
      }
    }
  }

  #binary(x: Value): void {
    const r = this.#r;
    const op = r.pick(["Add", "Sub", "Mul", "Max", "Min"]);
    const same = this.values.filter((v) => v.shape.join() === x.shape.join());
    const other = r.int(0, 2) === 0 ? this.#constant(r.float(r.broadcastable(x.shape), -1, 1)) : r.pick(same);
    this.#add(op, r.int(0, 1) ? [x, other] : [other, x], x.shape);
  }

  #reshape(x: Value): void {
    const r = this.#r;
    const count = elementCount(x.shape);
    const divisor = r.pick([1, 2, 3, 4, 6].filter((d) => count % d === 0));
    const rest = count / divisor;
    const second = r.pick([1, 2, 3, 5].filter((d) => rest % d === 0));
    const shape = r.pick([[divisor, rest], [rest, divisor], [divisor, second, rest / second], [count]]);
    this.#add("Reshape", [x, this.#constant(int64Tensor(shape))], shape);
  }

  #convolve(x: Value): void {
    const r = this.#r;
    if (x.shape.length !== 4) return this.#binary(x);
    const [n, c, h, w] = x.shape as [number, number, number, number];
    const group = r.int(0, 1) === 0 ? c : 1;
    const outputs = group === 1 ? r.int(1, 4) : c;
    const weights = this.#constant(r.float([outputs, c / group, 3, 3], -0.25, 0.25));
    this.#add("Conv", [x, weights], [n, outputs, h, w], { group, pads: [1, 1, 1, 1] });
    const vector = (low: number): Value => this.#constant(r.float([outputs], low, 2));
    if (r.int(0, 1) === 0)
      this.#add(
        "BatchNormalization",
        [this.values.at(-1)!, vector(-1), vector(-1), vector(-1), vector(1)],
        [n, outputs, h, w],
      );
  }
}

describe("fusion", () => {
  for (let seed = 1; seed <= 60; seed++) {
    it(`randomGraph${seed}_agreesWithOnnxruntime`, async () => {
      const r = new RandomTensors(new Prng(seed * 7919));
      const graph = new RandomGraph(r);
      const operands = { x: r.float([r.int(1, 2), r.int(1, 4), r.int(2, 5), r.int(2, 5)], -2, 2) };
      graph.values.push({ name: "x", shape: operands.x.shape });
      for (let k = 0; k < 14; k++) graph.grow();
      const outputs = graph.values.filter(
        (v, k) => v.name !== "x" && (k === graph.values.length - 1 || r.int(0, 3) === 0),
      );
      if (outputs.length === 0) return;
      await expectAgreement(
        {
          opset: 13,
          operands,
          initializers: graph.initializers,
          nodes: graph.nodes,
          outputs: Object.fromEntries(outputs.map((v) => [v.name, DType.float32])),
          atol: 1e-4,
        },
        graph.nodes.map((n) => `${n.outputs[0]} = ${n.op}(${n.inputs.join()})`).join("; "),
      );
    });
  }

  it("scatteredReductions_agree", async () => {
    const r = new RandomTensors(new Prng(11));
    const nodes: NodeSpec[] = [
      { op: "ReduceSum", inputs: ["x", "c"], outputs: ["s"] },
      { op: "MatMul", inputs: ["w", "x"], outputs: ["p"] },
      { op: "Relu", inputs: ["x"], outputs: ["y"] },
    ];
    const operands = { x: r.float([200, 300]), w: r.float([2, 200], -0.25, 0.25) };
    const outputs = { s: DType.float32, p: DType.float32, y: DType.float32 };
    await expectAgreement({ operands, initializers: { c: int64Tensor([0]) }, nodes, outputs, atol: 1e-4 }, "scattered");
  });

  it("longElementwiseChain_isSplitAcrossSteps", async () => {
    const nodes = Array.from({ length: 150 }, (_, k): NodeSpec => ({
      op: k % 2 ? "Tanh" : "Add",
      inputs: k % 2 ? [`v${k}`] : [`v${k}`, `c${k}`],
      outputs: [`v${k + 1}`],
    }));
    const initializers = Object.fromEntries(
      nodes.flatMap((n, k) => (k % 2 ? [] : [[`c${k}`, floatTensor([k / 150, 0.25, 0.5])] as const])),
    );
    await expectAgreement(
      { operands: { v0: floatTensor([0.5, 0.25, -1]) }, initializers, nodes, outputs: { v150: DType.float32 } },
      "chain",
    );
  });
});
