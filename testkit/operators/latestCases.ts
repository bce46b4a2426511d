/** Random experiments for operators in the operator sets 26 and 27, and for element types below 16 bits. */
import { DType } from "../../src/numerics/dtype.ts";
import { narrowLayout, type NarrowType } from "../../src/numerics/narrow.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { NodeSpec } from "../onnx/onnxBuilder.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { single } from "../onnx/agreement.ts";
import { F, type Make } from "./makers.ts";

const bitCast =
  (from: DType, to: DType): Make =>
  (r) => {
    const shape = r.shape(2);
    const isFloat = from === DType.float32;
    const x = isFloat ? r.float(shape, -1000, 1000) : r.integer(from, shape, -128, 127);
    return { ...single("BitCast", [x], [], { to }, to, 26), rtol: 0, atol: 0 };
  };

/** Through float64 and its bits, and back. */
const bitCastDouble: Make = (r) => ({
  opset: 26,
  operands: { x: r.float(r.shape(2), -1000, 1000) },
  nodes: [
    { op: "Cast", inputs: ["x"], outputs: ["d"], attributes: { to: DType.float64 } },
    { op: "BitCast", inputs: ["d"], outputs: ["y"], attributes: { to: DType.int64 } },
    { op: "BitCast", inputs: ["y"], outputs: ["z"], attributes: { to: DType.float64 } },
  ],
  outputs: { y: DType.int64, z: DType.float64 },
  rtol: 0,
  atol: 0,
});

const cumProd: Make = (r) => {
  const shape = r.shape(r.int(1, 3));
  const axis = int64Tensor([r.int(0, shape.length - 1)], []);
  return single("CumProd", [r.float(shape)], [axis], { reverse: r.int(0, 1), exclusive: r.int(0, 1) }, F, 26);
};

type Named = Readonly<Record<string, TensorData>>;

const withReference = (
  operands: Named,
  node: NodeSpec,
  outputs: Experiment["outputs"],
  reference: NodeSpec[],
  initializers: Named = {},
): Experiment => ({
  opset: 27,
  operands,
  nodes: [node],
  outputs,
  reference: { opset: 21, nodes: reference, initializers },
  atol: 1e-5,
});

const causalConv: Make = (r) => {
  const [batch, channels, length, kernel] = [r.int(1, 2), r.int(1, 3), r.int(1, 6), r.int(2, 4)];
  const isActive = r.int(0, 1) === 1;
  const operands = {
    x: r.float([batch, channels, length]),
    w: r.float([channels, 1, kernel]),
    b: r.float([channels]),
    p: r.float([batch, channels, kernel - 1]),
  };
  const attributes: NodeSpec["attributes"] = isActive ? { activation: "silu" } : {};
  const convolved = isActive ? "c" : "y";
  return withReference(
    operands,
    { op: "CausalConvWithState", inputs: ["x", "w", "b", "p"], outputs: ["y", "s"], attributes },
    { y: F, s: F },
    [
      { op: "Concat", inputs: ["p", "x"], outputs: ["all"], attributes: { axis: 2 } },
      { op: "Conv", inputs: ["all", "w", "b"], outputs: [convolved], attributes: { group: channels } },
      ...(isActive
        ? [
            { op: "Sigmoid", inputs: ["c"], outputs: ["g"] },
            { op: "Mul", inputs: ["c", "g"], outputs: ["y"] },
          ]
        : []),
      { op: "Slice", inputs: ["all", "from", "to", "axes"], outputs: ["s"] },
    ],
    { from: int64Tensor([length]), to: int64Tensor([length + kernel - 1]), axes: int64Tensor([2]) },
  );
};

