import { doWhile, whileLoop } from "../assembler/control.ts";
import type { Code } from "../assembler/encoding.ts";
import type { FunctionBuilder, Local } from "../assembler/functionBuilder.ts";
import { i32 } from "../assembler/instructions.ts";

/**
 * A loop, and the bytes by which each loop value moves four positions: the left factor, the right factors, the sums of
 * their magnitudes, and the result.
 */
export type OuterLoop = { radix: number; left: number; right: number; sums: number; out: number };

/** The addresses of one pass of the loops. */
export type Pointers = Readonly<Record<(typeof POINTERS)[number], Local>>;
const POINTERS = ["left", "right", "sums", "out"] as const;

/**
 * Builds loops around `body`, starting at the addresses in the function's first four parameters.
 * @param count How many values the first loop has, instead of the radix.
 */
export function nestOf(
  fn: FunctionBuilder,
  loops: readonly OuterLoop[],
  count: Local | undefined,
  body: (at: Pointers) => Code,
): Code {
  const first = Object.fromEntries(POINTERS.map((name, n) => [name, fn.parameters[n]!])) as Pointers;
  return nest(0, first);

  function nest(level: number, at: Pointers): Code {
    const loop = loops[level];
    if (loop === undefined) return body(at);
    const rest = fn.local("i32");
    const moved = POINTERS.filter((name) => loop[name] !== 0);
    const own = { ...at, ...Object.fromEntries(moved.map((name) => [name, fn.local("i32")])) };
    const isCounted = level === 0 && count !== undefined;
    const pass: Code = [
      nest(level + 1, own),
      moved.map((name) => own[name].set(i32.add(own[name].get, i32.const(loop[name])))),
      rest.set(i32.sub(rest.get, i32.const(1))),
    ];
    return [
      moved.map((name) => own[name].set(at[name].get)),
      rest.set(isCounted ? count.get : i32.const(loop.radix)),
      // Only the first loop may have no values.
      isCounted ? whileLoop(rest.get, pass) : doWhile(rest.get, pass),
    ];
  }
}
