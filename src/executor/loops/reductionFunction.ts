import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { FunctionBuilder, type Local } from "../../numerics/kernels/assembler/functionBuilder.ts";
import { i32 } from "../../numerics/kernels/assembler/instructions.ts";
import { errorFactor } from "../../numerics/kernels/certify.ts";
import { dtypeBytes, isFloat } from "../../numerics/dtype.ts";
import { hasTwoResults, accumulatorTypes } from "../../program/reduction.ts";
import { Reduce } from "../../program/types.ts";
import { digitStrides } from "../splitStep.ts";
import { linear, type DigitLocal, type Digits } from "./address.ts";
import { canVectorise, expressionEmitter } from "./expression.ts";
import {
  addLanes,
  scalarSum,
  settleScalar,
  settleVector,
  vectorSum,
  type Accumulator,
  type Destination,
} from "./floatSum.ts";
import {
  foldLanes,
  foldResults,
  hasVectorFold,
  lastFold,
  positionFold,
  scalarFold,
  vectorFold,
  type Fold,
} from "./fold.ts";
import { mergeLoops } from "./mergeLoops.ts";
import { emptyVersion, nestCode, type Version } from "./nest.ts";
import type { ReductionSpec } from "./reductionSpec.ts";
import { canonical, digitsByNumber, scaled, stored, storedDigits } from "./results.ts";
import { neededSlots } from "./slots.ts";
import { LANES, type Emitter, type Imports } from "./values.ts";

/** The maximum number of terms that are unrolled: a window of 5 x 5. */
const MAX_UNROLLED = 25;

