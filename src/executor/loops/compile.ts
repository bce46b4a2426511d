import { DType, isFloat, type DType as DTypeCode, type Word } from "../../numerics/dtype.ts";
import { toNumber } from "../../numerics/float32.ts";
import { Op, signature } from "../../program/operations.ts";
import type { TensorArray } from "../arrays.ts";
import { Emitter, type Value } from "./emitter.ts";
import { HELPERS } from "./helpers.ts";
import { castSource, operationSource } from "./operation.ts";
import { axisRange, emitRead, REACH, type DigitName } from "./read.ts";
import { neededSlots, slotTypes } from "./slots.ts";
import type { LoopSpec } from "./spec.ts";

/**
 * Runs the loops for values `start .. end - 1` of the first digit; results are stored from index 0 of each array of `outs`.
 * Floats may come out as NaNs that are not canonical.
 */
export type Loop = (sources: readonly TensorArray[], outs: readonly TensorArray[], start: number, end: number) => void;

/** Compiled loops by their source, so that unrolled steps share them; emptied when full. */
const loops = new Map<string, Loop>();
const MOST_LOOPS = 4096;

/** Whether every read of the expression can be followed in float64 numbers. */
export function canCompile(spec: LoopSpec): boolean {
  const radices = new Map(spec.digits.map(({ digit, radix }) => [digit, radix]));
  return spec.reads.every((view) =>
    view.axes.every((axis) => {
      const [low, high] = axisRange(axis, (digit) => radices.get(digit) ?? 1);
      const exact = low > -REACH && high < REACH && axis.extent * axis.div < REACH;
      // An index beyond 2^53 is out of bounds however it is rounded, but whether it divides is lost.
      return exact && (axis.indirect === undefined || axis.div === 1);
    }),
  );
}

/** Compiles a nest of loops to JavaScript; equal nests share one function. */
export function compileLoop(spec: LoopSpec): Loop {
  const source = loopSource(spec);
  const known = loops.get(source);
  if (known !== undefined) return known;
  // Everything in the source is generated here from numbers: names of slots and digits, and literals printed from numbers and bigints.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const make = new Function("h", `"use strict"; const { fround } = Math;\n${source}`) as (h: typeof HELPERS) => Loop;
  const loop = make(HELPERS);
  if (loops.size >= MOST_LOOPS) loops.clear();
  loops.set(source, loop);
  return loop;
}

/** A word as JavaScript: a number, or a bigint for the 64-bit types. */
function literal(word: Word, dtype: DTypeCode): string {
  if (dtype === DType.int64 || dtype === DType.uint64) return `(${BigInt(word)}n)`;
  return `(${isFloat(dtype) ? toNumber(word) : Number(word)})`;
}

function loopSource(spec: LoopSpec): string {
  const digitLoops = spec.digits.filter(({ radix }, k) => k === 0 || radix > 1);
  const emitter = new Emitter(Math.max(digitLoops.length, 1));
  const digits = new Map(
    digitLoops.map(({ digit, radix }, k): [number, DigitName] => [digit, { name: `d${k}`, level: k + 1, radix }]),
  );
  const slots = emitSlots(spec, emitter, digits);
  spec.outs.forEach((slot, n) => emitter.levels.at(-1)!.push(`o${n}[i] = ${slots[slot]!.source};`));
  emitter.levels.at(-1)!.push("i++;");

  const lines = [
    `// ${spec.sourceTypes.join(" ")}`,
    "return (sources, outs, start, end) => {",
    ...spec.sourceTypes.map((_, n) => `const a${n} = sources[${n}];`),
    ...spec.outs.map((_, n) => `const o${n} = outs[${n}];`),
    "let i = 0;",
  ];
  emitter.levels.forEach((statements, level) => {
    const radix = digitLoops[level - 1]?.radix;
    if (level === 1) lines.push("for (let d0 = start; d0 < end; d0++) {");
    else if (level > 1) lines.push(`for (let d${level - 1} = 0; d${level - 1} < ${radix}; d${level - 1}++) {`);
    lines.push(...statements);
  });
  return [...lines, ...emitter.levels.slice(1).map(() => "}"), "};"].join("\n");
}

function emitSlots(spec: LoopSpec, emitter: Emitter, digits: ReadonlyMap<number, DigitName>): (Value | undefined)[] {
  const { reads, constants, code, sourceTypes } = spec;
  const types = slotTypes(spec, sourceTypes);
  const slots: (Value | undefined)[] = new Array<undefined>(types.length).fill(undefined);
  for (const slot of [...neededSlots(spec, spec.outs)].sort((a, b) => a - b)) {
    const constant = slot - reads.length;
    if (constant < 0) {
      const view = reads[slot]!;
      const fill = literal(view.fill, sourceTypes[view.input]!);
      slots[slot] = emitRead({ emitter, digits, slots, types }, view, `a${view.input}`, fill);
    } else if (constant < constants.length) {
      const { value, dtype } = constants[constant]!;
      slots[slot] = { source: literal(value, dtype), level: 0 };
    } else {
      slots[slot] = emitter.define(instruction(code[constant - constants.length]!));
    }
  }
  return slots;

  function instruction({ op, dtype, a, b, c }: LoopSpec["code"][number]): Value {
    if (op === Op.digit) {
      const digit = digits.get(a);
      return digit === undefined ? { source: "0n", level: 0 } : { source: `BigInt(${digit.name})`, level: digit.level };
    }
    const [x, y, z] = [slots[a], slots[b], slots[c]];
    if (op === Op.cast) return { source: castSource(dtype, b as DTypeCode, x!.source), level: x!.level };
    const used = [x, y, z].map((value) => value ?? { source: "0", level: 0 });
    const [first, second, third] = used.map(({ source }) => source) as [string, string, string];
    const level = Math.max(...operandLevels(op, used));
    return { source: operationSource(op, dtype, first, second, third), level };
  }
}

function operandLevels(op: Op, values: readonly Value[]): number[] {
  const arity = signature(op)!.arity;
  return values.slice(0, arity).map(({ level }) => level);
}
