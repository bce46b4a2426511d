import { toHash, type Hash } from "../../src/program/merkle/hash.ts";
import { tensorTree } from "../../src/program/merkle/tensor.ts";
import { encodeStepBody } from "../../src/program/encode.ts";
import type { Step } from "../../src/program/types.ts";
import { openElement, type ChunkOpening } from "../../src/program/trace/opening.ts";
import { createCallChain } from "./callChain.ts";

/** The arguments of `IStepVerifier.evaluate`. */
export type StepProof = [body: Hash, element: bigint, inputRoots: Hash[], openings: ChunkOpening[]];

const NO_ROOT: Hash = toHash(new Uint8Array(32));

/** Proves an element of a step over given tensors: returns the exact value and the verifier's arguments. */
export function proveElement(
  step: Step,
  element: number,
  tensors: readonly Uint8Array[],
): { value: bigint; proof: StepProof } {
  const trees = tensors.map((bytes) => tensorTree(bytes));
  const { value, openings } = openElement(
    step,
    element,
    tensors.map((bytes, k) => ({ bytes, tree: () => trees[k]! })),
  );
  const roots = step.inputs.map((ref, k) => (ref.kind === "constant" ? NO_ROOT : trees[k]!.root));
  return {
    value: BigInt.asUintN(256, value),
    proof: [toHash(encodeStepBody(step)), BigInt(element), roots, openings],
  };
}

/** Deploys the verifier with its elementary functions to a separate chain. */
export async function deployVerifier() {
  const { viem } = await createCallChain();
  const elementary = await viem.deployContract("Elementary");
  return viem.deployContract("StepVerifier", [elementary.address]);
}

export type DeployedVerifier = Awaited<ReturnType<typeof deployVerifier>>;
