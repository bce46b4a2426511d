import { isAddressEqual, recoverAddress, type Address, type Hex } from "viem";
import type { Receipt, ReceiptBlock } from "../../src/parties/gateway/receiptForm.ts";
import { claimOfBody } from "../../src/parties/tickets/messages.ts";
import { hasFormOfSignature } from "../../src/parties/tickets/signatureForm.ts";
import { digestOf } from "../../src/parties/tickets/typedData.ts";

/** Who signed each block of a receipt; undefined for what is no signature of its worker. */
export function signersOf({ chainId, tickets, blocks }: Receipt): Promise<(Address | undefined)[]> {
  const at = { chainId, tickets: tickets as Address };
  return Promise.all(blocks.map((block) => signerOf(at, block)));
}

async function signerOf(at: { chainId: number; tickets: Address }, block: ReceiptBlock): Promise<Address | undefined> {
  const claim = claimOfBody(block);
  const signature = block.signature as Hex;
  if (!hasFormOfSignature(signature)) return undefined;
  try {
    const signer = await recoverAddress({ hash: digestOf(at, "SignedClaim", claim), signature });
    return isAddressEqual(signer, claim.worker) ? signer : undefined;
  } catch {
    // r or s is no number in the group.
    return undefined;
  }
}
