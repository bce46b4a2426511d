import { doWhile, whileLoop } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import type { FunctionBuilder, Local } from "../../numerics/kernels/assembler/functionBuilder.ts";
import { i32 } from "../../numerics/kernels/assembler/instructions.ts";
import { LANES } from "./values.ts";

/**
 * A nest's statements for one element or for LANES elements at a time: for each level, the statements before and after
 * the inner loops. Level 0 lies outside all loops.
 */
export type Version = { before: Code[][]; after: Code[][] };

/** A version without statements for a number of loops. */
export const emptyVersion = (loops: number): Version => ({
  before: Array.from({ length: loops + 1 }, () => []),
  after: Array.from({ length: loops + 1 }, () => []),
});

/** Loops, outermost first: their counters and radices. The loop of level `ranged` runs from `start` to `end`. */
type Nest = {
  fn: FunctionBuilder;
  loops: readonly { counter: Local; radix: number }[];
  ranged: number;
  start: Local;
  end: Local;
};

/**
 * Returns the code of a nest. With a vector version, the loop at the vector level takes LANES values at a time, then
 * the remaining values one at a time. Statements of outer levels belong to both versions; outer statements after the
 * loops belong to the scalar version.
 */
export function nestCode(
  { fn, loops, ranged, start, end }: Nest,
  scalar: Version,
  vector?: Version,
  vectorLevel = loops.length,
): Code {
  const outer = (level: number): Code => [scalar.before[level]!, vector?.before[level] ?? []];
  return [outer(0), nest(1, scalar)];

  function nest(level: number, version: Version): Code {
    const loop = loops[level - 1];
    if (loop === undefined) return [];
    const { counter, radix } = loop;
    const from = level === ranged ? start.get : i32.const(0);
    const to = level === ranged ? end.get : i32.const(radix);
    const next = (by: number): Code => counter.set(i32.add(counter.get, i32.const(by)));
    const below = (limit: Code): Code => i32.ltU(counter.get, limit);
    const body = (made: Version): Code => [made.before[level]!, nest(level + 1, made), made.after[level]!];
    if (vector === undefined || level !== vectorLevel) {
      const isShared = vector !== undefined && level < vectorLevel;
      const shared: Code = [outer(level), nest(level + 1, version), scalar.after[level]!];
      const code: Code = [isShared ? shared : body(version), next(1)];
      // Only that loop may have no values.
      return [counter.set(from), level === ranged ? whileLoop(below(to), code) : doWhile(below(to), code)];
    }
    const limit = fn.local("i32");
    const whole = i32.and(i32.sub(to, from), i32.const(-LANES));
    return [
      counter.set(from),
      limit.set(i32.add(from, whole)),
      whileLoop(below(limit.get), body(vector), next(LANES)),
      whileLoop(below(to), body(scalar), next(1)),
    ];
  }
}
