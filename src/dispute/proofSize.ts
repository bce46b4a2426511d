import { encodeFunctionData, size } from "viem";
import { disputeGameAbi } from "../chain/abi/disputeGame.ts";
import { ZERO_HASH, type Claim, type PackedState, type StepProof } from "../chain/structs.ts";
import { ENVELOPE_BYTES } from "../program/proofBytes.ts";

const NOBODY = "0x0000000000000000000000000000000000000000";

/** A state and a claim of nothing: they have the same length whatever they hold. */
export const BLANK_STATE: PackedState = {
  claimId: ZERO_HASH,
  programRoot: ZERO_HASH,
  node: ZERO_HASH,
  runRoot: ZERO_HASH,
  traceRoot: ZERO_HASH,
  interiorRoot: ZERO_HASH,
  place: 0n,
  party: 0n,
  clock: 0n,
};
export const BLANK_CLAIM: Claim = {
  job: {
    requester: NOBODY,
    programRoot: ZERO_HASH,
    inputsRoot: ZERO_HASH,
    work: 0n,
    checkpoints: 0,
    items: 1,
    firstItem: 0,
    answers: 0,
    fee: 0n,
    window: 0,
    claimSeconds: 0,
    deadline: 0n,
    callbackGas: 0,
    maxOutputBytes: 0,
    deliverables: 0n,
    rootOnly: false,
    salt: ZERO_HASH,
    termsHash: ZERO_HASH,
  },
  worker: NOBODY,
  root: ZERO_HASH,
  collateral: 0n,
};

/** Returns an upper bound for the bytes of a step proof's transaction, for any fees and nonce. */
export function proofTransactionBytes(proof: StepProof): number {
  const args = [BLANK_STATE, BLANK_CLAIM, proof] as const;
  return size(encodeFunctionData({ abi: disputeGameAbi, functionName: "prove", args })) + ENVELOPE_BYTES;
}
