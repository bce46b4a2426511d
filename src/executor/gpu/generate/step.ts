import { DType, dtypeBytes, isFloat, isHalf, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import { LIMBS } from "../../../numerics/exactSum.ts";
import { Op, signature } from "../../../program/operations.ts";
import { accumulatorTypes, hasTwoResults, isDot, isPartial, isTotal, limbsOf } from "../../../program/reduction.ts";
import { Reduce, type Instruction, type Step, type View } from "../../../program/types.ts";
import { shaderOf } from "../wgsl/library.ts";
import { TERMS_BETWEEN_CARRIES } from "../wgsl/sums.ts";
import { operationText, resultType } from "./operation.ts";
import { formatOf, Parameters, slotType, widened, wrapped } from "./slots.ts";

/** A step's kernel: the shader's text, the parameters, and the number of invocations. */
type StepKernel = { source: string; parameters: Uint32Array<ArrayBuffer>; invocations: number };

type Slot = { text: string; dtype: DTypeCode };

/**
 * Writes the kernel of a step by the definition (`evaluateElement`). An invocation computes one element, or the 2 or 4
 * elements of one word of memory. Steps that differ in numbers only have the same text.
 * @param step A step for which `reasonForCpu` gives no reason.
 * @param addresses The byte addresses of the step's inputs in the memory; multiples of 4.
 * @param out The byte address of the step's tensor.
 */
export function stepKernel(step: Step, addresses: readonly number[], out: number): StepKernel {
  const P = new Parameters();
  const size = dtypeBytes(step.dtype);
  const perWord = Math.max(1, 4 / size);
  const body = [
    ...step.inputs.map(({ dtype }, n) => loadText(n, dtype, P.add(addresses[n]! / 4))),
    elementText(step, P),
    storeText(step, P.add(out / 4), P.add(step.count), perWord),
  ].join("\n");
  const parameters = P.words;
  return { source: shaderOf(body, parameters.length / 4), parameters, invocations: Math.ceil(step.count / perWord) };
}

/** The function that reads an element of an input, canonical. */
function loadText(input: number, dtype: DTypeCode, base: string): string {
  const head = `fn load${input}(at: u32) -> ${slotType(dtype)} {`;
  const size = dtypeBytes(dtype);
  if (dtype === DType.limb)
    return `${head} var w = B(); for (var i = 0u; i < 8u; i++) { w[i] = mem[${base} + 8u * at + i]; } return w; }`;
  if (size === 8) {
    const pair = `vec2u(mem[${base} + 2u * at], mem[${base} + 2u * at + 1u])`;
    return `${head} return ${dtype === DType.float64 ? `canond(${pair})` : pair}; }`;
  }
  if (size === 4) return `${head} return ${isFloat(dtype) ? `canonf(mem[${base} + at])` : `mem[${base} + at]`}; }`;
  const perWord = 4 / size;
  const raw = `((mem[${base} + at / ${perWord}u] >> (${8 * size}u * (at % ${perWord}u))) & ${2 ** (8 * size) - 1}u)`;
  if (isHalf(dtype)) return `${head} return canonf(widen(${formatOf(dtype)}, ${raw})); }`;
  return `${head} return ${dtype === DType.bool ? `select(0u, 1u, ${raw} != 0u)` : wrapped(raw, dtype)}; }`;
}

/** The function that computes the words of an invocation and writes them. */
function storeText(step: Step, base: string, count: string, perWord: number): string {
  const size = dtypeBytes(step.dtype);
  const head = `fn work(w: u32) { if (w * ${perWord}u >= ${count}) { return; }`;
  if (step.dtype === DType.limb)
    return `${head} let v = element(w); for (var i = 0u; i < 8u; i++) { mem[${base} + 8u * w + i] = v[i]; } }`;
  if (size === 8) return `${head} let v = element(w); mem[${base} + 2u * w] = v.x; mem[${base} + 2u * w + 1u] = v.y; }`;
  if (size === 4) return `${head} mem[${base} + w] = element(w); }`;
  const bits = isHalf(step.dtype) ? `narrow(${formatOf(step.dtype)}, element(at))` : "element(at)";
  return `${head} var v = 0u;
  for (var q = 0u; q < ${perWord}u; q++) {
    let at = ${perWord}u * w + q;
    if (at < ${count}) { v |= (${bits} & ${2 ** (8 * size) - 1}u) << (${8 * size}u * q); }
  }
  mem[${base} + w] = v; }`;
}

function elementText(step: Step, P: Parameters): string {
  const digits = [...step.outDigits.map((_, k) => `o${k}`), ...step.redDigits.map((_, k) => `r${k}`)];
  const constants = step.constants.map(({ value, dtype }): Slot => ({ text: P.word(value, dtype), dtype }));
  let text = "var x = index;\n";
  for (let k = step.outDigits.length - 1; k >= 0; k--) {
    const radix = P.add(step.outDigits[k]!);
    text += `let o${k} = i32(x % ${radix}); x = x / ${radix};\n`;
  }
  const epilogueSlots = readsOf(step, step.epilogueReads, "e");
  text += readsText(step, step.epilogueReads, digits, "e", P);
  const accumulators = accumulatorTypes(step).map((dtype, n): Slot => ({ text: `acc${n}`, dtype }));
  if (step.reduceType !== undefined) {
    const slots = [...readsOf(step, step.termReads, "t"), ...constants];
    const term = readsText(step, step.termReads, digits, "t", P) + codeText(step.term.code, slots, digits, "u");
    text += reductionText(step, term, slots, P);
  }
  const slots = [...epilogueSlots, ...accumulators, ...constants];
  text += codeText(step.epilogue.code, slots, digits, "v");
  return `fn element(index: u32) -> ${slotType(step.dtype)} {\n${text}return ${slots[step.epilogue.out]!.text};\n}`;
}

const readsOf = (step: Step, views: readonly View[], prefix: string): Slot[] =>
  views.map(({ input }, n) => ({ text: `${prefix}${n}`, dtype: step.inputs[input]!.dtype }));

/** Reads views: coordinates in 32 bits (`reasonForCpu` excludes views that leave them). */
function readsText(
  step: Step,
  views: readonly View[],
  digits: readonly string[],
  prefix: string,
  P: Parameters,
): string {
  return views
    .map(({ input, fill, axes }, n) => {
      const { dtype } = step.inputs[input]!;
      let text = `var ${prefix}${n}: ${slotType(dtype)} = ${P.word(fill, dtype)};\n{ var at = 0u; var inside = true;\n`;
      for (const { base, coeffs, indirect, div, extent, stride } of axes) {
        const sum = coeffs.map(({ digit, coeff }) => ` + ${P.signed(coeff)} * ${digits[digit]!}`).join("");
        text += `{ var c = ${P.signed(base)}${sum};\n`;
        if (indirect !== undefined) {
          const type = step.inputs[views[indirect]!.input]!.dtype;
          const index = widened(`${prefix}${indirect}`, type);
          // An unsigned index is never negative: one from 2^63 on lies outside, as all large indices do.
          const signed = type === DType.uint64 ? `min(${index}, vec2u(0xffffffffu, 0x7fffffffu))` : index;
          text += `c += index64(${signed}, ${P.signed(extent)});\n`;
        }
        text += "inside = inside && c >= 0; var k = u32(c);\n";
        if (div > 1) text += `inside = inside && k % ${P.add(div)} == 0u; k = k / ${P.add(div)};\n`;
        text += `inside = inside && k < ${P.add(extent)}; at += k * ${P.add(stride)}; }\n`;
      }
      return `${text}if (inside) { ${prefix}${n} = load${input}(at); } }\n`;
    })
    .join("");
}

/** Runs straight-line code and appends its results to the slots. */
function codeText(code: readonly Instruction[], slots: Slot[], digits: readonly string[], prefix: string): string {
  return code
    .map((instruction, k) => {
      const { op, a, b, c } = instruction;
      const arity = op === Op.cast ? 1 : signature(op)!.arity;
      const operands = [a, b, c].slice(0, arity).map((slot) => slots[slot]!.text);
      const text = op === Op.digit ? `vec2u(u32(${digits[a]!}), 0u)` : operationText(instruction, operands);
      slots.push({ text: `${prefix}${k}`, dtype: resultType(instruction) });
      return `let ${prefix}${k} = ${text};\n`;
    })
    .join("");
}

/** Declares the accumulators and folds all terms into them. */
function reductionText(step: Step, term: string, slots: readonly Slot[], P: Parameters): string {
  const a = slots[step.term.outA]?.text ?? "";
  const b = hasTwoResults(step.reduce) ? slots[step.term.outB]!.text : "";
  const { before, each, after } = foldOf(step, a, b);
  const loops = step.redDigits.map((radix, k) => `for (var r${k} = 0; r${k} < ${P.signed(radix)}; r${k}++) {`);
  return `${before} var r = 0u;\n${loops.join("\n")}\n${term}${each}\nr++;\n${"}".repeat(loops.length)}\n${after}\n`;
}

type Fold = { before: string; each: string; after: string };

function foldOf(step: Step, a: string, b: string): Fold {
  const { reduce } = step;
  const dtype = step.reduceType!;
  if (isTotal(reduce) || isPartial(reduce) || (isFloat(dtype) && (reduce === Reduce.sum || isDot(reduce))))
    return sumFold(step, a, b);
  const type = slotType(dtype);
  const operation = (op: Op, x: string, y: string): string => operationText({ op, dtype, a: 0, b: 0, c: 0 }, [x, y]);
  const zero = type === "u32" ? "0u" : `${type}()`;
  switch (reduce) {
    case Reduce.sum:
    case Reduce.dot: {
      const value = reduce === Reduce.dot ? operation(Op.mul, a, b) : a;
      return { before: `var acc0 = ${zero};`, each: `acc0 = ${operation(Op.add, "acc0", value)};`, after: "" };
    }
    case Reduce.max:
    case Reduce.min: {
      const best = operation(reduce === Reduce.max ? Op.max : Op.min, "acc0", a);
      return { before: `var acc0 = ${zero};`, each: `acc0 = select(${best}, ${a}, r == 0u);`, after: "" };
    }
    case Reduce.last: {
      const set = `if (${a} != 0u) { acc0 = ${b}; acc1 = 1u; }`;
      return { before: `var acc0 = ${zero}; var acc1 = 0u;`, each: set, after: "" };
    }
    default:
      return positionFold(step, type, a);
  }
}

function positionFold({ reduce, reduceType }: Step, type: string, a: string): Fold {
  const dtype = reduceType!;
  const greatest = reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  const isFirst = reduce === Reduce.argmax || reduce === Reduce.argmin;
  const suffix = dtype === DType.float64 ? "d" : "f";
  const before = (x: string, y: string): string => {
    const [low, high] = greatest ? [y, x] : [x, y];
    const less = `${operationText({ op: Op.lt, dtype, a: 0, b: 0, c: 0 }, [low, high])} == 1u`;
    return isFloat(dtype) ? `(isNaN${suffix}(${x}) && !isNaN${suffix}(${y})) || ${less}` : less;
  };
  const wins = isFirst ? before(a, "best") : `!(${before("best", a)})`;
  return {
    before: `var acc0 = vec2u(0u); var best = ${type}();`,
    each: `if (r == 0u || (${wins})) { best = ${a}; acc0 = vec2u(r, 0u); }`,
    after: "",
  };
}

/** Exact sums: rounded, or a word of them by the element's last digit. */
function sumFold(step: Step, a: string, b: string): Fold {
  const { reduce, outDigits } = step;
  const words = limbsOf(step);
  const d = words === LIMBS ? "" : "d";
  const one = d === "" ? "0x3f800000u" : "vec2u(0u, 0x3ff00000u)";
  const add = isTotal(reduce)
    ? `sumWord${d}(r % ${words}u, ${a});`
    : `sumProduct${d}(${a}, ${isDot(reduce) ? b : one});`;
  const carry = `if (r % ${TERMS_BETWEEN_CARRIES}u == ${TERMS_BETWEEN_CARRIES - 1}u) { sumCarry${d}(); }`;
  const isWord = isPartial(reduce) || reduce === Reduce.partialTotal;
  const rounded = d === "" ? `sumRounded(${formatOf(step.reduceType!)})` : "sumRoundedd()";
  const result = isWord ? `sumLimb${d}(u32(o${outDigits.length - 1}))` : rounded;
  return { before: `sumClear${d}();`, each: `${add} ${carry}`, after: `let acc0 = ${result};` };
}
