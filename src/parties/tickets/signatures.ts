import { bytesToHex, hexToBytes, type Address, type Hex } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import { withPackages } from "../../base/optionalPackage.ts";
import { hasFormOfSignature } from "./signatureForm.ts";

/**
 * The account that signed a digest of 32 bytes.
 * @param signature 65 bytes: r, s and v
 * @returns undefined for what the contracts take for no signature
 */
export type FindSigner = (digest: Hex, signature: Hex) => Address | undefined;

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
    if (!hasFormOfSignature(signature)) return undefined;
    const bytes = hexToBytes(signature);
    try {
      const key = recover(hexToBytes(digest), bytes.subarray(0, 64), bytes[64] === 27 ? 0 : 1, false);
      return key === null ? undefined : publicKeyToAddress(bytesToHex(key));
    } catch {
      // The call throws if r or s is no number in the group.
      return undefined;
    }
  };
}
