import { ifElse, returned, select, whileLoop } from "./assembler/control.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { f64, i32, i64 } from "./assembler/instructions.ts";

const BYTES = 8;
const INFINITE_FIELD = 0x7ff;
/** Above every exponent. */
const NONE = 2000;

/**
 * `(vector, n) -> unit`: the largest power of two that all float64 of a vector are multiples of; Infinity for zeros alone, NaN if one is not finite. Their
 * values are float32's: none is subnormal.
 */
export function unitFunction(): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32"], "f64");
  const [at, n] = fn.parameters as [Local, Local];
  const [end, field, lowest, exponent] = [fn.local("i32"), fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const bits = fn.local("i64");
  const zeros = i32.wrapI64(i64.ctz(i64.or(bits.get, i64.const(1n << 52n))));
  return fn.emit(
    end.set(i32.add(at.get, i32.mul(n.get, i32.const(BYTES)))),
    lowest.set(i32.const(NONE)),
    whileLoop(
      i32.ltU(at.get, end.get),
      bits.set(i64.load(at.get)),
      field.set(i32.and(i32.wrapI64(i64.shrU(bits.get, i64.const(52n))), i32.const(INFINITE_FIELD))),
      ifElse(field.get, [
        ifElse(i32.eq(field.get, i32.const(INFINITE_FIELD)), returned(f64.const(NaN))),
        exponent.set(i32.add(field.get, zeros)),
        lowest.set(select(exponent.get, lowest.get, i32.ltS(exponent.get, lowest.get))),
      ]),
      at.set(i32.add(at.get, i32.const(BYTES))),
    ),
    ifElse(i32.eq(lowest.get, i32.const(NONE)), returned(f64.const(Infinity))),
    // 2^(lowest - 1075): a normal number, its exponent field is lowest - 1075 + 1023.
    f64.reinterpretI64(i64.shl(i64.extendI32S(i32.sub(lowest.get, i32.const(52))), i64.const(52n))),
  );
}
