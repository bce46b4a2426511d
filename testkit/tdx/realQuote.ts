import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { bytesToHex, type Hex } from "viem";
import { readCertificate } from "../../src/attestation/tdx/certificates.ts";
import { readEnclaveIdentity, readTcbInfo } from "../../src/attestation/tdx/documents.ts";
import { encodeEvidence } from "../../src/attestation/tdx/evidence.ts";
import { splitQuote } from "../../src/attestation/tdx/quote.ts";
import { CA, deployVerifier, factsOf, SIGNER, type Anchor } from "./tdxWorld.ts";

const FOLDER = "test/golden/tdx";

/** A real machine: the name of its quote's file, and a time at which its collateral holds. */
type RealMachine = { file: string; time: number };

/** A time at which the real quote's collateral holds: 2025-06-25. */
export const REAL_TIME = 1_750_809_600;

const FIRST: RealMachine = { file: "tdx_quote", time: REAL_TIME };
/** A machine whose TCB info has the FMSPC in lower case, at 2025-09-10. */
export const LOWER_CASE: RealMachine = { file: "tdx_quote_lower", time: 1_757_462_400 };

/** Returns a machine's real quote. Intel's documents about the machine date from the same time. */
export const realQuote = ({ file } = FIRST): Buffer => readFileSync(`${FOLDER}/${file}`);

/** Intel's root. */
export const intelRoot = (): Buffer => readFileSync(`${FOLDER}/TrustedRootCA.der`);

/** Its collateral, as it came. */
export const realCollateral = ({ file } = FIRST): Record<string, string> =>
  JSON.parse(readFileSync(`${FOLDER}/${file}_collateral.json`, "utf8")) as Record<string, string>;

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
export async function realWorld(machine = FIRST) {
  // The chain's clock starts before the machine's time.
  const { time } = machine;
  const real = await deployVerifier(anchorOf(intelRoot()), time, new Date((time - 5 * 86_400) * 1_000));
  const { verifier } = real;
  const c = realCollateral(machine);
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

/** Returns evidence from the real quote, or from replacement bytes. */
export function realEvidence({ tcbInfo, enclave }: Pick<RealWorld, "tcbInfo" | "enclave">, quote = realQuote()): Hex {
  const { certified, leaf } = splitQuote(quote);
  return encodeEvidence({ quote: certified, tcbInfo, enclave, leaf: bytesToHex(leaf), authority: CA });
}
