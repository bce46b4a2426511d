import { encodeAbiParameters, type Hex } from "viem";

/** What the verifier takes beside a quote: `TdxEvidence` of contracts/interfaces/ITdxQuoteVerifier.sol. */
export type Evidence = {
  /** As much of it as is needed: see `SplitQuote`. */
  quote: Hex;
  /** Facts of the TCB info to judge by, as the chain's event has them. */
  tcbInfo: Hex;
  /** Facts of the enclave's identity to judge by. */
  enclave: Hex;
} & (
  | {
      /** Facts of the platform, which the chain knows. */
      platform: Hex;
    }
  | {
      /** The platform's certificate, and the authority that signed it. */
      leaf: Hex;
      authority: number;
    }
);

const TYPES = ["bytes", "bytes", "bytes", "bytes", "bytes", "uint8"].map((type) => ({ type }));

/** Evidence as the verifier takes it. */
export function encodeEvidence(e: Evidence): Hex {
  const known = "platform" in e ? [e.platform, "0x", 0] : ["0x", e.leaf, e.authority];
  return encodeAbiParameters(TYPES, [e.quote, e.tcbInfo, e.enclave, ...known]);
}
