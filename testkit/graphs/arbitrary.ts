import fc from "fast-check";
import { DType } from "../../src/numerics/dtype.ts";
import { Choices } from "./choices.ts";
import { ELEMENTWISE } from "./elementwise.ts";
import { Graph } from "./graph.ts";
import { MOVEMENT } from "./movement.ts";
import { REDUCTIONS } from "./reductions.ts";

const OPSETS = [17, 21, 18, 13, 11] as const;
const FAMILIES = [ELEMENTWISE, REDUCTIONS, MOVEMENT];
const DIGITS = 24;
const LARGEST = 2 ** 16;

const stream = fc.array(fc.nat(LARGEST), { maxLength: DIGITS, size: "max" });

/**
 * Random ONNX graphs of up to `nodes` nodes over shared values. They shrink: to fewer nodes, smaller shapes, the first
 * of each choice and plain numbers.
 */
export function graphs(nodes: number): fc.Arbitrary<Graph> {
  const draws = fc.array(fc.tuple(fc.nat(LARGEST), stream), { minLength: 1, maxLength: nodes, size: "max" });
  return fc.tuple(fc.constantFrom(...OPSETS), stream, draws).map(([opset, input, list]) => {
    const graph = new Graph(opset);
    const c = new Choices(input);
    graph.input(c, DType.float32, c.shape(c.int(1, 4), 5));
    for (const [kind, own] of list) {
      const family = FAMILIES[kind % FAMILIES.length]!;
      family[Math.floor(kind / FAMILIES.length) % family.length]!(graph, new Choices(own));
    }
    // A graph has at least one node.
    if (graph.nodes.length === 0) graph.node("Identity", [graph.values[0]], [[DType.float32, graph.values[0]!.shape]]);
    return graph;
  });
}
