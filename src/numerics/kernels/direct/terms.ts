import { doWhile } from "../assembler/control.ts";
import type { Code } from "../assembler/encoding.ts";
import type { FunctionBuilder, Local } from "../assembler/functionBuilder.ts";
import { i32 } from "../assembler/instructions.ts";

/** A loop over terms, and the bytes by which each loop value moves the position of a left factor. */
export type TermLoop = { radix: number; left: number };

/** The places of a term's factors: addresses with an offset each. */
type TermPlace = { left: Code; leftOffset: number; right: Code; rightOffset: number; isFirst: boolean };

/** Up to this many terms are all unrolled; of more terms, AT_A_TIME at a time. */
const MAX_UNROLLED = 32;
const AT_A_TIME = 4;

/**
 * Merges an outer loop with its inner one where a step of the outer loop continues after the inner loop's last value.
 */
function merged(loops: readonly TermLoop[]): TermLoop[] {
  const made: TermLoop[] = [];
  for (const loop of loops) {
    const outer = made.at(-1);
    if (outer !== undefined && outer.left === loop.left * loop.radix)
      made[made.length - 1] = { radix: outer.radix * loop.radix, left: loop.left };
    else made.push(loop);
  }
  return made;
}

/**
 * Generates code for all terms of sums, row-major over some loops.
 * @param left The address of the first term's left factor, before adding `origin`.
 * @param right The address of the first term's right factors; the next term's lie `rightStep` bytes further on.
 * @param isUnrolled Whether up to MAX_UNROLLED terms are all unrolled; then `isFirst` marks the first term.
 */
export function walkTerms(
  fn: FunctionBuilder,
  { loops, origin, rightStep }: { loops: readonly TermLoop[]; origin: number; rightStep: number },
  left: Local,
  right: Local,
  isUnrolled: boolean,
  body: (place: TermPlace) => Code,
): Code {
  const nest = merged(loops);
  const terms = nest.reduce((product, { radix }) => product * radix, 1);
  const innermost = nest.at(-1) ?? { radix: 1, left: 0 };
  if (isUnrolled && terms <= MAX_UNROLLED) {
    return Array.from({ length: terms }, (_, r) => {
      let [rest, leftOffset] = [r, origin];
      for (const { radix, left: step } of [...nest].reverse()) {
        leftOffset += (rest % radix) * step;
        rest = Math.floor(rest / radix);
      }
      return body({ left: left.get, leftOffset, right: right.get, rightOffset: r * rightStep, isFirst: r === 0 });
    });
  }
  const at = fn.local("i32");
  // Offsets in loads are not negative.
  const unrolled = innermost.left < 0 ? 1 : Math.min(AT_A_TIME, innermost.radix);
  const moved = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)));
  return [at.set(right.get), level(0, left, origin)];

  function level(k: number, from: Local, offset: number): Code {
    const place = fn.local("i32");
    const rest = fn.local("i32");
    const begin = place.set(offset === 0 ? from.get : i32.add(from.get, i32.const(offset)));
    const repeat = (count: number, ...code: Code[]): Code =>
      count === 0
        ? []
        : [rest.set(i32.const(count)), doWhile(rest.get, ...code, rest.set(i32.sub(rest.get, i32.const(1))))];
    if (k < nest.length - 1) {
      return [begin, repeat(nest[k]!.radix, level(k + 1, place, 0), moved(place, nest[k]!.left))];
    }
    const some = (count: number): Code => [
      Array.from({ length: count }, (_, r) => {
        const offsets = { leftOffset: r * innermost.left, rightOffset: r * rightStep };
        return body({ left: place.get, right: at.get, ...offsets, isFirst: false });
      }),
      moved(place, count * innermost.left),
      moved(at, count * rightStep),
    ];
    const last = innermost.radix % unrolled;
    return [begin, repeat(Math.floor(innermost.radix / unrolled), some(unrolled)), last === 0 ? [] : some(last)];
  }
}

/** Returns whether {@link walkTerms} can unroll the given number of terms. */
export const isShort = (terms: number): boolean => terms <= MAX_UNROLLED;
