import { encodeAbiParameters, hexToBytes } from "viem";
import type { Statement } from "../chain/structs.ts";

/**
 * Returns the message that a manufacturer signs: `abi.encode("refute statement 1", scope, subject, frozen, number)`.
 */
export function statementMessage({ scope, subject, frozen, number }: Statement): Uint8Array {
  const types = ["string", "uint8", "bytes32", "bool", "uint64"].map((type) => ({ type }));
  return hexToBytes(encodeAbiParameters(types, ["refute statement 1", scope, subject, frozen, number]));
}
