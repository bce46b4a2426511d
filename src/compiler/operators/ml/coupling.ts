import { DType } from "../../../numerics/dtype.ts";
import { numberWord } from "../../../numerics/numbers.ts";
import { int64Tensor } from "../../../model/onnx/tensorData.ts";
import { Reduce } from "../../../program/types.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { indexTensor } from "../../lowering/indices.ts";
import type { NodeContext } from "../../lowering/nodeContext.ts";
import { slicedAlong } from "../../lowering/slices.ts";
import { transposed } from "../../steps/views.ts";
import { gatherAlong } from "../gather.ts";
import { matrixProduct } from "../matmul.ts";
import { reduceAxes } from "../reduction.ts";

/** Rounds of the iteration. It comes to rest after 4, also for the worst that a search among extreme inputs found. */
const ROUNDS = 8;

/**
 * Returns class probabilities from pair probabilities, by the second method of Wu, Lin and Weng (Probability Estimates
 * for Multi-class Classification by Pairwise Coupling, JMLR 5, 2004), with onnxruntime's iteration: from 1 / classes
 * on, until no element is off by 0.005 / classes, but at most {@link ROUNDS} times. Each operation is rounded.
 * @param pairwise The probability of each pair's first class against the second: floats [rows, pairs].
 * @returns floats of the same type [rows, classes]
 */
export function coupledProbabilities(
  context: NodeContext,
  pairwise: LazyTensor,
  pairs: readonly [number, number][],
  classes: number,
): LazyTensor {
  const { builder, expressions: e } = context;
  const q = coupling(context, pairwise, pairs, classes);
  const [rows] = pairwise.shape as [number];
  const column = indexTensor(e, [1, classes], 1);
  const asColumn = (x: LazyTensor): LazyTensor => builder.reshape(x, [rows, x.shape[1]!, 1]);
  const stored = (x: LazyTensor): LazyTensor => {
    builder.realise(x);
    return x;
  };
  let p = builder.filled(pairwise.dtype, [rows, classes], numberWord(1 / classes, pairwise.dtype));
  for (let round = 0; round < ROUNDS; round++) {
    let qp = stored(builder.reshape(matrixProduct(context, q, asColumn(p)), [rows, classes]));
    const whole = matrixProduct(context, builder.reshape(p, [rows, 1, classes]), asColumn(qp));
    let pqp = stored(builder.reshape(whole, [rows, 1]));
    const errors = stored(broadcast(context, [qp, pqp], (x, y) => e.abs(e.sub(x, y))));
    const worst = stored(reduceAxes(builder, errors, [1], Reduce.max));
    const before = p;
    for (let k = 0; k < classes; k++) {
      const row = stored(builder.reshape(slicedAlong(context, q, 1, k, 1), [rows, classes]));
      const own = [slicedAlong(context, qp, 1, k, 1), pqp, slicedAlong(context, row, 1, k, 1)];
      const change = (x: Expr, y: Expr, z: Expr): Expr => e.div(e.add(e.neg(x), y), z);
      const grown = (difference: Expr): Expr => e.add(e.float(1), difference);
      const next = broadcast(
        context,
        [p, column, ...own],
        (x, at, ...state) => {
          const difference = change(...(state as [Expr, Expr, Expr]));
          const isOwn = e.eq(at, e.constant(DType.int64, BigInt(k)));
          return e.div(e.select(isOwn, e.add(x, difference), x), grown(difference));
        },
        true,
      );
      const nextQp = broadcast(context, [qp, row, ...own], (x, factor, ...state) => {
        const difference = change(...(state as [Expr, Expr, Expr]));
        return e.div(e.add(x, e.mul(difference, factor)), grown(difference));
      });
      const nextPqp = broadcast(context, own, (x, y, z) => {
        const difference = change(x, y, z);
        const added = e.mul(difference, e.add(e.mul(difference, z), e.mul(e.float(2), x)));
        return e.div(e.div(e.add(y, added), grown(difference)), grown(difference));
      });
      [p, qp, pqp] = [stored(next), stored(nextQp), stored(nextPqp)];
    }
    // Once p has come to rest, p stays the same in all later rounds.
    p = stored(
      broadcast(
        context,
        [worst, before, p],
        (error, old, changed) => e.select(e.lt(error, e.float(Math.fround(0.005) / classes)), old, changed),
        true,
      ),
    );
  }
  return p;
}

/** Q of the method: sums of r[j][i]^2 over j on its diagonal, elsewhere -r[j][i] * r[i][j]. [rows, classes, classes] */
function coupling(
  context: NodeContext,
  pairwise: LazyTensor,
  pairs: readonly [number, number][],
  classes: number,
): LazyTensor {
  const { builder, expressions: e } = context;
  const numberOf = new Map(pairs.map(([i, j], pair) => [i * classes + j, pair]));
  const places = Array.from(
    { length: classes * classes },
    (_, at) => [Math.floor(at / classes), at % classes] as const,
  );
  const table = (of: (i: number, j: number) => number, shape: number[]): LazyTensor =>
    builder.constant(
      int64Tensor(
        places.map(([i, j]) => of(i, j)),
        shape,
      ),
    );
  const pair = table((i, j) => numberOf.get(Math.min(i, j) * classes + Math.max(i, j)) ?? 0, [classes, classes]);
  const order = table((i, j) => Math.sign(j - i), [1, classes, classes]);
  const zero = e.constant(DType.int64, 0n);
  const r = broadcast(
    context,
    [gatherAlong(context, pairwise, pair, 1), order],
    (x, sign) => e.select(e.eq(sign, zero), e.float(0), e.select(e.lt(zero, sign), x, e.sub(e.float(1), x))),
    true,
  );
  builder.realise(r);
  const diagonal = reduceAxes(builder, r, [1], Reduce.dot);
  builder.realise(diagonal);
  const q = broadcast(
    context,
    [r, transposed(e, r, [0, 2, 1]), diagonal, order],
    (x, y, own, sign) => e.select(e.eq(sign, zero), own, e.neg(e.mul(x, y))),
    true,
  );
  builder.realise(q);
  return q;
}
