import { identityText, tcbInfoText } from "../../src/attestation/tdx/documents.ts";
import type { EnclaveIdentity, TcbInfo } from "../../src/chain/tdxStructs.ts";
import type { TestPki } from "./pki.ts";
import { identityOf, pem, signDocument, tcbInfoOf } from "./quotes.ts";

/** Changes to the default collateral. By default, a test's root signs platforms without revocations. */
type CollateralFields = {
  /** Unix time of issue for all documents. */
  issued: number;
  /** Serial numbers of certificates of platforms. */
  revoked?: readonly bigint[];
  tcbInfo?: TcbInfo;
  identity?: EnclaveIdentity;
};

/** Quote verification collateral as a file has it, signed by a test's own root. */
export function collateralFile(pki: TestPki, fields: CollateralFields): string {
  const { issued, revoked = [], tcbInfo = tcbInfoOf(issued), identity = identityOf(issued) } = fields;
  const signature = (document: TcbInfo | EnclaveIdentity): string => {
    const { r, s } = signDocument(pki.signer, document);
    return `${r.slice(2)}${s.slice(2)}`;
  };
  const chain = (of: Buffer): string => pem(of) + pem(pki.rootCertificate().der);
  return JSON.stringify({
    pck_crl_issuer_chain: chain(pki.platformCa.der),
    root_ca_crl: pki.crl(pki.root, [], issued).toString("hex"),
    pck_crl: pki.crl(pki.platformCa, revoked, issued).toString("hex"),
    tcb_info_issuer_chain: chain(pki.signer.der),
    tcb_info: tcbInfoText(tcbInfo),
    tcb_info_signature: signature(tcbInfo),
    qe_identity_issuer_chain: chain(pki.signer.der),
    qe_identity: identityText(identity),
    qe_identity_signature: signature(identity),
  });
}
