import type { SignedClaim } from "../../chain/structs.ts";

/**
 * The messages between worker and payer, in JSON: numbers of 64 bits and more are decimal text, bytes are base64. The
 * schemas in messageSchemas.ts check the messages.
 */

/** A worker's terms. */
export type Info = {
  worker: string;
  chainId: number;
  tickets: string;
  /** The least face of a ticket, in the smallest unit of the stake asset. */
  face: string;
  /** A ticket wins once in at most so many times. */
  oneIn: number;
  /** Seconds in which a signed claim can be put on chain. */
  claimLifetime: number;
  maxBodyBytes: number;
  /** Answers that one payer may hold unpaid, each covered by the deposit. */
  unpaid: number;
  programs: string[];
};

/** A request for an answer. */
export type Question = {
  payer: string;
  request: {
    worker: string;
    programRoot: string;
    inputsRoot: string;
    items: number;
    firstItem: number;
    time: string;
    nonce: string;
  };
  signature: string;
  inputs: string[];
};

/** An answer: the worker's signed claim, and the claimed outputs. */
export type AnswerBody = {
  claim: {
    worker: string;
    payer: string;
    programRoot: string;
    inputsRoot: string;
    items: number;
    firstItem: number;
    number: string;
    issued: string;
    root: string;
    secretHash: string;
  };
  signature: string;
  outputs: string[];
};

/** A ticket for an answer. */
export type Payment = {
  ticket: { claim: string; face: string; odds: string; expiry: string; nonce: string };
  signature: string;
};

/** Reads a checked claim of a message. */
export const claimOfBody = ({ claim }: Pick<AnswerBody, "claim">): SignedClaim =>
  ({ ...claim, number: BigInt(claim.number), issued: BigInt(claim.issued) }) as SignedClaim;

/** Writes a claim into a message. */
export const claimBody = (claim: SignedClaim): AnswerBody["claim"] => ({
  ...claim,
  number: String(claim.number),
  issued: String(claim.issued),
});
