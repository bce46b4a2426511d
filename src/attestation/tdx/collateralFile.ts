import { X509Certificate } from "node:crypto";
import { bytesToHex, isHex, type Hex } from "viem";
import { z } from "zod/v4";
import { readCertificate, readCrl, type CertificateFacts, type CrlFacts } from "./certificates.ts";
import { readEnclaveIdentity, readTcbInfo } from "./documents.ts";
import { CollateralFormError } from "./errors.ts";
import type { EnclaveIdentity, TcbInfo } from "../../chain/tdxStructs.ts";

/** Intel's signed collateral for one platform kind, read from a file. */
export type Collateral = {
  /** The certificates of the root: who certifies platforms, and who signs documents. */
  authorities: { der: Hex; facts: CertificateFacts }[];
  crls: { der: Hex; facts: CrlFacts }[];
  tcbInfo: Signed<TcbInfo>;
  enclave: Signed<EnclaveIdentity>;
};

/** A signed document, with the signer's certificate. */
export type Signed<T> = { document: T; signature: { r: Hex; s: Hex }; signer: CertificateFacts };

const hexText = z.string().regex(/^([0-9a-fA-F]{2})+$/);
const signature = z.string().regex(/^[0-9a-fA-F]{128}$/);
const schema = z.object({
  pck_crl_issuer_chain: z.string(),
  root_ca_crl: hexText,
  pck_crl: hexText,
  tcb_info_issuer_chain: z.string(),
  tcb_info: z.string(),
  tcb_info_signature: signature,
  qe_identity_issuer_chain: z.string(),
  qe_identity: z.string(),
  qe_identity_signature: signature,
});

/**
 * Reads collateral: a JSON object with the fields of Intel's quote verification collateral, in the format of
 * third-party tools. Chains come in PEM, lists and signatures in hexadecimal, documents as text.
 * @throws CollateralFormError
 */
export function parseCollateral(text: string, name: string): Collateral {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CollateralFormError(`${name}: not JSON`, { cause });
  }
  const { data, error } = schema.safeParse(json);
  if (data === undefined) {
    const where = error.issues.map((issue) => issue.path.join(".") || "the whole").join(", ");
    throw new CollateralFormError(`${name}: no collateral of a quote (${where})`);
  }
  const field = (key: string): string => `${name}, ${key}`;
  const chain = (key: "pck_crl_issuer_chain" | "tcb_info_issuer_chain" | "qe_identity_issuer_chain") => {
    const der = firstOf(data[key], field(key));
    return { der: bytesToHex(der), facts: readCertificate(der, field(key)) };
  };
  const crl = (key: "root_ca_crl" | "pck_crl") => {
    const der = `0x${data[key]}` as const;
    return { der, facts: readCrl(Buffer.from(data[key], "hex"), field(key)) };
  };
  const [ca, tcbSigner, enclaveSigner] = [
    chain("pck_crl_issuer_chain"),
    chain("tcb_info_issuer_chain"),
    chain("qe_identity_issuer_chain"),
  ];
  const unique = new Map([ca, tcbSigner, enclaveSigner].map((authority) => [authority.der, authority]));
  return {
    authorities: [...unique.values()],
    crls: [crl("root_ca_crl"), crl("pck_crl")],
    tcbInfo: {
      document: readTcbInfo(data.tcb_info, field("tcb_info")),
      signature: rsOf(data.tcb_info_signature),
      signer: tcbSigner.facts,
    },
    enclave: {
      document: readEnclaveIdentity(data.qe_identity, field("qe_identity")),
      signature: rsOf(data.qe_identity_signature),
      signer: enclaveSigner.facts,
    },
  };
}

function firstOf(pem: string, name: string): Uint8Array {
  try {
    return new Uint8Array(new X509Certificate(pem).raw);
  } catch (cause) {
    throw new CollateralFormError(`${name}: no certificate in PEM`, { cause });
  }
}

function rsOf(text: string): { r: Hex; s: Hex } {
  const [r, s] = [`0x${text.slice(0, 64)}`, `0x${text.slice(64)}`];
  if (!isHex(r) || !isHex(s)) throw new CollateralFormError("a signature is not in hexadecimal");
  return { r, s };
}
