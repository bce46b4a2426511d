import { setTimeout as sleep } from "node:timers/promises";
import { toHex } from "../../program/merkle/hash.ts";
import { programFacts, type KnownProgram } from "../../dispute/run/execution.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import type { ClaimEvidence } from "../../chain/structs.ts";
import type { HeldClaim } from "./payerLedger.ts";
import type { TicketSession } from "./ticketSession.ts";

/** Maximum bytes of inputs put on chain with a claim, for everybody to judge; larger inputs go as roots. */
const PUBLISHED_BYTES = 49_152;

/** Pause between reads of the chain's time while a claim's issue time lies in the future, milliseconds. */
const PAUSE_MS = 1_000;

/**
 * Puts a signed claim on chain to make the claim refutable: a watcher with the inputs refutes a wrong claim.
 * @param mayPublish Whether inputs may go on chain, if they are few.
 * @throws ContractRevertError `AlreadyOnChain`, `LifetimeOver`, `WorkerStopped`
 */
export async function landClaim(
  at: TicketSession,
  held: HeldClaim,
  { model, commitment }: KnownProgram,
  mayPublish = true,
) {
  const { claim, signature, inputs: bytes, nodes } = held;
  const inputs = new RunInputs(model.program.inputs, claim, bytes);
  // Carried state of zeros takes no bytes on chain, however large the state is.
  const posted = inputs.roots.map((_, k) => inputs.posted(k));
  const size = posted.flat().reduce((sum, { length }) => sum + length, 0);
  const isPublished = mayPublish && size <= PUBLISHED_BYTES;
  const evidence: ClaimEvidence = {
    program: programFacts(commitment),
    inputRoots: inputs.roots,
    inputs: isPublished ? posted.map((tensors) => toHex(Buffer.concat(tensors))) : [],
    nodes,
  };
  // SAFETY: a claim issued a minute in the future is submitted a minute later: the wrong date must not protect the
  // claim.
  const { publicClient } = at.session;
  while ((await publicClient.getBlock()).timestamp < claim.issued) await sleep(PAUSE_MS);
  return at.tickets.submitSigned(claim, signature, evidence);
}
