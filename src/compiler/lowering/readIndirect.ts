import { constantAffine, type Affine } from "../expressions/affine.ts";
import type { ReadAxis, ReadExpr } from "../expressions/expression.ts";
import { identityOrder, type LazyTensor } from "../expressions/tensor.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { readAt } from "../steps/views.ts";

/** Where a dimension is read: at a function of the digits, or at an index from memory. */
export type Coordinate = Affine | { indirect: ReadExpr };

/** Reads `data` at a coordinate for each dimension; an index from memory wraps once, then out of range gives 0. */
export function readIndirect(
  builder: ProgramBuilder,
  data: LazyTensor,
  coordinates: readonly Coordinate[],
  radix: (digit: number) => number,
): ReadExpr {
  let plain = builder.plain(data);
  // An indirect coordinate counts upwards only.
  if (coordinates.some((c, d) => "indirect" in c && plain.strides[d]! < 0)) {
    builder.store(data, identityOrder(data.shape.length));
    plain = builder.plain(data);
  }
  const direct = coordinates.flatMap((c, d) => ("indirect" in c ? [] : [{ d, index: c }]));
  const rest = {
    ...plain,
    shape: direct.map(({ d }) => plain.shape[d]!),
    strides: direct.map(({ d }) => plain.strides[d]!),
  };
  const axes = coordinates.flatMap((c, d): ReadAxis[] =>
    "indirect" in c
      ? [{ extent: data.shape[d]!, stride: plain.strides[d]!, index: constantAffine(0), indirect: c.indirect }]
      : [],
  );
  const affine = readAt(
    builder.expressions,
    rest,
    direct.map(({ index }) => index),
    radix,
  );
  return builder.expressions.read(plain.source, [...affine.axes, ...axes]);
}
