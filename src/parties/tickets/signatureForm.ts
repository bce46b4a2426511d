import { hexToBigInt, type Hex } from "viem";

/** Half the order of secp256k1's group: OpenZeppelin's ECDSA refuses a greater s, and a v other than 27 and 28. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Whether the contracts take 65 bytes, r, s and v, for a signature at all.
 * SAFETY: who holds a signature that the chain refuses can neither cash a ticket nor have a lie refuted.
 */
export function hasFormOfSignature(signature: Hex): boolean {
  const v = hexToBigInt(`0x${signature.slice(130)}`);
  return (v === 27n || v === 28n) && hexToBigInt(`0x${signature.slice(66, 130)}`) <= MAX_S;
}
