import { whileLoop } from "./assembler/control.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f32, f32x4, i32, i32x4, v128 } from "./assembler/instructions.ts";
import { DType, floatFormat } from "../dtype.ts";

const BYTES = 16;

/** `(at, vectors)`: gives `vectors` times four float32 their one NaN and their one zero, in place. */
export function canonicaliseFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32"]);
  const [at, vectors] = fn.parameters as [Local, Local];
  const x = fn.local("v128");
  const nan = i32x4.splat(i32.const(Number(floatFormat(DType.float32).nan)));
  // -0 + 0 is +0; nothing else is changed by adding 0.
  const plain = f32x4.add(x.get, f32x4.splat(f32.const(0)));
  return fn.emit(
    whileLoop(
      vectors.get,
      x.set(v128.load(at.get)),
      v128.store(at.get, v128.bitselect(nan, plain, f32x4.ne(x.get, x.get))),
      at.set(i32.add(at.get, i32.const(BYTES))),
      vectors.set(i32.sub(vectors.get, i32.const(1))),
    ),
  );
}
