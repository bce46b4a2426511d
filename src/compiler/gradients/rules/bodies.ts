import type { Backward, Rule } from "../backward.ts";
import { part } from "./movement.ts";

/** The maximum number of iterations of a body: they are written one after the other. */
const MAX_ITERATIONS = 4096;

/** The branch taken, or, where the condition is data, both branches and a choice. */
export const ifThenElse: Rule = (b) => {
  const known = b.known(b.x(0))?.[0];
  const run = (name: string): string[] => b.inlined(b.attributes.graph(name), []);
  if (known !== undefined) return run(known === 0 ? "else_branch" : "then_branch");
  const condition = b.shaped(b.x(0), []);
  const others = run("else_branch");
  return run("then_branch").map((value, k) => b.where(condition, value, others[k]!));
};

/** Stacks the values of all iterations along a new dimension. */
function stacked(b: Backward, parts: readonly string[], axis: number): string {
  const rows = parts.map((each) => b.op("Unsqueeze", each, b.integers(axis)));
  return b.opWith("Concat", { axis }, ...rows);
}

/**
 * Iteration by iteration: the number of iterations, or the iteration where the condition becomes false, is known at
 * compile time.
 */
export const loop: Rule = (b) => {
  const body = b.attributes.graph("body");
  const limit = b.has(0) ? b.integersOf(0)![0]! : Infinity;
  const truth = (name: string): boolean => {
    const [word] = b.known(name) ?? b.refuse("its condition is not known at compile time");
    return word !== 0;
  };
  let running = !b.has(1) || truth(b.x(1));
  let state = b.node.inputs.slice(2).map((_, k) => b.x(2 + k));
  const carried = state.length;
  const scans: string[][] = body.outputs.slice(1 + carried).map(() => []);
  for (let i = 0; running && i < limit; i++) {
    if (i === MAX_ITERATIONS) return b.refuse(`it runs more than ${MAX_ITERATIONS} times`);
    const [condition, ...values] = b.inlined(body, [b.whole(i), b.truth(true), ...state]);
    running = truth(condition!);
    state = values.slice(0, carried);
    values.slice(carried).forEach((value, k) => scans[k]!.push(value));
  }
  return [...state, ...scans.map((parts) => (parts.length === 0 ? undefined : stacked(b, parts, 0)))];
};

/** Iteration by iteration over the scanned dimension. */
export const scan: Rule = (b) => {
  if (b.opset < 9) return b.refuse(`has no gradient rule in operator set ${b.opset}, expected 9 or higher`);
  const body = b.attributes.graph("body");
  const scanned = b.attributes.int("num_scan_inputs", 0);
  const carried = b.node.inputs.length - scanned;
  const outputs = body.outputs.length - carried;
  const list = (name: string, length: number): number[] => b.attributes.ints(name) ?? Array.from({ length }, () => 0);
  const [axes, backwards] = [list("scan_input_axes", scanned), list("scan_input_directions", scanned)];
  const [outputAxes, turned] = [list("scan_output_axes", outputs), list("scan_output_directions", outputs)];
  const axisOf = (k: number): number => b.axis(axes[k]!, b.shape(carried + k).length);
  const length = b.shape(carried)[axisOf(0)]!;
  if (length > MAX_ITERATIONS) return b.refuse(`it runs ${length} times, at most ${MAX_ITERATIONS}`);
  let state = b.node.inputs.slice(0, carried).map((_, k) => b.x(k));
  const results: string[][] = Array.from({ length: outputs }, () => []);
  for (let t = 0; t < length; t++) {
    const slices = axes.map((_, k) => {
      const at = backwards[k] === 0 ? t : length - 1 - t;
      const shape = b.shape(carried + k);
      const one = part(b, b.x(carried + k), axisOf(k), at, at + 1);
      return b.shaped(
        one,
        shape.filter((_, d) => d !== axisOf(k)),
      );
    });
    const values = b.inlined(body, [...state, ...slices]);
    state = values.slice(0, carried);
    values.slice(carried).forEach((value, k) => {
      if (turned[k] === 0) results[k]!.push(value);
      else results[k]!.unshift(value);
    });
  }
  return [...state, ...results.map((parts, k) => stacked(b, parts, outputAxes[k]!))];
};
