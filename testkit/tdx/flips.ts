import { QuoteFormError } from "../../src/attestation/tdx/errors.ts";
import { refusalOf } from "../protocol/refusalOf.ts";
import { realEvidence, type RealWorld } from "./realQuote.ts";
import { verified } from "./tdxWorld.ts";

/** A quote with a single bit flipped. */
export function flipOf(quote: Uint8Array, bit: number): Buffer {
  const flipped = Buffer.from(quote);
  flipped[bit >> 3]! ^= 1 << (bit & 7);
  return flipped;
}

/** Why a quote is refused, by the client or by the chain; undefined if it is not. */
export async function refusalOfFlip(world: RealWorld, quote: Buffer): Promise<string | undefined> {
  let evidence;
  try {
    evidence = realEvidence(world, quote);
  } catch (error) {
    if (error instanceof QuoteFormError) return error.message;
    throw error;
  }
  const refusal = await refusalOf(verified(world, evidence));
  return refusal === "accepted" ? undefined : refusal;
}

/**
 * The bytes of a quote that mean nothing, from `from` on and before `to`: the certificates of the authorities, behind
 * the platform's own. The chain has its own, under the pinned root.
 */
export function meaninglessRanges(quote: Buffer): { from: number; to: number }[] {
  const footer = "-----END CERTIFICATE-----\n";
  const from = quote.indexOf(footer) + footer.length;
  const length = quote.readUInt32LE(632);
  return [{ from, to: 636 + length }];
}
