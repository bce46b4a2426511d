import { hexToBytes, type Hex, type TransactionReceipt } from "viem";
import type {
  NumberedAuthority,
  TdxQuoteVerifier,
  TdxQuoteVerifierReader,
} from "../../chain/clients/tdxQuoteVerifier.ts";
import { AuthorityRole } from "../../chain/tdxStructs.ts";
import { certificateId, isSignedBy, type CertificateFacts } from "./certificates.ts";
import type { Collateral, Signed } from "./collateralFile.ts";
import { CollateralMissingError } from "./errors.ts";

/** Something that was brought. */
type Brought = { what: string; receipt: TransactionReceipt };

/** The number of the root among issuers. */
export const ROOT = 0;

/** How many serial numbers one transaction looks up. Each revoked number takes a word of storage. */
const SERIALS_AT_ONCE = 40;

/**
 * Brings the parts of a collateral that the chain lacks or has in an older form, in the required order.
 * @param lookUp Whether to look up also each listed serial number that the chain does not know as revoked.
 * @throws ContractRevertError, RpcUnavailableError
 */
export async function bringMissing(
  verifier: TdxQuoteVerifier,
  collateral: Collateral,
  { lookUp = true, onBrought }: { lookUp?: boolean; onBrought?: (brought: Brought) => void } = {},
): Promise<Brought[]> {
  const done: Brought[] = [];
  const bring = async (what: string, sent: Promise<TransactionReceipt>): Promise<void> => {
    const brought = { what, receipt: await sent };
    done.push(brought);
    onBrought?.(brought);
  };
  const authorities = await verifier.authorities();
  for (const { der, facts } of collateral.authorities)
    if (await isNew(verifier, authorities, facts))
      await bring(`certificate ${facts.commonName}`, verifier.bringAuthority(der));
  await bringLists(verifier, collateral, bring, lookUp);
  const { tcbInfo, enclave } = collateral;
  const [signer, enclaveSigner] = [await numberOf(verifier, tcbInfo), await numberOf(verifier, enclave)];
  const { document } = tcbInfo;
  const [, info] = await verifier.tcbInfoOf(signer, document, document.number);
  if (info.issued < secondsOf(document.issueDate))
    await bring(`TCB info ${document.number}`, verifier.bringTcbInfo(document, signer, tcbInfo.signature));
  const identity = enclave.document;
  const [, state] = await verifier.enclaveIdentityOf(enclaveSigner, identity.number);
  if (state.issued < secondsOf(identity.issueDate))
    await bring(
      `identity of the enclave ${identity.number}`,
      verifier.bringEnclaveIdentity(identity, enclaveSigner, enclave.signature),
    );
  return done;
}

async function bringLists(
  verifier: TdxQuoteVerifier,
  { crls }: Collateral,
  bring: (what: string, sent: Promise<TransactionReceipt>) => Promise<void>,
  lookUp: boolean,
): Promise<void> {
  const authorities = await verifier.authorities();
  for (const { der, facts } of crls) {
    const issuer = issuerOf(authorities, hexToBytes(der), facts.issuer) ?? ROOT;
    const name = issuer === ROOT ? "the root" : `authority ${issuer}`;
    const { thisUpdate } = await verifier.crlOf(issuer);
    const time = BigInt(facts.thisUpdate.getTime() / 1_000);
    if (time < thisUpdate) continue;
    const open = lookUp ? await notRevoked(verifier, issuer, facts.serials) : [];
    if (time > thisUpdate || open.length > 0)
      await bring(`revocation list of ${name}`, verifier.bringCrl(issuer, der, open.slice(0, SERIALS_AT_ONCE)));
    for (let from = SERIALS_AT_ONCE; from < open.length; from += SERIALS_AT_ONCE)
      await bring(
        `more of the revocation list of ${name}`,
        verifier.bringCrl(issuer, der, open.slice(from, from + SERIALS_AT_ONCE)),
      );
  }
}

async function notRevoked(
  verifier: TdxQuoteVerifierReader,
  issuer: number,
  serials: readonly bigint[],
): Promise<bigint[]> {
  const since = await Promise.all(serials.map((serial) => verifier.revokedSince(certificateId(issuer, serial))));
  return serials.filter((_, k) => since[k] === 0n);
}

/** Returns the number of a document's signer. @throws CollateralMissingError */
async function numberOf(verifier: TdxQuoteVerifierReader, { signer }: Signed<unknown>): Promise<number> {
  const known = knownAs(await verifier.authorities(), signer);
  if (known === undefined)
    throw new CollateralMissingError(`the chain does not know who signed a document, ${signer.commonName}`);
  return known.number;
}

/**
 * Whether the chain takes a certificate of the root: the name and key are unknown, or the certificate outlasts the
 * known one, or the known certificate is revoked.
 */
async function isNew(
  verifier: TdxQuoteVerifierReader,
  authorities: readonly NumberedAuthority[],
  facts: CertificateFacts,
): Promise<boolean> {
  const known = knownAs(authorities, facts);
  if (known === undefined) return true;
  if (known.certificate === certificateId(ROOT, facts.serial)) return false;
  if (BigInt(facts.notAfter.getTime() / 1_000) > known.notAfter) return true;
  return (await verifier.revokedSince(known.certificate)) !== 0n;
}

const knownAs = (
  authorities: readonly NumberedAuthority[],
  { subject, key }: CertificateFacts,
): NumberedAuthority | undefined =>
  authorities.find((known) => known.subject === subject && known.x === key.x && known.y === key.y);

/**
 * Returns the number of the authority that signed a platform's certificate or a revocation list in DER, under the
 * issuer's name given there. If none of that name did, returns the first of that name, and the chain refuses the
 * signature by name. Undefined if the chain knows no such name.
 */
export function issuerOf(authorities: readonly NumberedAuthority[], der: Uint8Array, issuer: Hex): number | undefined {
  const named = authorities.filter((a) => a.role === AuthorityRole.platforms && a.subject === issuer);
  return (named.find((a) => isSignedBy(der, a)) ?? named[0])?.number;
}

/** Unix time of a date of a document. */
const secondsOf = (date: Hex): number => Date.parse(Buffer.from(date.slice(2), "hex").toString("latin1")) / 1_000;