/** One head; the reference does every token with Einsum. */
const linearAttention: Make = (r) => {
  const [batch, length, size, values] = [r.int(1, 2), r.int(1, 3), r.int(1, 4), r.int(1, 4)];
  const rule = r.pick(["linear", "gated", "delta", "gated_delta"] as const);
  const [isGated, isDelta] = [rule.startsWith("gated"), rule.endsWith("delta")];
  const operands: Record<string, TensorData> = {
    q: r.float([batch, length, size], -1, 1),
    k: r.float([batch, length, size], -1, 1),
    v: r.float([batch, length, values], -1, 1),
    past: r.float([batch, 1, size, values], -1, 1),
    ...(isGated ? { decay: r.float([batch, length, size], -1, 0) } : {}),
    ...(isDelta ? { beta: r.float([batch, length, 1], 0, 1) } : {}),
  };
  const nodes: NodeSpec[] = [{ op: "Squeeze", inputs: ["past", "head"], outputs: ["s0"] }];
  const einsum = (inputs: string[], output: string, equation: string): void =>
    void nodes.push({ op: "Einsum", inputs, outputs: [output], attributes: { equation } });
  for (const name of Object.keys(operands))
    if (name !== "past")
      nodes.push({
        op: "Split",
        inputs: [name],
        outputs: Array.from({ length }, (_, t) => `${name}${t}`),
        attributes: { axis: 1, num_outputs: length },
      });
  for (let t = 0; t < length; t++) {
    let state = `s${t}`;
    if (isGated) {
      nodes.push({ op: "Exp", inputs: [`decay${t}`], outputs: [`rate${t}`] });
      einsum([state, `rate${t}`], `d${t}`, "bkv,btk->bkv");
      state = `d${t}`;
    }
    let write = `v${t}`;
    if (isDelta) {
      einsum([state, `k${t}`], `known${t}`, "bkv,btk->btv");
      nodes.push({ op: "Sub", inputs: [write, `known${t}`], outputs: [`off${t}`] });
      nodes.push({ op: "Mul", inputs: [`beta${t}`, `off${t}`], outputs: [`write${t}`] });
      write = `write${t}`;
    }
    einsum([`k${t}`, write], `outer${t}`, "btk,btv->bkv");
    nodes.push({ op: "Add", inputs: [state, `outer${t}`], outputs: [`s${t + 1}`] });
    einsum([`q${t}`, `s${t + 1}`], `o${t}`, "btk,bkv->btv");
  }
  const tokens = Array.from({ length }, (_, t) => `o${t}`);
  nodes.push({ op: "Concat", inputs: tokens, outputs: ["all"], attributes: { axis: 1 } });
  nodes.push({ op: "Mul", inputs: ["all", "scale"], outputs: ["y"] });
  nodes.push({ op: "Unsqueeze", inputs: [`s${length}`, "head"], outputs: ["state"] });
  const inputs = ["q", "k", "v", "past", isGated ? "decay" : "", isDelta ? "beta" : ""];
  const attributes = { q_num_heads: 1, kv_num_heads: 1, update_rule: rule, scale: { float: 0.5 } };
  return withReference(
    operands,
    { op: "LinearAttention", inputs, outputs: ["y", "state"], attributes },
    { y: F, state: F },
    nodes,
    { head: int64Tensor([1]), scale: floatTensor([0.5], []) },
  );
};

const FLOATS: readonly NarrowType[] = ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"];

/** To a float of eight bits and back. */
export const narrowCast: Make = (r) => ({
  opset: 21,
  operands: { x: r.float(r.shape(2), -500, 500) },
  nodes: [
    { op: "Cast", inputs: ["x"], outputs: ["n"], attributes: { to: narrowLayout(r.pick(FLOATS)).code } },
    { op: "Cast", inputs: ["n"], outputs: ["y"], attributes: { to: F } },
  ],
  outputs: { y: F },
  rtol: 0,
  atol: 0,
});

/** Quantised to a narrow type and back. */
export const narrowQuantised: Make = (r) => {
  const type = r.pick<NarrowType>([...FLOATS, "int4", "uint4"]);
  const zero: TensorData = narrowZero(r, type);
  return {
    opset: 21,
    operands: { x: r.float(r.shape(2), -20, 20) },
    initializers: { s: floatTensor([0.5], []), z: zero },
    nodes: [
      { op: "QuantizeLinear", inputs: ["x", "s", "z"], outputs: ["n"] },
      { op: "DequantizeLinear", inputs: ["n", "s", "z"], outputs: ["y"] },
    ],
    outputs: { y: F },
    rtol: 0,
    atol: 0,
  };
};

function narrowZero(r: RandomTensors, narrow: NarrowType): TensorData {
  const { storage: dtype, float } = narrowLayout(narrow);
  const bytes = Uint8Array.of(float === undefined ? r.int(0, 3) : 0);
  return { dtype, shape: [], bytes, narrow, ...(float === undefined ? { fourBits: true } : {}) };
}

export const LATEST_CASES: Record<string, readonly Make[]> = {
  BitCast: [bitCast(DType.float32, DType.int32), bitCast(DType.int32, DType.uint32), bitCastDouble],
  CausalConvWithState: [causalConv],
  CumProd: [cumProd],
  LinearAttention: [linearAttention],
};
