import type { Hex } from "viem";
import type { CompiledModel } from "../program/compiled.ts";
import type { proofWords } from "./groth16/keys.ts";

/** What a proving thread starts with. */
export type ProverStart = { paths: readonly string[]; chainId: number };

/** The part of a model that a circuit is compiled from. */
export type CircuitModel = Pick<
  CompiledModel,
  "program" | "programRoot" | "constants" | "inputs" | "outputs" | "origins"
>;

/** What a thread is asked for: a proof under one of its keys. */
export type ToProver = {
  id: number;
  keyHash: Hex;
  /** The model, when a thread is asked for the key's first proof. */
  model: CircuitModel | undefined;
  inputs: readonly Uint8Array[];
  outputs: readonly Uint8Array[];
  context: bigint;
};

/** An error, without its class. */
type Refusal = { code: string; reason: string };

/** A thread's answer to a question. */
export type ProverAnswer = { id: number; answer: ReturnType<typeof proofWords> | Refusal };

/** What a thread says: its keys' words once, or why it has none; then the answers. */
export type FromProver = ProverAnswer | { keys: readonly (readonly bigint[])[] } | { refusal: Refusal };
