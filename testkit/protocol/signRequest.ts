import { ReportKind, ZERO_HASH } from "../../src/chain/structs.ts";
import type { SignRequest } from "../../src/attestation/device.ts";

/** A request that every device signs. */
export const signRequest: SignRequest = {
  domain: `0x${"11".repeat(32)}`,
  kind: ReportKind.identification,
  worker: `0x${"22".repeat(20)}`,
  nonce: `0x${"33".repeat(32)}`,
  body: `0x${"44".repeat(32)}`,
  aux: ZERO_HASH,
  after: 0n,
};
