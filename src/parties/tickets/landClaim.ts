import { setTimeout as sleep } from "node:timers/promises";
import { toHex } from "../../program/merkle/hash.ts";
import { programFacts, type KnownProgram } from "../../dispute/run/execution.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import type { Landing } from "../../chain/structs.ts";
import type { HeldClaim } from "./payerLedger.ts";
import type { TicketSession } from "./ticketSession.ts";

/** Inputs of up to so many bytes go on chain with a claim, so that everybody can judge it; of more, their roots. */
const PUBLISHED_BYTES = 49_152;

/** How often the chain's time is read while a claim is of later, milliseconds. */
const PAUSE_MS = 1_000;

/**
 * Puts a signed claim on chain, so that it can be refuted: a watcher that holds its inputs does.
 * @throws ContractRevertError `AlreadyOnChain`, `LifetimeOver`, `WorkerStopped`
 */
export async function landClaim(at: TicketSession, held: HeldClaim, { model, commitment }: KnownProgram) {
  const { claim, signature, inputs: bytes, nodes } = held;
  const inputs = new RunInputs(model.program.inputs, claim, bytes);
  const isPublished = inputs.size <= PUBLISHED_BYTES;
  const landing: Landing = {
    program: programFacts(commitment),
    inputRoots: inputs.roots,
    inputs: isPublished ? inputs.roots.map((_, k) => toHex(Buffer.concat(inputs.posted(k)))) : [],
    nodes,
  };
  // SAFETY: a claim that says that it was issued a minute later is taken a minute later, and must not get away with it.
  const { publicClient } = at.session;
  while ((await publicClient.getBlock()).timestamp < claim.issued) await sleep(PAUSE_MS);
  return at.tickets.submitSigned(claim, signature, landing);
}
