import { Reduce } from "../../program/types.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { identityOrder, type LazyTensor } from "../expressions/tensor.ts";
import { pool } from "./pool.ts";
import { reduceAxes } from "./reduction.ts";
import { readWindows } from "./window.ts";
import { broadcast } from "../lowering/broadcast.ts";

/**
 * The p-norm of what `over` reduces. p = 1: sum of abs; p = 2: sqrt(dot(x, x)); else pow(sum of pow(abs x, p), RN(1 /
 * p)).
 */
function norm(context: NodeContext, x: LazyTensor, over: (x: LazyTensor, reduce: Reduce) => LazyTensor): LazyTensor {
  const e = context.expressions;
  const p = context.int("p", 2);
  if (p < 1) return context.refuse("p", `is ${p}, expected at least 1`);
  if (p === 2) return broadcast(context, [over(x, Reduce.dot)], e.sqrt);
  const powers = broadcast(context, [x], (v) => {
    const magnitude = e.abs(v);
    return p === 1 ? magnitude : e.pow(magnitude, e.float(p));
  });
  const sum = over(powers, Reduce.sum);
  return p === 1 ? sum : broadcast(context, [sum], (s) => e.pow(s, e.float(1 / p)));
}

/** LpPool; padding is 0. */
export const lpPool: Lower = (context) => {
  const x = context.floatInput();
  if (x.shape.length < 3) return context.fail(`data of rank ${x.shape.length}`);
  const windows = readWindows(context, x.shape.slice(2));
  return [norm(context, x, (data, reduce) => pool(context, data, windows, reduce, 0n))];
};

/** GlobalLpPool over the spatial dimensions. */
export const globalLpPool: Lower = (context) => {
  const x = context.floatInput();
  if (x.shape.length < 3) return context.fail(`data of rank ${x.shape.length}`);
  const axes = identityOrder(x.shape.length).slice(2);
  return [norm(context, x, (data, reduce) => reduceAxes(context.builder, data, axes, reduce))];
};
