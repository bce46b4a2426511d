import { unsigned, type Code } from "./encoding.ts";
import { FunctionBuilder, type Local } from "./functionBuilder.ts";
import { f64x2 } from "./instructions.ts";
import { ModuleBuilder } from "./moduleBuilder.ts";

const SIMD = 0xfd;
const F64X2_MADD = 0x107;

const fused = (a: Code, b: Code, c: Code): Code => [a, b, c, SIMD, unsigned(F64X2_MADD)];
const separate = (a: Code, b: Code, c: Code): Code => f64x2.add(f64x2.mul(a, b), c);

/** Whether the engine knows the instruction (WebAssembly 3.0, relaxed SIMD). */
export const hasRelaxedMadd = ((): boolean => {
  const fn = new FunctionBuilder(["v128", "v128", "v128"], "v128");
  const [a, b, c] = fn.parameters as [Local, Local, Local];
  const builder = new ModuleBuilder();
  builder.define(fn.emit(fused(a.get, b.get, c.get)), "madd");
  return WebAssembly.validate(builder.encode());
})();

/**
 * `a * b + c` on float64 lanes, rounded once or twice, depending on the machine. Only for results that are right either
 * way, for example a sum with an error bound for both cases (rounding the product as well is the worse case).
 */
export const relaxedMadd: (a: Code, b: Code, c: Code) => Code = hasRelaxedMadd ? fused : separate;
