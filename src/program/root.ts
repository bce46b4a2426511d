import { fromHash, sha256, toHash, type Hash } from "./merkle/hash.ts";
import { MerkleList } from "./merkle/list.ts";
import { checkpointLeaf, encodeHeader, stepLeaf } from "./encode.ts";
import type { Program } from "./types.ts";

/** A program's commitment, with the opening trees. */
export type ProgramCommitment = {
  header: Uint8Array;
  steps: MerkleList;
  checkpoints: MerkleList;
  programRoot: Hash;
};

/** `programRoot = H(0x00 || header || stepsRoot || checkpointsRoot)`. */
export const rootOf = (header: Uint8Array, stepsRoot: Hash, checkpointsRoot: Hash): Hash =>
  toHash(sha256(Uint8Array.of(0), header, fromHash(stepsRoot), fromHash(checkpointsRoot)));

/** Returns a program's root and the trees under the root. */
export function commitProgram(program: Program): ProgramCommitment {
  const header = encodeHeader(program);
  const steps = new MerkleList(Buffer.concat(program.steps.map(stepLeaf)));
  const checkpoints = new MerkleList(Buffer.concat(program.checkpoints.map(checkpointLeaf)));
  return { header, steps, checkpoints, programRoot: rootOf(header, steps.root, checkpoints.root) };
}

/** The root of a program: what a job names. */
export const programRoot = (program: Program): Hash => commitProgram(program).programRoot;
