import { whileLoop } from "./assembler/control.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f32x4, i32, i32x4, v128 } from "./assembler/instructions.ts";
import { DType, floatFormat } from "../dtype.ts";

const BYTES = 16;

/**
 * `(at, vectors, low, high) -> isBetween`: whether `vectors` times four float32 are all from `low` to `high`, none of
 * them -0. NaN is not.
 */
export function betweenFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "f32", "f32"], "i32");
  const [at, vectors, low, high] = fn.parameters as [Local, Local, Local, Local];
  const [x, all, min, max] = [fn.local("v128"), fn.local("v128"), fn.local("v128"), fn.local("v128")];
  const minusZero = i32x4.splat(i32.const(Number(floatFormat(DType.float32).sign)));
  const isInside = v128.and(f32x4.ge(x.get, min.get), f32x4.le(x.get, max.get));
  return fn.emit(
    min.set(f32x4.splat(low.get)),
    max.set(f32x4.splat(high.get)),
    all.set(i32x4.splat(i32.const(-1))),
    whileLoop(
      vectors.get,
      x.set(v128.load(at.get)),
      all.set(v128.and(all.get, v128.and(isInside, i32x4.ne(x.get, minusZero)))),
      at.set(i32.add(at.get, i32.const(BYTES))),
      vectors.set(i32.sub(vectors.get, i32.const(1))),
    ),
    i32x4.allTrue(all.get),
  );
}
