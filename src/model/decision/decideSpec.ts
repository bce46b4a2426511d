import { DecideError } from "./errors.ts";

/**
 * A decision appended to a model's output.
 *
 * - argmax: the place of the largest value along the last axis, int64
 * - top: the places of the `k` largest values along the last axis, the largest first, int64
 * - round: every value in units of 10^-decimals, rounded half to even, int64
 */
export type DecideSpec = { kind: "argmax" } | { kind: "top"; k: number } | { kind: "round"; decimals: number };

/** Above it, float32 has no values between. */
const MAX_DECIMALS = 9;

/** `argmax`, `top5` or `round=2`. @throws DecideError */
export function parseDecideSpec(text: string): DecideSpec {
  if (text === "argmax") return { kind: "argmax" };
  const [, top, round] = /^(?:top([1-9]\d{0,5})|round=(\d))$/.exec(text) ?? [];
  if (top !== undefined) return { kind: "top", k: Number(top) };
  if (round !== undefined) return { kind: "round", decimals: Number(round) };
  throw new DecideError(
    `the decision "${text}" is not known: expected argmax, top followed by a number of places (top5), or ` +
      `round=DECIMALS with 0 to ${MAX_DECIMALS} decimals (round=2)`,
  );
}

/** Returns the text that `parseDecideSpec` reads back to the same decision. */
export function decideText(spec: DecideSpec): string {
  if (spec.kind === "argmax") return spec.kind;
  return spec.kind === "top" ? `top${spec.k}` : `round=${spec.decimals}`;
}
