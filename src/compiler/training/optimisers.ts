import type { DType } from "../../numerics/dtype.ts";
import type { Node } from "../../model/onnx/model.ts";
import { NodeInputError } from "../errors.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import type { NodeList } from "../nodes.ts";
import type { GraphValues } from "../gradients/backward.ts";

/** A tensor updated by an optimiser, with gradient and state, the rate, and the number of earlier updates. */
type Update = { x: string; g: string; state: readonly string[]; rate: string; count: string };

/** The tools with which an optimiser's rule writes nodes. */
type Writer = { n: NodeList; of: NodeContext; dtype: DType };

type Optimiser = {
  /** Tensors of state that each tensor has. */
  states: number;
  /** @returns the updated tensor, then its state. */
  update: (w: Writer, update: Update) => string[];
};

const op = ({ n }: Writer, operator: string, ...inputs: readonly string[]): string => n.node(operator, inputs);
const number = ({ n, dtype }: Writer, value: number): string => n.scalar(dtype, value);
const counted = ({ n, dtype }: Writer, count: string): string => n.node("Cast", [count], { to: dtype });

/** Returns the gradient plus the gradient of the tensor's squared norm. */
function regularised(w: Writer, { x, g }: Update): string {
  const coefficient = w.of.float("norm_coefficient", 0);
  return coefficient === 0 ? g : op(w, "Add", op(w, "Mul", number(w, coefficient), x), g);
}

const adagrad: Optimiser = {
  states: 1,
  update: (w, update) => {
    const decay = w.of.float("decay_factor", 0);
    const divisor = op(w, "Add", number(w, 1), op(w, "Mul", counted(w, update.count), number(w, decay)));
    const rate = decay === 0 ? update.rate : op(w, "Div", update.rate, divisor);
    const g = regularised(w, update);
    const h = op(w, "Add", update.state[0]!, op(w, "Mul", g, g));
    const root = op(w, "Add", op(w, "Sqrt", h), number(w, w.of.float("epsilon", 1e-6)));
    return [op(w, "Sub", update.x, op(w, "Div", op(w, "Mul", rate, g), root)), h];
  },
};

const momentum: Optimiser = {
  states: 1,
  update: (w, update) => {
    const alpha = number(w, w.of.float("alpha", 0));
    const mode = w.of.string("mode", "standard");
    if (mode !== "standard" && mode !== "nesterov") return w.of.refuse("mode", `is ${mode}`);
    const isLater = w.n.node("Greater", [update.count, w.n.integers(0)]);
    const beta = op(w, "Where", isLater, number(w, w.of.float("beta", 1)), number(w, 1));
    const g = regularised(w, update);
    const scalar = w.n.reshape(beta, []);
    const v = op(w, "Add", op(w, "Mul", alpha, update.state[0]!), op(w, "Mul", scalar, g));
    const direction = mode === "standard" ? v : op(w, "Add", g, op(w, "Mul", alpha, v));
    return [op(w, "Sub", update.x, op(w, "Mul", update.rate, direction)), v];
  },
};

const adam: Optimiser = {
  states: 2,
  update: (w, update) => {
    const [alpha, beta] = [w.of.float("alpha", 0.9), w.of.float("beta", 0.999)];
    const one = number(w, 1);
    const g = regularised(w, update);
    const mixed = (old: string, kept: number, now: string): string =>
      op(w, "Add", op(w, "Mul", number(w, kept), old), op(w, "Mul", op(w, "Sub", one, number(w, kept)), now));
    const v = mixed(update.state[0]!, alpha, g);
    const h = mixed(update.state[1]!, beta, op(w, "Mul", g, g));
    const root = op(w, "Add", op(w, "Sqrt", h), number(w, w.of.float("epsilon", 1e-6)));
    const rest = (kept: number): string => op(w, "Sub", one, op(w, "Pow", number(w, kept), counted(w, update.count)));
    const corrected = op(w, "Div", op(w, "Mul", update.rate, op(w, "Sqrt", rest(beta))), rest(alpha));
    const isLater = w.n.node("Greater", [update.count, w.n.integers(0)]);
    const rate = w.n.reshape(op(w, "Where", isLater, corrected, update.rate), []);
    const x = op(w, "Sub", update.x, op(w, "Div", op(w, "Mul", rate, v), root));
    const post = w.of.float("norm_coefficient_post", 0);
    return [post === 0 ? x : op(w, "Mul", op(w, "Sub", one, number(w, post)), x), v, h];
  },
};

const OPTIMISERS: Readonly<Record<string, Optimiser>> = { Adagrad: adagrad, Adam: adam, Momentum: momentum };

export const isOptimiser = ({ operator }: Node): boolean => Object.hasOwn(OPTIMISERS, operator);

/**
 * Writes an optimiser's nodes (ai.onnx.preview.training). Inputs: R, T, then all tensors, all gradients, all states,
 * kind after kind. Outputs: the same without R, T and gradients.
 * @throws NodeInputError, UnsupportedOperatorError
 */
export function writeOptimiser(node: Node, n: NodeList, values: GraphValues): void {
  const { states, update } = OPTIMISERS[node.operator]!;
  const of = values.contextOf(node, 1);
  const [rate = "", count = "", ...rest] = node.inputs;
  const size = rest.length / (2 + states);
  if (!Number.isInteger(size) || size === 0 || node.outputs.length !== size * (1 + states))
    throw new NodeInputError(node, `${node.inputs.length} inputs and ${node.outputs.length} outputs`);
  for (let k = 0; k < size; k++) {
    const [x = "", g = "", ...state] = Array.from({ length: 2 + states }, (_, i) => rest[i * size + k]!);
    const typed = values.of(x);
    if (typed === undefined) throw new NodeInputError(node, `"${x}" is not known`);
    const results = update({ n, of, dtype: typed.dtype }, { x, g, state, rate, count });
    results.forEach((result, i) => {
      const output = node.outputs[i * size + k] ?? "";
      if (output !== "") n.node("Identity", [result], {}, { output });
    });
  }
  of.checkAttributes();
}
