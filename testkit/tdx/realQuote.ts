import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { bytesToHex, type Hex } from "viem";
import { readCertificate } from "../../src/attestation/tdx/certificates.ts";
import { readEnclaveIdentity, readTcbInfo } from "../../src/attestation/tdx/documents.ts";
import { encodeEvidence } from "../../src/attestation/tdx/evidence.ts";
import { splitQuote } from "../../src/attestation/tdx/quote.ts";
import { CA, deployVerifier, factsOf, SIGNER, type Anchor } from "./tdxWorld.ts";

const FOLDER = "test/golden/tdx";

/** A time at which the real quote's collateral holds: 2025-06-25. */
export const REAL_TIME = 1_750_809_600;

/** Returns a machine's real quote. Intel's documents about the machine date from the same time. */
export const realQuote = (): Buffer => readFileSync(`${FOLDER}/tdx_quote`);

/** Intel's root. */
export const intelRoot = (): Buffer => readFileSync(`${FOLDER}/TrustedRootCA.der`);

/** Its collateral, as it came. */
export const realCollateral = (): Record<string, string> =>
  JSON.parse(readFileSync(`${FOLDER}/tdx_quote_collateral.json`, "utf8")) as Record<string, string>;

/** Returns the first certificate from a PEM chain, as DER. */
const firstOf = (pem: string): Hex => bytesToHex(new Uint8Array(new X509Certificate(pem).raw));

/** A signature as Intel's documents have it. */
const rsOf = (text: string): [Hex, Hex] => [`0x${text.slice(0, 64)}`, `0x${text.slice(64)}`];

/** The anchor of a root. */
export function anchorOf(der: Uint8Array): Anchor {
  const { key, subject } = readCertificate(der, "the root");
  return { ...key, name: subject };
}

/** A verifier under Intel's root, at the time of the real quote, with its collateral. */
export async function realWorld() {
  const real = await network2025();
  const { verifier } = real;
  const c = realCollateral();
  await verifier.write.bringAuthority([firstOf(c.pck_crl_issuer_chain!)]);
  await verifier.write.bringAuthority([firstOf(c.tcb_info_issuer_chain!)]);
  await verifier.write.bringCrl([0, `0x${c.root_ca_crl!}`, []]);
  await verifier.write.bringCrl([CA, `0x${c.pck_crl!}`, []]);
  const [r, s] = rsOf(c.tcb_info_signature!);
  const tcbInfo = await factsOf(
    real,
    await verifier.write.bringTcbInfo([readTcbInfo(c.tcb_info!), SIGNER, r, s]),
    "TcbInfoBrought",
  );
  const [r2, s2] = rsOf(c.qe_identity_signature!);
  const enclave = await factsOf(
    real,
    await verifier.write.bringEnclaveIdentity([readEnclaveIdentity(c.qe_identity!), SIGNER, r2, s2]),
    "EnclaveIdentityBrought",
  );
  return { ...real, tcbInfo, enclave };
}

export type RealWorld = Awaited<ReturnType<typeof realWorld>>;

/** A chain whose clock starts before the real quote's time. */
const network2025 = () => deployVerifier(anchorOf(intelRoot()), REAL_TIME, new Date("2025-06-20T00:00:00Z"));

/** Returns evidence from the real quote, or from replacement bytes. */
export function realEvidence({ tcbInfo, enclave }: Pick<RealWorld, "tcbInfo" | "enclave">, quote = realQuote()): Hex {
  const { certified, leaf } = splitQuote(quote);
  return encodeEvidence({ quote: certified, tcbInfo, enclave, leaf: bytesToHex(leaf), authority: CA });
}
