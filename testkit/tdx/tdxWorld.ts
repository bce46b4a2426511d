import { network } from "hardhat";
import { bytesToHex, parseEventLogs, type Hex } from "viem";
import { tdxQuoteVerifierAbi } from "../../src/chain/abi/tdxQuoteVerifier.ts";
import type { EnclaveIdentity, TcbInfo } from "../../src/chain/tdxStructs.ts";
import { certificateId } from "../../src/attestation/tdx/certificates.ts";
import { encodeEvidence } from "../../src/attestation/tdx/evidence.ts";
import { splitQuote } from "../../src/attestation/tdx/quote.ts";
import { TestPki, type Issued } from "./pki.ts";
import { identityOf, signDocument, tcbInfoOf, TestPlatform, type QuoteFields } from "./quotes.ts";

/** How long a lower number counts in the tests' deployments. */
export const GRACE = 60 * 86_400;
/** Seconds after a world's `now` at which tests bring newer documents: more than it takes to make a world. */
export const LATER = 3_600;

export type Anchor = { x: Hex; y: Hex; name: Hex };

/**
 * Deploys a chain with a verifier under a root.
 * @param startsAt Unix time of the block before.
 * @param initialDate The chain's first date, if different from the machine's date.
 */
export async function deployVerifier(anchor: Anchor, startsAt?: number, initialDate?: Date) {
  const { viem, networkHelpers } = await network.create(initialDate === undefined ? {} : { override: { initialDate } });
  if (startsAt !== undefined) await networkHelpers.time.increaseTo(startsAt);
  const client = await viem.getPublicClient();
  const reader = await viem.deployContract("TdxReader");
  const verifier = await viem.deployContract("TdxQuoteVerifier", [anchor, reader.address, BigInt(GRACE)]);
  return { viem, networkHelpers, client, verifier, reader };
}

export type VerifierChain = Awaited<ReturnType<typeof deployVerifier>>;

/** A verifier under a root of the tests' own, with all that a quote needs. */
export async function createTdxWorld() {
  // A Hardhat chain starts at the machine's time.
  const now = Math.floor(Date.now() / 1_000) + 120;
  const pki = new TestPki(now);
  const chain = await deployVerifier(pki.anchor, now);
  const { verifier } = chain;
  await verifier.write.bringAuthority([bytesToHex(pki.platformCa.der)]);
  await verifier.write.bringAuthority([bytesToHex(pki.signer.der)]);
  await verifier.write.bringCrl([0, bytesToHex(pki.crl(pki.root, [])), []]);
  await verifier.write.bringCrl([CA, bytesToHex(pki.crl(pki.platformCa, [])), []]);
  const world = { ...chain, pki, now };
  const tcbInfo = await bringTcbInfo(world, tcbInfoOf(now));
  const enclave = await bringIdentity(world, identityOf(now));
  return { ...world, tcbInfo, enclave, platform: new TestPlatform(pki) };
}

export type TdxWorld = Awaited<ReturnType<typeof createTdxWorld>>;

/** The numbers of the authorities of `createTdxWorld`. */
export const CA = 1;
export const SIGNER = 128;

type Parts = Pick<TdxWorld, "verifier" | "client" | "pki">;

/** Brings TCB info. @returns its facts */
export async function bringTcbInfo(w: Parts, info: TcbInfo, signer: Issued = w.pki.signer, by = SIGNER): Promise<Hex> {
  const { r, s } = signDocument(signer, info);
  return factsOf(w, await w.verifier.write.bringTcbInfo([info, by, r, s]), "TcbInfoBrought");
}

/** Brings the identity of the enclave. @returns its facts */
export async function bringIdentity(w: Parts, identity: EnclaveIdentity): Promise<Hex> {
  const { r, s } = signDocument(w.pki.signer, identity);
  return factsOf(w, await w.verifier.write.bringEnclaveIdentity([identity, SIGNER, r, s]), "EnclaveIdentityBrought");
}

/** The facts in the only event of a transaction. */
export async function factsOf(
  { client }: Pick<TdxWorld, "client">,
  hash: Hex,
  eventName: "TcbInfoBrought" | "EnclaveIdentityBrought" | "PlatformIntroduced",
): Promise<Hex> {
  const { logs } = await client.getTransactionReceipt({ hash });
  return parseEventLogs({ abi: tdxQuoteVerifierAbi, logs, eventName })[0]!.args.facts;
}

/** Evidence that introduces a platform. @param changes Of the quote, or other facts. */
export function introduction(
  world: TdxWorld,
  platform: TestPlatform = world.platform,
  fields: QuoteFields = {},
  changes: { tcbInfo?: Hex; enclave?: Hex; authority?: number; leaf?: Hex; quote?: Hex } = {},
): Hex {
  const { certified, leaf } = splitQuote(platform.quote(fields));
  const { tcbInfo, enclave } = world;
  return encodeEvidence({
    quote: certified,
    tcbInfo,
    enclave,
    leaf: bytesToHex(leaf),
    authority: CA,
    ...changes,
  });
}

/** Returns the verifier's result for evidence. */
export const verified = async ({ verifier }: Pick<TdxWorld, "verifier">, evidence: Hex) =>
  (await verifier.simulate.verify([evidence])).result;

/** Returns the id of a certificate signed by the tests' authority. */
export const leafId = (leaf: Issued): bigint => certificateId(CA, leaf.serial);
