import { concatHex, numberToHex, slice, type Hex } from "viem";

/** The order of secp256k1's group. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Signatures of the same account that elliptic curves take, and the contracts do not: v is 0 or 1; s is high. */
export function otherSignatures(signature: Hex): Hex[] {
  const [rs, v] = [slice(signature, 0, 64), Number(slice(signature, 64))];
  const high = numberToHex(ORDER - BigInt(slice(signature, 32, 64)), { size: 32 });
  return [concatHex([rs, numberToHex(v - 27, { size: 1 })]), concatHex([slice(rs, 0, 32), high, numberToHex(55 - v)])];
}
