import { setTimeout as sleep } from "node:timers/promises";
import { isAddressEqual, keccak256, zeroHash, type Address, type Hex } from "viem";
import { RefuteValidator, type ValidationAnswer } from "../../chain/clients/refuteValidator.ts";
import { ContractRevertError, isTooEarly, NotDeployedError } from "../../chain/errors.ts";
import { ofContract } from "../../chain/market/deployment.ts";
import { followMarket } from "../../chain/market/session.ts";
import { ClaimStatus, type Claim } from "../../chain/structs.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { answerOfBytes } from "../tickets/answerRun.ts";
import { landClaim } from "../tickets/landClaim.ts";
import type { TicketSession } from "../tickets/ticketSession.ts";
import { digestOf } from "../tickets/typedData.ts";
import { ReceiptError, ValidationError } from "./errors.ts";
import type { OpenedReceipt } from "./receiptParts.ts";

type Run = OpenedReceipt["runs"][number];

/** Pause between looks at a claim, milliseconds. */
const LOOK_MS = 2_000;

type ValidationOptions = {
  validator: Address;
  agentId: bigint;
  salt: Hex;
  /** Waits until the claim is final or refuted. */
  wait: boolean;
  signal?: AbortSignal;
  onPhase?: (phase: string, until?: bigint) => void;
};

/** How far a validation is: `until` is the end of the claim's window, unix seconds. */
type Validated = { claimId: Hex; requestHash: Hex } & ({ answer: ValidationAnswer } | { until: bigint });

/**
 * Has a claim of a receipt validated: puts the claim on chain with its inputs, asks in ERC-8004's registry, and reports
 * once the claim is over. Steps done before are left out.
 * @param at The session of the agent's owner or operator.
 * @throws NotDeployedError, ReceiptError, ValidationError, ContractRevertError
 */
export async function validateClaim(
  at: TicketSession,
  program: KnownProgram,
  run: Run,
  { validator: address, agentId, salt, wait, signal, onPhase }: ValidationOptions,
): Promise<Validated> {
  const { session, pledges } = at;
  const validator = new RefuteValidator(address, session);
  const claims = await ofContract(() => validator.claims(), `the contract at ${address} is no validator`);
  const { market } = session.deployment;
  if (!isAddressEqual(claims, market))
    throw new NotDeployedError(`the validator at ${address} answers about the claims at ${claims}, not at ${market}`);
  const claimId = await claimOnChain(at, program, run);
  const claim = await wholeClaim(at, claimId);
  const registry = await validator.registry();
  const question = { agentId, claim, salt };
  const before = await validator.requestOf(agentId, claimId);
  if (before !== undefined) return { claimId, requestHash: before, answer: await validator.answerOf(registry, before) };
  const payload = await validator.payloadOf(question);
  const requestHash = keccak256(payload);
  if (!(await validator.isAsked(registry, requestHash))) {
    const uri = `data:application/octet-stream;base64,${Buffer.from(payload.slice(2), "hex").toString("base64")}`;
    await validator.ask(registry, agentId, uri, requestHash);
    onPhase?.("asked in the registry");
  }
  for (;;) {
    const { status, time } = await pledges.statusOf(claimId);
    if (status !== ClaimStatus.submitted) break;
    const isOver = (await session.publicClient.getBlock()).timestamp > time;
    if (isOver && (await isFinalised(at, claim))) break;
    if (!wait) return { claimId, requestHash, until: time };
    onPhase?.("waits for the end of the claim's window", time);
    await sleep(LOOK_MS, undefined, { signal });
  }
  await validator.report(question);
  return { claimId, requestHash, answer: await validator.answerOf(registry, requestHash) };
}

/** Makes a claim final after its window. @returns false while a game is open */
async function isFinalised({ session }: TicketSession, claim: Claim): Promise<boolean> {
  try {
    await session.market.finalise(claim);
    return true;
  } catch (error) {
    if (isTooEarly(error) || (error instanceof ContractRevertError && error.errorName === "GamesOpen")) return false;
    throw error;
  }
}

/** Puts a claim on chain with its inputs, if the chain does not have the claim. @returns the id */
async function claimOnChain(at: TicketSession, program: KnownProgram, run: Run): Promise<Hex> {
  const { claim, signature, inputs, outputs } = run;
  const digest = digestOf(at.at, "SignedClaim", claim);
  const known = await at.tickets.claimIdOf(digest);
  if (known !== zeroHash) return known;
  const { timestamp } = await at.session.publicClient.getBlock();
  if (timestamp > claim.issued + BigInt(at.claimLifetime))
    throw new ReceiptError("refutableUntil", "is over: the claim cannot be put on chain any more");
  const { nodes } = answerOfBytes(program.model.program, claim.items, outputs)!;
  await landClaim(at, { digest, claim, signature, nodes, inputs: inputs.bytes, sent: false, fate: "open" }, program);
  return at.tickets.claimIdOf(digest);
}

/** @throws ValidationError for a claim that the validator gives no 100 */
async function wholeClaim({ session }: TicketSession, claimId: Hex): Promise<Claim> {
  const { history } = await followMarket(session)();
  const record = history.claims.get(claimId);
  if (record === undefined)
    throw new ValidationError(`the node does not know the claim ${claimId} yet: run the same command again`);
  if (record.claim.job.rootOnly && !record.refuted)
    throw new ValidationError(
      `the claim ${claimId} is on chain without its inputs, so that nobody else could dispute it: no 100 is given`,
    );
  return record.claim;
}
