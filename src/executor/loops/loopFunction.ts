import { FunctionBuilder, type Local } from "../../numerics/kernels/assembler/functionBuilder.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import { linear } from "./address.ts";
import { canVectorise, expressionEmitter } from "./expression.ts";
import { mergeLoops } from "./mergeLoops.ts";
import { emptyVersion, nestCode, type Version } from "./nest.ts";
import { canonical, digitsByNumber, FLOAT64_BYTES, scaled, stored, storedDigits } from "./results.ts";
import type { LoopSpec } from "./spec.ts";
import { LANES, splat, type Emitter, type Imports } from "./values.ts";

/** The number of memory 1 in a module: it follows the computing memory and the tables. */
const FIRST_FAR = 2;

/**
 * Returns the function `(sources..., outs..., start, end)` for running a nest of loops. The parameters are addresses
 * and values of the ranged digit.
 */
export function loopFunction(spec: LoopSpec, imports: Imports): FunctionBuilder {
  const { digits: loops, ranged, scale } = mergeLoops(spec, storedDigits(spec), spec.outs, spec.ranged);
  const fn = new FunctionBuilder([...spec.sourceTypes, ...spec.outs, 0, 0].map(() => "i32"));
  const sources = spec.sourceTypes.map((dtype, n) => {
    const memory = spec.sourceMemories?.[n] ?? 0;
    return { address: fn.parameters[n]!.get, dtype, memory: memory === 0 ? 0 : FIRST_FAR + memory - 1 };
  });
  const outs = spec.outs.map((_, n) => fn.parameters[sources.length + n]!);
  const [start, end] = fn.parameters.slice(-2) as [Local, Local];
  const counted = loops.map((loop) => ({ ...loop, counter: fn.local("i32") }));
  const digitLocals = digitsByNumber(counted);
  const innermost = loops.at(-1)!;
  const inVectors = innermost.radix >= LANES && canVectorise(spec, spec.sourceTypes, spec.outs, innermost.digit);
  const scalar = statements(undefined);
  const vector = inVectors ? statements(innermost.digit) : undefined;

  return fn.emit(
    scaled(start, scale),
    scaled(end, scale),
    nestCode({ fn, loops: counted, ranged: ranged + 1, start, end }, scalar, vector),
  );

  /** The statements of each level; those of the innermost level store the results. */
  function statements(vectorDigit: number | undefined): Version {
    const version = emptyVersion(loops.length);
    const levels = version.before;
    const emitter: Emitter = { fn, levels, ...imports };
    const slot = expressionEmitter({ emitter, digits: digitLocals, views: spec.reads, sources }, spec, vectorDigit);
    const isWidened = (n: number): boolean => spec.widened?.includes(n) ?? false;
    const values = spec.outs.map((out, n) =>
      canonical(emitter, vectorDigit === undefined ? slot(out) : splat(emitter, slot(out)), isWidened(n)),
    );
    // All reads come first, so that no read sees a place where another result has just been stored.
    values.forEach((value, n) => {
      const widened = isWidened(n);
      const bytes = widened ? FLOAT64_BYTES : dtypeBytes(value.dtype);
      const terms = loops.map(({ digit, outStride }) => ({ digit, coeff: outStride * bytes }));
      const address = linear(emitter, digitLocals, { code: outs[n]!.get, level: 0 }, terms).code;
      levels.at(-1)!.push(stored(address, value, widened, innermost.outStride * bytes));
    });
    return version;
  }
}
