import { DType, dtypeBytes, isFloat, isHalf, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import { LIMBS } from "../../../numerics/exactSum.ts";
import { Op, signature } from "../../../program/operations.ts";
import {
  accumulatorTypes,
  hasTwoResults,
  isDot,
  isExact,
  isPartial,
  isTotal,
  limbsOf,
} from "../../../program/reduction.ts";
import { Reduce, type Instruction, type Step, type View } from "../../../program/types.ts";
import { neededSlots } from "../../loops/slots.ts";
import type { LoopDigit } from "../../loops/spec.ts";
import type { Kernel } from "../kernel.ts";
import { shaderOf } from "../wgsl/library.ts";
import { TERMS_BETWEEN_CARRIES } from "../wgsl/sums.ts";
import { elementOperations, operationsOf } from "./cost.ts";
import { operationText, resultType } from "./operation.ts";
import { formatOf, Parameters, slotType, widened, wrapped } from "./slots.ts";

type Slot = { text: string; dtype: DTypeCode };

/** A product's sums: the byte address, and each out digit's stride. */
type Sums = { address: number; strides: readonly number[] };

/**
 * Writes the kernel of a step by the definition (`evaluateElement`). An invocation computes one element, or the 2 or 4
 * elements of one word of memory. Steps that differ in numbers only have the same text.
 * @param step A step for which `reasonForCpu` gives no reason.
 * @param addresses The byte addresses of the step's inputs in the memory; multiples of 4.
 * @param out The byte address of the step's tensor.
 * @param sums A product's sums, if other kernels compute the sums.
 */
export function stepKernel(step: Step, addresses: readonly number[], out: number, sums?: Sums): Kernel {
  const P = new Parameters();
  const size = dtypeBytes(step.dtype);
  const perWord = Math.max(1, 4 / size);
  const body = [
    ...step.inputs.map(({ dtype }, n) => loadText(n, dtype, P.add(addresses[n]! / 4))),
    elementText(step, P, sums),
    storeText(step, P.add(out / 4), P.add(step.count), perWord),
  ].join("\n");
  const operations = perWord * elementOperations(step, sums !== undefined);
  const invocations = Math.ceil(step.count / perWord);
  return { source: shaderOf(body), parameters: P.words, invocations, operations };
}

/**
 * Writes the kernel for a product's factor: rows with a word per element, in the form for slots.
 * @param slot The term's slot with the factor.
 * @param digits The digits for rows and elements, the last the fastest; all others are 0.
 * @param first The number of the first element.
 * @param count The number of elements.
 */
export function factorKernel(
  step: Step,
  addresses: readonly number[],
  out: number,
  { slot, digits, first, count }: { slot: number; digits: readonly LoopDigit[]; first: number; count: number },
): Kernel {
  const P = new Parameters();
  const names = digitNames(step);
  const { termReads, constants, term } = step;
  const needed = neededSlots({ reads: termReads, constants, code: term.code }, [slot]);
  const known = constants.map(({ value, dtype }): Slot => ({ text: P.word(value, dtype), dtype }));
  const slots = [...readsOf(step, termReads, "t"), ...known];
  const used = new Set(termReads.flatMap(({ input }, n) => (needed.has(n) ? [input] : [])));
  const loads = step.inputs.map(({ dtype }, n) => used.has(n) && loadText(n, dtype, P.add(addresses[n]! / 4)));
  let text = `fn work(w: u32) { if (w >= ${P.add(count)}) { return; } var x = w + ${P.add(first)};\n`;
  for (const { digit, radix } of [...digits].reverse()) {
    const size = P.add(radix);
    text += `let ${names[digit]!} = i32(x % ${size}); x = x / ${size};\n`;
  }
  names.forEach((name, digit) => {
    if (!digits.some((each) => each.digit === digit)) text += `let ${name} = 0;\n`;
  });
  text += readsText(step, termReads, names, "t", P, needed) + codeText(term.code, slots, names, "u", needed);
  const body = [
    ...loads.filter((load) => load !== false),
    `${text}poke(${P.add(out / 4)} + w, ${slots[slot]!.text}); }`,
  ];
  const operations = operationsOf(termReads, term.code);
  return { source: shaderOf(body.join("\n")), parameters: P.words, invocations: count, operations };
}

const digitNames = ({ outDigits, redDigits }: Step): string[] => [
  ...outDigits.map((_, k) => `o${k}`),
  ...redDigits.map((_, k) => `r${k}`),
];

/** The function that reads an element of an input, canonical. */
function loadText(input: number, dtype: DTypeCode, base: string): string {
  const head = `fn load${input}(at: u32) -> ${slotType(dtype)} {`;
  const size = dtypeBytes(dtype);
  if (dtype === DType.limb)
    return `${head} var w = B(); for (var i = 0u; i < 8u; i++) { w[i] = peek(${base} + 8u * at + i); } return w; }`;
  if (size === 8) {
    const pair = `vec2u(peek(${base} + 2u * at), peek(${base} + 2u * at + 1u))`;
    return `${head} return ${dtype === DType.float64 ? `canond(${pair})` : pair}; }`;
  }
  if (size === 4) return `${head} return ${isFloat(dtype) ? `canonf(peek(${base} + at))` : `peek(${base} + at)`}; }`;
  const perWord = 4 / size;
  const raw = `((peek(${base} + at / ${perWord}u) >> (${8 * size}u * (at % ${perWord}u))) & ${2 ** (8 * size) - 1}u)`;
  if (isHalf(dtype)) return `${head} return canonf(widen(${formatOf(dtype)}, ${raw})); }`;
  return `${head} return ${dtype === DType.bool ? `select(0u, 1u, ${raw} != 0u)` : wrapped(raw, dtype)}; }`;
}

/** The function that computes the words of an invocation and writes them. */
function storeText(step: Step, base: string, count: string, perWord: number): string {
  const size = dtypeBytes(step.dtype);
  const head = `fn work(w: u32) { if (w * ${perWord}u >= ${count}) { return; }`;
  if (step.dtype === DType.limb)
    return `${head} let v = element(w); for (var i = 0u; i < 8u; i++) { poke(${base} + 8u * w + i, v[i]); } }`;
  if (size === 8) return `${head} let v = element(w); poke(${base} + 2u * w, v.x); poke(${base} + 2u * w + 1u, v.y); }`;
  if (size === 4) return `${head} poke(${base} + w, element(w)); }`;
  const bits = isHalf(step.dtype) ? `narrow(${formatOf(step.dtype)}, element(at))` : "element(at)";
  return `${head} var v = 0u;
  for (var q = 0u; q < ${perWord}u; q++) {
    let at = ${perWord}u * w + q;
    if (at < ${count}) { v |= (${bits} & ${2 ** (8 * size) - 1}u) << (${8 * size}u * q); }
  }
  poke(${base} + w, v); }`;
}

function elementText(step: Step, P: Parameters, sums: Sums | undefined): string {
  const digits = digitNames(step);
  const constants = step.constants.map(({ value, dtype }): Slot => ({ text: P.word(value, dtype), dtype }));
  let text = "var x = index;\n";
  for (let k = step.outDigits.length - 1; k >= 0; k--) {
    const radix = P.add(step.outDigits[k]!);
    text += `let o${k} = i32(x % ${radix}); x = x / ${radix};\n`;
  }
  const epilogueSlots = readsOf(step, step.epilogueReads, "e");
  text += readsText(step, step.epilogueReads, digits, "e", P);
  const accumulators = accumulatorTypes(step).map((dtype, n): Slot => ({ text: `acc${n}`, dtype }));
  if (sums !== undefined) {
    const terms = sums.strides.map((stride, k) => ` + ${P.add(stride)} * u32(o${k})`).join("");
    text += `let acc0 = peek(${P.add(sums.address / 4)}${terms});\n`;
  } else if (step.reduceType !== undefined) {
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
  needed?: ReadonlySet<number>,
): string {
  return views
    .map(({ input, fill, axes }, n) => {
      if (needed?.has(n) === false) return "";
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
function codeText(
  code: readonly Instruction[],
  slots: Slot[],
  digits: readonly string[],
  prefix: string,
  needed?: ReadonlySet<number>,
): string {
  return code
    .map((instruction, k) => {
      const { op, a, b, c } = instruction;
      const arity = op === Op.cast ? 1 : signature(op)!.arity;
      const operands = [a, b, c].slice(0, arity).map((slot) => slots[slot]!.text);
      const text = op === Op.digit ? `vec2u(u32(${digits[a]!}), 0u)` : operationText(instruction, operands);
      const slot = slots.push({ text: `${prefix}${k}`, dtype: resultType(instruction) }) - 1;
      if (needed?.has(slot) === false) return "";
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
  if (isExact(step)) return sumFold(step, a, b);
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
