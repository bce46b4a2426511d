import { expect } from "chai";
import { FunctionBuilder, type Local } from "../../../../src/numerics/kernels/assembler/functionBuilder.ts";
import { i32, v128 } from "../../../../src/numerics/kernels/assembler/instructions.ts";
import { ModuleBuilder } from "../../../../src/numerics/kernels/assembler/moduleBuilder.ts";
import { relaxedMadd } from "../../../../src/numerics/kernels/assembler/relaxed.ts";
import { kernelMemory, MAX_PAGES } from "../../../../src/numerics/kernels/memory.ts";
import { Prng } from "../../../../testkit/random/prng.ts";

describe("relaxed instructions", () => {
  it("relaxedMadd_ofExactProducts_isProductAndSum", () => {
    const fn = new FunctionBuilder(["i32"]);
    const [at] = fn.parameters as [Local];
    const [a, b, c] = [0, 16, 32].map((offset) => v128.load(at.get, offset)) as [number[], number[], number[]];
    fn.emit(v128.store(i32.add(at.get, i32.const(48)), relaxedMadd(a, b, c)));
    const builder = new ModuleBuilder();
    builder.importMemory(true, MAX_PAGES);
    builder.define(fn, "run");
    const memory = kernelMemory(1);
    const instance = new WebAssembly.Instance(new WebAssembly.Module(builder.encode()), { env: { memory } });
    const run = instance.exports.run as (at: number) => void;
    const lanes = new Float64Array(memory.buffer, 0, 8);
    const prng = new Prng(1);
    for (let round = 0; round < 1000; round++) {
      lanes.forEach((_, k) => (lanes[k] = Math.fround((prng.uint32() / 2 ** 32 - 0.5) * 2 ** (prng.below(60) - 30))));
      run(0);
      for (const k of [0, 1]) expect(lanes[6 + k]).to.equal(lanes[k]! * lanes[2 + k]! + lanes[4 + k]!);
    }
  });
});
