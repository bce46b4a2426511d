import { ifElse } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { f32x4, v128 } from "../../numerics/kernels/assembler/instructions.ts";
import { roundedEnds } from "../../numerics/kernels/elementary/certified.ts";
import { estimateOf } from "../../numerics/kernels/elementary/estimates.ts";
import { hasTwoMemories } from "../../numerics/kernels/elementary/tables.ts";
import { DType } from "../../numerics/dtype.ts";
import type { OpName } from "../../program/operations.ts";
import { withOneNaN, withoutNegativeZero } from "./floatOperation.ts";
import { exact, store, type Emitter, type LoopValue } from "./values.ts";

/**
 * Computes an elementary function of vectors. The estimate is inlined; the function itself is called unless the
 * estimate settles all results. The estimate never settles a NaN. Without a second memory for tables, the function is
 * always called.
 */
export function inlined(emitter: Emitter, name: OpName, values: readonly LoopValue[], level: number): LoopValue {
  const call = emitter.elementary(name, values.length);
  const keepOne = (type: "v128" | "i32", code: Code): Code => store(emitter, type, code, level).get;
  // Powers distinguish the two zeros.
  const operands = values.map((value) => keepOne("v128", withoutNegativeZero(value).code));
  const called = call(...operands);
  const vector = { ...exact([], DType.float32, level, true), mayBeNegativeZero: true };
  if (!hasTwoMemories) return { ...vector, code: called, mayBeOtherNaN: true };

  const [min, max] = roundedEnds(estimateOf(name), keepOne, operands);
  const result = store(emitter, "v128", min, level);
  const withNaN = withOneNaN({ ...vector, code: result.get, mayBeOtherNaN: true });
  const isOpen = v128.anyTrue(f32x4.ne(result.get, max));
  emitter.levels[level]!.push(ifElse(isOpen, [result.set(called), result.set(withNaN.code)]));
  return { ...vector, code: result.get };
}
