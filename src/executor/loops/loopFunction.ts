import { doWhile, whileLoop } from "../../kernels/assembler/control.ts";
import type { Code } from "../../kernels/assembler/encoding.ts";
import { FunctionBuilder, type Local } from "../../kernels/assembler/functionBuilder.ts";
import { i32 } from "../../kernels/assembler/instructions.ts";
import { DType, dtypeBytes } from "../../numerics/dtype.ts";
import { extractLane, storeScalar, storeVector, storeWidened, storeWidenedVector } from "./access.ts";
import { constant, linear, type DigitLocal } from "./address.ts";
import { canVectorise, expressionEmitter } from "./expression.ts";
import { withOneNaN, withoutNegativeZero } from "./floatOperation.ts";
import { digitStrides } from "../splitStep.ts";
import { mergeDigits, type StoredDigit } from "./mergeDigits.ts";
import type { LoopSpec } from "./spec.ts";
import { define, LANES, splat, type Emitter, type Value } from "./values.ts";

const FLOAT64_BYTES = 8;

/** The function `(sources..., outs..., start, end)` of addresses and values of the first digit that runs a nest of loops. */
export function loopFunction(spec: LoopSpec, external: Emitter["external"]): FunctionBuilder {
  const { digits, firstScale } = mergeDigits(spec, storedDigits(spec), spec.outs);
  const loops = digits.length === 0 ? [{ digit: -1, radix: 1, outStride: 0 }] : digits;
  const fn = new FunctionBuilder([...spec.sourceTypes, ...spec.outs, 0, 0].map(() => "i32"));
  const sources = spec.sourceTypes.map((dtype, n) => ({ address: fn.parameters[n]!.get, dtype }));
  const outs = spec.outs.map((_, n) => fn.parameters[sources.length + n]!);
  const [start, end] = fn.parameters.slice(-2) as [Local, Local];
  const counters = loops.map(() => fn.local("i32"));
  const digitLocals = new Map(
    loops.map(({ digit, radix }, k): [number, DigitLocal] => [digit, { code: counters[k]!.get, level: k + 1, radix }]),
  );
  const innermost = loops.at(-1)!;
  const inVectors = innermost.radix >= LANES && canVectorise(spec, spec.sourceTypes, spec.outs, innermost.digit);
  const scalar = statements(undefined);
  const vector = inVectors ? statements(innermost.digit) : undefined;

  const scaled = (value: Local): Code => (firstScale === 1 ? [] : value.set(i32.mul(value.get, i32.const(firstScale))));
  return fn.emit(scaled(start), scaled(end), before(0), nest(1));

  /** All statements of an outer level, those for vectors included. */
  function before(level: number): Code {
    return [scalar[level]!, vector?.[level] ?? []];
  }

  function nest(level: number): Code {
    const counter = counters[level - 1]!;
    const from = level === 1 ? start.get : i32.const(0);
    const to = level === 1 ? end.get : i32.const(loops[level - 1]!.radix);
    const next = (by: number): Code => counter.set(i32.add(counter.get, i32.const(by)));
    const below = (limit: Code): Code => i32.ltU(counter.get, limit);
    if (level < loops.length) {
      const body: Code = [before(level), nest(level + 1), next(1)];
      return [counter.set(from), level === 1 ? whileLoop(below(to), body) : doWhile(below(to), body)];
    }
    const ones = whileLoop(below(to), scalar[level]!, next(1));
    if (vector === undefined) return [counter.set(from), ones];
    const limit = fn.local("i32");
    const whole = i32.and(i32.sub(to, from), i32.const(-LANES));
    return [
      counter.set(from),
      limit.set(i32.add(from, whole)),
      whileLoop(below(limit.get), vector[level]!, next(LANES)),
      ones,
    ];
  }

  /** The statements of each level, that of the innermost storing the results. */
  function statements(vectorDigit: number | undefined): Code[][] {
    const levels = Array.from({ length: loops.length + 1 }, (): Code[] => []);
    const emitter: Emitter = { fn, levels, external };
    const slot = expressionEmitter({ emitter, digits: digitLocals, views: spec.reads, sources }, spec, vectorDigit);
    const values = spec.outs.map((out) =>
      canonical(emitter, vectorDigit === undefined ? slot(out) : splat(emitter, slot(out))),
    );
    // After all reads: nothing is read where another result has just been stored.
    values.forEach((value, n) => {
      const widened = spec.widened?.includes(n) ?? false;
      const bytes = widened ? FLOAT64_BYTES : dtypeBytes(value.dtype);
      const terms = loops.map(({ digit, outStride }) => ({ digit, coeff: outStride * bytes }));
      const address = linear(emitter, digitLocals, { code: outs[n]!.get, level: 0 }, terms).code;
      levels.at(-1)!.push(stored(address, value, widened, innermost.outStride * bytes));
    });
    return levels;
  }
}

function storedDigits({ digits, outStrides }: LoopSpec): StoredDigit[] {
  const strides = outStrides ?? digitStrides(digits.map(({ radix }) => radix));
  return digits.map((digit, k) => ({ ...digit, outStride: strides[k]! }));
}

function canonical(emitter: Emitter, value: Value): Value {
  if (value.dtype !== DType.float32) return value;
  const zero = value.mayBeNegativeZero ? define(emitter, withoutNegativeZero(value)) : value;
  return zero.mayBeOtherNaN ? define(emitter, withOneNaN(zero)) : zero;
}

function stored(address: Code, { code, dtype, isVector }: Value, widened: boolean, step: number): Code {
  const bytes = widened ? FLOAT64_BYTES : dtypeBytes(dtype);
  const storeOne = widened ? storeWidened : (at: Code, value: Code): Code => storeScalar(dtype, at, value);
  if (!isVector) return storeOne(address, code);
  if (step === bytes) return widened ? storeWidenedVector(address, code) : storeVector(dtype, address, code);
  return Array.from({ length: LANES }, (_, lane) =>
    storeOne(i32.add(address, constant(lane * step)), extractLane(dtype, code, lane)),
  );
}
