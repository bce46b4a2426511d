import { DType, dtypeBytes } from "../../src/numerics/dtype.ts";
import { MAX_ITEMS, type RunLength } from "../../src/program/run.ts";
import type { InputSource, Program, ProgramInput } from "../../src/program/types.ts";
import type { Prng } from "../random/prng.ts";

/** The most items of a soak's run, which are executed and hashed by both sides. */
const MAX_RUN_ITEMS = 40;

/** A random length: half of the jobs have one item. */
export function randomLength(prng: Prng): RunLength {
  const items = prng.below(2) === 0 ? 1 : 1 + prng.below(prng.below(4) === 0 ? MAX_RUN_ITEMS : 6);
  return { items, firstItem: prng.below(3) === 0 ? prng.below(MAX_ITEMS) : 0 };
}

/** Returns the program with a random fitting source for each input, and with random outputs for each item. */
export const wired = (prng: Prng, program: Program): Program => ({
  ...program,
  inputs: program.inputs.map((input) => ({ ...input, source: prng.pick(sourcesOf(program, input)) })),
  each: program.outputs.flatMap((_, output) => (prng.below(2) === 0 ? [output] : [])),
});

/** Where the items of a run can take an input from. State is carried wherever a checkpoint fits. */
function sourcesOf({ steps, checkpoints }: Program, { dtype, count }: ProgramInput): InputSource[] {
  const carried = checkpoints.flatMap(({ step }, checkpoint): InputSource[] =>
    steps[step]!.dtype === dtype && steps[step]!.count === count ? [{ kind: "carried", checkpoint }] : [],
  );
  const index: InputSource[] = dtype === DType.int64 && count === 1 ? [{ kind: "index" }] : [];
  return [{ kind: "shared" }, { kind: "each" }, ...carried, ...index];
}

/**
 * Returns a job input's bytes, made from one tensor's bytes. With a source of "each", every item gets the same elements
 * in another order.
 */
export function jobBytes(prng: Prng, { dtype, source }: ProgramInput, items: number, tensor: Uint8Array): Uint8Array {
  if (source?.kind === "index") return new Uint8Array(0);
  if (source?.kind !== "each") return source?.kind === "carried" && prng.below(3) === 0 ? zeros(tensor) : tensor;
  return Buffer.concat(Array.from({ length: items }, () => turned(prng, tensor, dtypeBytes(dtype))));
}

const zeros = ({ length }: Uint8Array): Uint8Array => new Uint8Array(length);

/** Returns the tensor with the elements rotated by a random number of positions. */
function turned(prng: Prng, tensor: Uint8Array, width: number): Uint8Array {
  const at = prng.below(tensor.length / width) * width;
  return Buffer.concat([tensor.subarray(at), tensor.subarray(0, at)]);
}
