import { bytesToHex, hexToBigInt, hexToBytes, type Address, type Hex } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import { withPackages } from "../../base/optionalPackage.ts";

/**
 * The account that signed a digest of 32 bytes.
 * @param signature 65 bytes: r, s and v
 * @returns undefined for what the contracts take for no signature
 */
export type FindSigner = (digest: Hex, signature: Hex) => Address | undefined;

/** Half the order of secp256k1's group: OpenZeppelin's ECDSA refuses a greater s, and a v other than 27 and 28. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Loads the signer recovery: WebAssembly, several times faster than viem.
 * @throws MissingPackageError
 */
export async function loadFindSigner(): Promise<FindSigner> {
  const { recover } = await withPackages(
    ["tiny-secp256k1"],
    "checking signatures of answers",
    () => import("tiny-secp256k1"),
  );
  return (digest, signature) => {
    const v = hexToBigInt(`0x${signature.slice(130)}`);
    // SAFETY: who holds a signature that the chain refuses can neither cash a ticket nor have a lie refuted.
    if ((v !== 27n && v !== 28n) || hexToBigInt(`0x${signature.slice(66, 130)}`) > MAX_S) return undefined;
    try {
      const key = recover(hexToBytes(digest), hexToBytes(signature).subarray(0, 64), v === 27n ? 0 : 1, false);
      return key === null ? undefined : publicKeyToAddress(bytesToHex(key));
    } catch {
      // The call throws if r or s is no number in the group.
      return undefined;
    }
  };
}
