import type { Code } from "../../kernels/assembler/encoding.ts";
import { FunctionBuilder, type Local } from "../../kernels/assembler/functionBuilder.ts";
import { i32 } from "../../kernels/assembler/instructions.ts";
import { errorFactor } from "../../kernels/certify.ts";
import { dtypeBytes, isFloat } from "../../numerics/dtype.ts";
import { hasTwoResults, accumulatorTypes } from "../../program/reduction.ts";
import { Reduce } from "../../program/types.ts";
import { digitStrides } from "../splitStep.ts";
import { linear } from "./address.ts";
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
import { mergeDigits } from "./mergeDigits.ts";
import { emptyVersion, nestCode, type Version } from "./nest.ts";
import type { ReductionSpec } from "./reductionSpec.ts";
import { canonical, digitsOf, scaled, stored, storedDigits } from "./results.ts";
import { neededSlots } from "./slots.ts";
import { LANES, type Emitter, type Imports } from "./values.ts";

/** The function `(sources..., outs..., flagged, start, end) -> flagged count` that runs a reduction. */
export function reductionFunction(spec: ReductionSpec, imports: Imports): FunctionBuilder {
  const { reduce, reduceType: dtype, sourceTypes } = spec;
  const types = accumulatorTypes(spec);
  const outSlots = hasTwoResults(reduce) ? [spec.outA, spec.outB] : [spec.outA];
  const out = mergeDigits(spec, storedDigits({ ...spec, digits: spec.outDigits }), outSlots);
  const red = mergeDigits(spec, storedDigits({ digits: spec.redDigits }), outSlots);
  const fn = new FunctionBuilder(
    [...sourceTypes, ...types, 0, 0, 0].map(() => "i32"),
    "i32",
  );
  const sources = sourceTypes.map((type, n) => ({ address: fn.parameters[n]!.get, dtype: type }));
  const outs = types.map((_, n) => fn.parameters[sources.length + n]!);
  const [flagged, start, end] = fn.parameters.slice(-3) as [Local, Local, Local];
  const count = fn.local("i32");

  const loops = [...out.digits, ...red.digits].map((loop) => ({ ...loop, counter: fn.local("i32") }));
  const digits = digitsOf(loops);
  const outLevel = out.digits.length;
  const outIndices = digitStrides(out.digits.map(({ radix }) => radix));
  const redIndices = digitStrides(red.digits.map(({ radix }) => radix));
  const factor = errorFactor(red.digits.reduce((product, { radix }) => product * radix, 1));
  const isFloatSum = isFloat(dtype) && (reduce === Reduce.sum || reduce === Reduce.dot);

  const vectorLevel = isFloatSum || hasVectorFold(reduce, dtype) ? chooseVectorLevel() : undefined;
  const scalar = emptyVersion(loops.length);
  const vector = vectorLevel === undefined ? undefined : emptyVersion(loops.length);
  if (isFloatSum) emitSums();
  else emitFolds();
  const nest = { fn, loops, start, end };
  return fn.emit(
    scaled(start, out.firstScale),
    scaled(end, out.firstScale),
    nestCode(nest, scalar, vector, vectorLevel),
    count.get,
  );

  /** The last out digit or the last reduction digit: that in which fewer reads jump, and that has enough values. */
  function chooseVectorLevel(): number | undefined {
    const reads = [...neededSlots(spec, outSlots)].filter((slot) => slot < spec.reads.length);
    const jumps = (digit: number): number =>
      reads.filter((slot) => {
        const steps = spec.reads[slot]!.axes.map(
          ({ coeffs, stride }) => stride * (coeffs.find((term) => term.digit === digit)?.coeff ?? 0),
        );
        return ![0, 1].includes(steps.reduce((sum, step) => sum + step, 0));
      }).length;
    const levels = [loops.length, outLevel].filter((level) => {
      const { digit, radix } = loops[level - 1]!;
      return radix >= LANES && canVectorise(spec, sourceTypes, outSlots, digit);
    });
    return levels.sort((a, b) => jumps(loops[a - 1]!.digit) - jumps(loops[b - 1]!.digit))[0];
  }

  /** Emits a version's terms into the innermost level, for an accumulator. */
  function emitTerms(version: Version, accumulator: (emitter: Emitter) => Accumulator, vectorDigit?: number): void {
    const emitter: Emitter = { fn, levels: version.before, ...imports };
    const context = { emitter, digits, views: spec.reads, sources };
    const slot = expressionEmitter(context, spec, vectorDigit);
    const [a, b] = outSlots.map(slot);
    const { begin, add } = accumulator(emitter);
    // Operands that are the same for all lanes are widened outside of the loops that do not change them.
    const code = add(a!, b);
    version.before[outLevel]!.push(begin);
    version.before.at(-1)!.push(code);
  }

  /** Where statements go that come after the terms: those of outer levels still before the loops inside. */
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
    emitTerms(scalar, () => one);
    if (vector !== undefined) {
      const lanes = vectorSum(fn);
      emitTerms(vector, () => lanes, loops[vectorLevel! - 1]!.digit);
      if (vectorLevel === outLevel) finish(vector, settleVector(fn, lanes, factor, destination(vector, 0)));
      else finish(scalar, addLanes(one, lanes));
    }
    finish(scalar, settleScalar(fn, one, factor, destination(scalar, 0)));
  }

  function emitFolds(): void {
    const one = scalarAccumulator();
    emitTerms(scalar, () => one);
    if (vector !== undefined) {
      let lanes: Fold | undefined;
      emitTerms(vector, (emitter) => (lanes = vectorFold(reduce, dtype, emitter)), loops[vectorLevel! - 1]!.digit);
      if (vectorLevel === outLevel) store(vector, lanes!);
      else finish(scalar, foldLanes(reduce, dtype, one, lanes!, fn));
    }
    store(scalar, one);
  }

  function scalarAccumulator(): Fold {
    if (reduce === Reduce.last) return lastFold(dtype, fn);
    if (hasVectorFold(reduce, dtype) || reduce <= Reduce.min) return scalarFold(reduce, dtype, fn);
    const terms = red.digits.map(({ digit }, k) => ({ digit, coeff: redIndices[k]! }));
    const emitter: Emitter = { fn, levels: scalar.before, ...imports };
    return positionFold(reduce, dtype, linear(emitter, digits, { code: i32.const(0), level: 0 }, terms).code, fn);
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
