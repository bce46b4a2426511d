import { concat, numberToHex, size, type Hex } from "viem";

/** A quote with its proofs: contracts/interfaces/ITdxQuoteVerifier.sol describes both. */
export type Evidence = {
  /** As much of it as is needed: see `SplitQuote`. */
  quote: Hex;
  /** Facts of the TCB info to judge by, in the form that the chain's event carries. */
  tcbInfo: Hex;
  /** Facts of the enclave's identity to judge by. */
  enclave: Hex;
} & (
  | {
      /** Facts of the platform, which the chain knows. */
      platform: Hex;
    }
  | {
      /** The platform's certificate, and the signing authority's number. */
      leaf: Hex;
      authority: number;
    }
);

/** Evidence as the verifier takes it: an authority, three lengths, and the parts (ITdxQuoteVerifier). */
export function encodeEvidence(e: Evidence): Hex {
  const [authority, last] = "platform" in e ? [0, withoutSigner(e.platform)] : [e.authority, e.leaf];
  const parts = [e.tcbInfo, e.enclave, e.quote];
  const lengths = parts.map((part) => numberToHex(size(part), { size: 2 }));
  return concat([numberToHex(authority, { size: 1 }), ...lengths, ...parts, last]);
}

/**
 * Removes bytes 75 to 106 from a platform's facts: the enclave's signer, which the enclave's identity also contains.
 */
const withoutSigner = (facts: Hex): Hex => `${facts.slice(0, 2 + 2 * 75) as Hex}${facts.slice(2 + 2 * 107)}`;
