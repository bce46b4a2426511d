import type { Execution } from "../../src/player/execution.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { toHex } from "../../src/merkle/hash.ts";
import { MerkleList } from "../../src/merkle/list.ts";
import { Trace } from "../../src/trace/trace.ts";
import type { Prng } from "../random/prng.ts";
import type { SoakProgram } from "./programs.ts";

/** An execution of a program's job: some tensors, right or wrong. */
export const executionOf = ({ known, inputs }: SoakProgram, tensors: readonly Uint8Array[]): Execution => ({
  ...known,
  inputs,
  trace: new Trace(known.model.program, tensors),
});

/** Other bytes than these: one bit, one random byte, zeros, or noise. */
export function mutated(prng: Prng, bytes: Uint8Array): Uint8Array {
  const out = Uint8Array.from(bytes);
  const at = prng.below(bytes.length);
  switch (prng.below(4)) {
    case 0:
      out.fill(0);
      break;
    case 1:
      for (let k = 0; k < out.length; k++) out[k] = prng.below(256);
      break;
    case 2:
      out[at] = prng.below(256);
      break;
    default:
  }
  if (Buffer.compare(out, bytes) === 0) out[at]! ^= 1 << prng.below(8);
  return out;
}

/** A wrong execution. */
export type LieKind = "bit" | "tensor" | "patched" | "input";

/** Tensors of a wrong execution: continued consistently after the lie, or patched afterwards. */
export function lyingTensors(prng: Prng, program: SoakProgram, kind: LieKind): Uint8Array[] {
  const { model } = program.known;
  const { inputs } = program;
  const lieStep = prng.below(model.program.steps.length);
  if (kind === "patched") return program.tensors.map((t, s) => (s === lieStep ? mutated(prng, t) : Uint8Array.from(t)));
  if (kind === "input") {
    const wrong = prng.below(inputs.length);
    return executeReference(
      model,
      inputs.map((bytes, i) => (i === wrong ? mutated(prng, bytes) : bytes)),
    );
  }
  return executeReference(model, inputs, {
    onStep: (step, tensor) => {
      if (step !== lieStep) return;
      if (kind === "bit") tensor[prng.below(tensor.length)]! ^= 1 << prng.below(8);
      else tensor.set(mutated(prng, tensor));
    },
  });
}

/**
 * Right tensors under a root with garbage past the width of the checkpoint list; undefined if the list is full.
 */
export function paddedWithGarbage(prng: Prng, program: SoakProgram): Execution | undefined {
  const execution = executionOf(program, program.tensors);
  const { list } = execution.trace;
  const leaves = 2 ** list.depth;
  if (list.width === leaves) return undefined;
  const garbage = (): `0x${string}` => toHex(Uint8Array.from({ length: 32 }, () => prng.below(256)));
  const nodes = Array.from({ length: leaves }, (_, j) => (j < list.width ? list.node(0, j) : garbage()));
  Object.assign(execution.trace, { list: MerkleList.fromHashes(nodes) });
  return execution;
}
