import { concat, encodeAbiParameters, hexToBytes, type Hex } from "viem";
import type { Endorsement } from "../chain/structs.ts";

export type { Endorsement };

/** A manufacturer's statement about a device. Model and firmware are 32 bytes, `notAfter` is a unix time. */
export type EndorsementFields = Pick<Endorsement, "model" | "firmware" | "notAfter">;

/**
 * Returns the message that a manufacturer signs: `abi.encode("refute endorsement 2", ueid, model, firmware, notAfter)`.
 */
export function endorsementMessage(device: Hex, { model, firmware, notAfter }: EndorsementFields): Uint8Array {
  const types = ["string", "bytes", "bytes32", "bytes32", "uint64"].map((type) => ({ type }));
  const ueid = concat(["0x01", device]);
  return hexToBytes(encodeAbiParameters(types, ["refute endorsement 2", ueid, model, firmware, notAfter]));
}
