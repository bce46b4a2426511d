import { DType, dtypeBytes, isFloat, isHalf, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import { Op, signature } from "../../../program/operations.ts";
import { accumulatorTypes, hasTwoResults } from "../../../program/reduction.ts";
import type { Instruction, Step, View } from "../../../program/types.ts";
import { neededSlots } from "../../loops/slots.ts";
import type { LoopDigit } from "../../loops/spec.ts";
import type { Kernel } from "../kernel.ts";
import { GROUP, shaderOf } from "../wgsl/library.ts";
import { elementOperations, operationsOf } from "./cost.ts";
import { foldOf, isShareable, sharedFold } from "./folds.ts";
import { operationText, resultType } from "./operation.ts";
import { formatOf, Parameters, slotType, widened, wrapped } from "./slots.ts";

type Slot = { text: string; dtype: DTypeCode };

/**
 * An input's byte address in the memory, a multiple of 4; or a step that is computed element by element where it is
 * read, with the addresses of what that step reads.
 */
export type Source = number | { step: Step; addresses: readonly number[] };

/** A product's sums: the byte address, and each out digit's stride. */
type Sums = { address: number; strides: readonly number[] };

/** How a step's kernel is chosen. Bits never depend on it. */
export type KernelOptions = {
  /** The fewest terms that lanes share. */
  leastShared?: number | undefined;
};

/** With fewer terms, lanes take longer than they spare; with more words, all of a GPU's lanes have work without it. */
const [LEAST_SHARED, MOST_WORDS] = [256, 2 ** 14];
/** The lanes of an element, and from how many terms on all lanes of a workgroup: a lane has 16 terms or more. */
const [LANES, MANY_TERMS] = [16, 1_024];
/** Operations of a lane besides its terms: emptying and adding limbs. */
const SHARING = 3_000;

/** Elements in a memory word; an invocation writes whole words. */
const perWordOf = ({ dtype }: Step): number => Math.max(1, 4 / dtypeBytes(dtype));

const termsOf = ({ redDigits }: Step): number => redDigits.reduce((product, radix) => product * radix, 1);

/**
 * Writes the kernel of a step by the definition (`evaluateElement`). An invocation computes one element, or the 2 or 4
 * elements of one word of memory; several do, where lanes share the terms. Steps that differ in numbers only
 * have the same text.
 * @param step A step for which `reasonForCpu` gives no reason.
 * @param sources The step's inputs.
 * @param out The byte address of the step's tensor.
 */
export function stepKernel(
  step: Step,
  sources: readonly Source[],
  out: number,
  { leastShared = LEAST_SHARED }: KernelOptions = {},
): Kernel {
  const invocations = Math.ceil(step.count / perWordOf(step));
  const isShared = isShareable(step) && termsOf(step) >= leastShared && invocations <= MOST_WORDS;
  return isShared ? sharedKernel(step, sources, out) : elementKernel(step, sources, out);
}

/** Writes the kernel of a step whose sums other kernels have computed: see {@link stepKernel}. */
export const epilogueKernel = (step: Step, sources: readonly Source[], out: number, sums: Sums): Kernel =>
  elementKernel(step, sources, out, sums);

function elementKernel(step: Step, sources: readonly Source[], out: number, sums?: Sums): Kernel {
  const P = new Parameters();
  const body = [
    ...step.inputs.map(({ dtype }, n) => sourceText(`load${n}`, dtype, sources[n]!, P)),
    elementText(step, P, { sums }),
    storeText(step, P.add(out / 4), P.add(step.count)),
  ].join("\n");
  const operations = perWordOf(step) * elementOperations(step, sums !== undefined, unpackingOf(sources));
  const invocations = Math.ceil(step.count / perWordOf(step));
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
  sources: readonly Source[],
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
  const loads = step.inputs.map(({ dtype }, n) => used.has(n) && sourceText(`load${n}`, dtype, sources[n]!, P));
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
  const neededReads = termReads.filter((_, n) => needed.has(n));
  const operations = operationsOf(neededReads, term.code, unpackingOf(sources));
  return { source: shaderOf(body.join("\n")), parameters: P.words, invocations: count, operations };
}

const digitNames = ({ outDigits, redDigits }: Step): string[] => [
  ...outDigits.map((_, k) => `o${k}`),
  ...redDigits.map((_, k) => `r${k}`),
];

/** By input, the operations for computing an element where the step reads the element. */
const unpackingOf = (sources: readonly Source[]): number[] =>
  sources.map((source) => (typeof source === "number" ? 0 : elementOperations(source.step, false)));

/** The function that gives an element of an input, canonical. */
function sourceText(name: string, dtype: DTypeCode, source: Source, P: Parameters): string {
  if (typeof source === "number") return loadText(name, dtype, P.add(source / 4));
  const { step, addresses } = source;
  const loads = step.inputs.map((ref, n) => loadText(`${name}_${n}`, ref.dtype, P.add(addresses[n]! / 4)));
  const canon = isFloat(dtype) ? (dtype === DType.float64 ? "canond" : "canonf") : "";
  const text = `fn ${name}(at: u32) -> ${slotType(dtype)} { return ${canon}(${name}_element(at)); }`;
  return [...loads, elementText(step, P, {}, `${name}_element`, `${name}_`), text].join("\n");
}

/** The function that reads an element from the memory, canonical. */
function loadText(name: string, dtype: DTypeCode, base: string): string {
  const head = `fn ${name}(at: u32) -> ${slotType(dtype)} {`;
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

/** How an element is stored: a statement for the element at `at`, and one that writes the word that has several. */
function storedText(step: Step, base: string): [store: string, write: string] {
  const size = dtypeBytes(step.dtype);
  if (step.dtype === DType.limb)
    return [`let e = element(at); for (var k = 0u; k < 8u; k++) { poke(${base} + 8u * at + k, e[k]); }`, ""];
  if (size === 8) return [`let e = element(at); poke(${base} + 2u * at, e.x); poke(${base} + 2u * at + 1u, e.y);`, ""];
  if (size === 4) return [`poke(${base} + at, element(at));`, ""];
  const bits = isHalf(step.dtype) ? `narrow(${formatOf(step.dtype)}, element(at))` : "element(at)";
  return [`v |= (${bits} & ${2 ** (8 * size) - 1}u) << (${8 * size}u * q);`, `poke(${base} + w, v);`];
}

/** The function for an invocation: computes words, and writes the words. */
function storeText(step: Step, base: string, count: string): string {
  const perWord = perWordOf(step);
  const [store, write] = storedText(step, base);
  const head = `fn work(w: u32) { if (w * ${perWord}u >= ${count}) { return; }`;
  if (perWord === 1) return `${head} let at = w; ${store} }`;
  return `${head} var v = 0u;
  for (var q = 0u; q < ${perWord}u; q++) {
    let at = ${perWord}u * w + q;
    if (at < ${count}) { ${store} }
  }
  ${write} }`;
}

/** The texts of a step's terms: reads and code, and the term's results. */
function termText(step: Step, P: Parameters): { text: string; results: [a: string, b: string] } {
  const digits = digitNames(step);
  const slots = [...readsOf(step, step.termReads, "t"), ...constantsOf(step, P)];
  const text = readsText(step, step.termReads, digits, "t", P) + codeText(step.term.code, slots, digits, "u");
  const b = hasTwoResults(step.reduce) ? slots[step.term.outB]!.text : "";
  return { text, results: [slots[step.term.outA]?.text ?? "", b] };
}

const constantsOf = ({ constants }: Step, P: Parameters): Slot[] =>
  constants.map(({ value, dtype }): Slot => ({ text: P.word(value, dtype), dtype }));

/** Declares digits by an index: the last digit is the fastest. @param rest The name of a variable for it. */
function digitsText(index: string, rest: string, names: readonly string[], radices: readonly number[], P: Parameters) {
  let text = `var ${rest} = ${index};\n`;
  for (let k = radices.length - 1; k >= 0; k--) {
    const radix = P.add(radices[k]!);
    text += `let ${names[k]!} = i32(${rest} % ${radix}); ${rest} = ${rest} / ${radix};\n`;
  }
  return text;
}

/** Where a step's sums come from: a product's kernels, or lanes that have folded the terms. */
type Given = { sums?: Sums | undefined; shared?: { declares: string } };

/**
 * The function that computes an element.
 * @param name The function's name.
 * @param load The beginning for the names of functions giving inputs.
 */
function elementText(step: Step, P: Parameters, { sums, shared }: Given, name = "element", load = "load"): string {
  const digits = digitNames(step);
  const constants = constantsOf(step, P);
  let text = digitsText("index", "x", digits, step.outDigits, P);
  const epilogueSlots = readsOf(step, step.epilogueReads, "e");
  text += readsText(step, step.epilogueReads, digits, "e", P, undefined, load);
  const accumulators = accumulatorTypes(step).map((dtype, n): Slot => ({ text: `acc${n}`, dtype }));
  if (sums !== undefined) {
    const terms = sums.strides.map((stride, k) => ` + ${P.add(stride)} * u32(o${k})`).join("");
    text += `let acc0 = peek(${P.add(sums.address / 4)}${terms});\n`;
  } else if (shared !== undefined) text += `${shared.declares}\n`;
  else if (step.reduceType !== undefined) {
    const term = termText(step, P);
    text += reductionText(step, term.text, term.results, P);
  }
  const slots = [...epilogueSlots, ...accumulators, ...constants];
  text += codeText(step.epilogue.code, slots, digits, "v");
  return `fn ${name}(index: u32) -> ${slotType(step.dtype)} {\n${text}return ${slots[step.epilogue.out]!.text};\n}`;
}

/**
 * A step whose terms are shared by lanes, for long reductions of few elements: an invocation alone would read a whole
 * row of weights. The weights are read as they lie in memory, packed or not.
 */
function sharedKernel(step: Step, sources: readonly Source[], out: number): Kernel {
  const P = new Parameters();
  const [perWord, terms] = [perWordOf(step), termsOf(step)];
  const names = digitNames(step).slice(step.outDigits.length);
  const lanes = terms < MANY_TERMS ? LANES : GROUP;
  const [all, each] = [P.add(terms), P.add(Math.ceil(terms / lanes))];
  const term = termText(step, P);
  const { declarations, loop, fold, gather, clear } = sharedFold(step, ...term.results, lanes, all, each);
  const count = P.add(step.count);
  const outDigits = digitsText("index", "x", digitNames(step), step.outDigits, P);
  const again = perWord === 1 ? "" : `workgroupBarrier(); ${clear} workgroupBarrier();`;
  const [store, write] = storedText(step, P.add(out / 4));
  const body = [
    ...step.inputs.map(({ dtype }, n) => sourceText(`load${n}`, dtype, sources[n]!, P)),
    declarations,
    `fn fold(index: u32, lane: u32) {\n${outDigits}${fold.before}
${loop} {\n${digitsText("r", "y", names, step.redDigits, P)}${term.text}${fold.each}\n}\n${fold.after}\n}`,
    elementText(step, P, { shared: { declares: gather } }),
    `fn work(i: u32) {
  let lane = i % ${lanes}u; let w = i / ${lanes}u; slot = (i % ${GROUP}u) / ${lanes}u; var v = 0u;
  for (var q = 0u; q < ${perWord}u; q++) {
    let at = ${perWord}u * w + q;
    fold(at, lane);
    workgroupBarrier();
    if (lane == 0u && at < ${count}) { ${store} }
    ${again}
  }
  if (lane == 0u && ${perWord}u * w < ${count}) { ${write} }
}`,
  ].join("\n");
  const ofElement = elementOperations(step, false, unpackingOf(sources));
  const operations = Math.ceil((perWord * ofElement) / lanes) + SHARING;
  const invocations = lanes * Math.ceil(step.count / perWord);
  return { source: shaderOf(body), parameters: P.words, invocations, operations };
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
  load = "load",
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
      return `${text}if (inside) { ${prefix}${n} = ${load}${input}(at); } }\n`;
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
function reductionText(step: Step, term: string, [a, b]: readonly string[], P: Parameters): string {
  const { before, each, after } = foldOf(step, a!, b!);
  const loops = step.redDigits.map((radix, k) => `for (var r${k} = 0; r${k} < ${P.signed(radix)}; r${k}++) {`);
  return `${before} var r = 0u;\n${loops.join("\n")}\n${term}${each}\nr++;\n${"}".repeat(loops.length)}\n${after}\n`;
}