/** The function `(sources..., outs..., flagged, start, end) -> flagged count` that runs a reduction. */
export function reductionFunction(spec: ReductionSpec, imports: Imports): FunctionBuilder {
  const { reduce, reduceType: dtype, sourceTypes } = spec;
  const types = accumulatorTypes(spec);
  const outSlots = hasTwoResults(reduce) ? [spec.outA, spec.outB] : [spec.outA];
  const out = mergeLoops(spec, storedDigits({ ...spec, digits: spec.outDigits }), outSlots);
  const red = mergeLoops(spec, storedDigits({ digits: spec.redDigits }), outSlots);
  const fn = new FunctionBuilder(
    [...sourceTypes, ...types, 0, 0, 0].map(() => "i32"),
    "i32",
  );
  const sources = sourceTypes.map((type, n) => ({ address: fn.parameters[n]!.get, dtype: type, memory: 0 }));
  const outs = types.map((_, n) => fn.parameters[sources.length + n]!);
  const [flagged, start, end] = fn.parameters.slice(-3) as [Local, Local, Local];
  const count = fn.local("i32");

  const outLevel = out.digits.length;
  const terms = red.digits.reduce((product, { radix }) => product * radix, 1);
  const factor = errorFactor(terms);
  const outIndices = digitStrides(out.digits.map(({ radix }) => radix));
  const redIndices = digitStrides(red.digits.map(({ radix }) => radix));
  const isFloatSum = isFloat(dtype) && (reduce === Reduce.sum || reduce === Reduce.dot);

  const nested = [...out.digits, ...red.digits];
  const vectorLevel = isFloatSum || hasVectorFold(reduce, dtype) ? chooseVectorLevel() : undefined;
  // Few terms are unrolled instead of looped. Values that do not depend on the last out digit are then computed further
  // out.
  const isUnrolled = terms <= MAX_UNROLLED && reduce <= Reduce.min && vectorLevel !== nested.length;
  const loops = (isUnrolled ? out.digits : nested).map((loop) => ({ ...loop, counter: fn.local("i32") }));
  const digits = digitsByNumber(loops);
  const scalar = emptyVersion(loops.length);
  const vector = vectorLevel === undefined ? undefined : emptyVersion(loops.length);
  if (isFloatSum) emitSums();
  else emitFolds();
  const nest = { fn, loops, ranged: 1, start, end };
  return fn.emit(
    scaled(start, out.scale),
    scaled(end, out.scale),
    nestCode(nest, scalar, vector, vectorLevel),
    count.get,
  );

  /**
   * Returns the level of the last out digit or the last reduction digit: the digit with enough values along which fewer
   * reads jump.
   */
  function chooseVectorLevel(): number | undefined {
    const reads = [...neededSlots(spec, outSlots)].filter((slot) => slot < spec.reads.length);
    const jumps = (digit: number): number =>
      reads.filter((slot) => {
        const steps = spec.reads[slot]!.axes.map(
          ({ coeffs, stride }) => stride * (coeffs.find((term) => term.digit === digit)?.coeff ?? 0),
        );
        return ![0, 1].includes(steps.reduce((sum, step) => sum + step, 0));
      }).length;
    const levels = [nested.length, outLevel].filter((level) => {
      const { digit, radix } = nested[level - 1]!;
      return radix >= LANES && canVectorise(spec, sourceTypes, outSlots, digit);
    });
    return levels.sort((a, b) => jumps(nested[a - 1]!.digit) - jumps(nested[b - 1]!.digit))[0];
  }

  /** Emits a version's terms into the innermost level; `add` folds one. */
  function emitTerms(
    version: Version,
    begin: Code,
    add: (emitter: Emitter) => Accumulator["add"],
    vectorDigit?: number,
  ): void {
    const emitter: Emitter = { fn, levels: version.before, ...imports };
    version.before[outLevel]!.push(begin);
    for (const known of isUnrolled ? combinations() : [digits]) {
      const slot = expressionEmitter({ emitter, digits: known, views: spec.reads, sources }, spec, vectorDigit);
      const [a, b] = outSlots.map(slot);
      const code = add(emitter)(a!, b);
      version.before.at(-1)!.push(code);
    }
  }

  /** Returns the digits for each term; the reduction's digits have constant values. */
  function combinations(): Digits[] {
    return Array.from({ length: terms }, (_, r) => {
      const constants = red.digits.map(({ digit, radix }, k): [number, DigitLocal] => {
        const value = Math.floor(r / redIndices[k]!) % radix;
        return [digit, { code: i32.const(value), level: 0, radix, value }];
      });
      return new Map([...digits, ...constants]);
    });
  }

  /**
   * Returns the emitter for statements after the terms. Statements of outer levels still come before the inner loops.
   */
  function afterTerms(version: Version): Emitter {
    const levels = version.before.map((statements, level) => (level === outLevel ? version.after[level]! : statements));
    return { fn, levels, ...imports };
  }

  function destination(version: Version, n: number): Destination {
    const emitter = afterTerms(version);
    const bytes = dtypeBytes(types[n]!);
    const place = out.digits.map(({ digit, outStride }) => ({ digit, coeff: outStride * bytes }));
    const index = out.digits.map(({ digit }, k) => ({ digit, coeff: outIndices[k]! }));
    return {
      address: linear(emitter, digits, { code: outs[n]!.get, level: 0 }, place).code,
      step: out.digits.at(-1)!.outStride * bytes,
      index: linear(emitter, digits, { code: i32.const(0), level: 0 }, index).code,
      flagged,
      count,
    };
  }

  function emitSums(): void {
    const one = scalarSum(fn);
    emitTerms(scalar, one.begin, () => one.add);
    if (vector !== undefined) {
      const lanes = vectorSum(fn);
      emitTerms(vector, lanes.begin, lanes.addTo, loops[vectorLevel! - 1]!.digit);
      if (vectorLevel === outLevel) finish(vector, settleVector(fn, lanes, factor, destination(vector, 0)));
      else finish(scalar, addLanes(one, lanes));
    }
    finish(scalar, settleScalar(fn, one, factor, destination(scalar, 0)));
  }

  function emitFolds(): void {
    const one = scalarAccumulator();
    emitTerms(scalar, one.begin, () => one.add);
    if (vector !== undefined) {
      const lanes = vectorFold(reduce, dtype, { fn, levels: vector.before, ...imports });
      emitTerms(vector, lanes.begin, () => lanes.add, loops[vectorLevel! - 1]!.digit);
      finish(vectorLevel === outLevel ? vector : scalar, lanes.end ?? []);
      if (vectorLevel === outLevel) store(vector, lanes);
      else finish(scalar, foldLanes(reduce, dtype, one, lanes, fn));
    }
    store(scalar, one);
  }

  function scalarAccumulator(): Fold {
    if (reduce === Reduce.last) return lastFold(dtype, fn);
    if (hasVectorFold(reduce, dtype) || reduce <= Reduce.min) return scalarFold(reduce, dtype, fn);
    const places = red.digits.map(({ digit }, k) => ({ digit, coeff: redIndices[k]! }));
    const emitter: Emitter = { fn, levels: scalar.before, ...imports };
    return positionFold(reduce, dtype, linear(emitter, digits, { code: i32.const(0), level: 0 }, places).code, fn);
  }

  function store(version: Version, fold: Fold): void {
    const emitter = afterTerms(version);
    foldResults(fold, outLevel).forEach((value, n) => {
      const { address, step } = destination(version, n);
      finish(version, stored(address, canonical(emitter, value), false, step));
    });
  }

  function finish(version: Version, code: Code): void {
    version.after[outLevel]!.push(code);
  }
}
