import { bytesToHex, type Address, type Hex } from "viem";
import type { TdxQuoteVerifierReader } from "../../chain/clients/tdxQuoteVerifier.ts";
import { certificateId, platformDevice, readCertificate, readPck } from "./certificates.ts";
import { issuerOf, ROOT } from "./submitCollateral.ts";
import { CollateralMissingError } from "./errors.ts";
import type { SplitQuote } from "./quote.ts";

/** How long Intel's signed documents still count for renewals after their next update is due: 14 days. */
const OVERDUE_SECONDS = 14n * 86_400n;

/** Something that a platform's quotes need. */
type Need = {
  what: string;
  /** `missing`; `overdue`, which only renewals may be; `expired`, `superseded`, `revoked`; or `current`. */
  state: "missing" | "current" | "overdue" | "expired" | "superseded" | "revoked";
  /** Unix time until when it counts; since when it is revoked; 0 if it is missing. */
  until: bigint;
};

/** A platform's standing on the chain. */
type PlatformStanding = { device: Hex; fmspc: Hex; needs: Need[] };

/** Where the verifier's events begin: the supposed block, and a contract that is probably older than the verifier. */
type Beginning = { fromBlock: bigint; older: Address };

/** Lists the collateral that a verifier needs for a platform's quotes, with its state at a given time. */
export async function standingOf(
  verifier: TdxQuoteVerifierReader,
  { leaf }: Pick<SplitQuote, "leaf">,
  { chainId, now, ...beginning }: { chainId: number; now: bigint } & Beginning,
): Promise<PlatformStanding> {
  const name = "the platform's certificate";
  const [certificate, pck] = [readCertificate(leaf, name), readPck(leaf, name)];
  const device = platformDevice(pck.ppid, { chainId, verifier: verifier.address });
  const facts = await knownFacts(verifier, beginning);
  const needs: Need[] = [];
  const due = (what: string, next: bigint, supersededAt = 0n): void => {
    const state = supersededAt !== 0n && now >= supersededAt ? "superseded" : stateAt(next, now);
    const until = next + OVERDUE_SECONDS;
    needs.push({ what, state, until: supersededAt !== 0n && supersededAt < until ? supersededAt : until });
  };
  const missing = (what: string): void => void needs.push({ what, state: "missing", until: 0n });
  const list = async (what: string, issuer: number): Promise<void> => {
    const { nextUpdate } = await verifier.crlOf(issuer);
    if (nextUpdate === 0n) missing(what);
    else due(what, nextUpdate);
  };
  const authorities = await verifier.authorities();
  await list("revocation list of the root", ROOT);
  const issuer = issuerOf(authorities, leaf, certificate.issuer);
  if (issuer === undefined) missing("certificate of who certified the platform");
  else {
    await list(`revocation list of authority ${issuer}`, issuer);
    const since = await verifier.revokedSince(certificateId(issuer, certificate.serial));
    if (since !== 0n) needs.push({ what: name, state: "revoked", until: since });
  }
  const documents = [
    ["TCB info", facts.tcbInfos.filter(({ fmspc }) => fmspc === pck.fmspc)],
    ["identity of the enclave", facts.enclaves],
  ] as const;
  for (const [what, found] of documents) {
    const last = lastOfEach<KnownDocument>(found);
    if (last.length === 0) missing(what);
    for (const { number, nextUpdate, supersededAt } of last) due(`${what} ${number}`, nextUpdate, supersededAt);
  }
  return { device, fmspc: pck.fmspc, needs };
}

/** The documents that judge a quote, and the data that introduce or name the quote's platform. */
export type JudgedBy = { tcbInfo: Hex; enclave: Hex } & ({ platform: Hex } | { leaf: Hex; authority: number });

/**
 * Returns the evidences that may judge a quote: facts of the counting documents, highest numbers first. Until a new
 * number binds, a machine out of date under this number may name the previous number.
 * @throws CollateralMissingError
 */
export async function evidencesFor(
  verifier: TdxQuoteVerifierReader,
  { leaf, attestationKey }: Pick<SplitQuote, "leaf" | "attestationKey">,
  beginning: Beginning,
): Promise<JudgedBy[]> {
  const name = "the platform's certificate";
  const [certificate, pck] = [readCertificate(leaf, name), readPck(leaf, name)];
  const facts = await knownFacts(verifier, beginning);
  const authority = issuerOf(await verifier.authorities(), leaf, certificate.issuer);
  const tcbInfos = lastOfEach(facts.tcbInfos.filter(({ fmspc }) => fmspc === pck.fmspc));
  const enclaves = lastOfEach(facts.enclaves);
  if (tcbInfos.length === 0 || enclaves.length === 0 || authority === undefined)
    throw new CollateralMissingError(
      `the chain lacks what Intel signed about platforms ${pck.fmspc}: run refute tdx status, and refute tdx bring`,
    );
  const key = `${attestationKey.x.slice(2)}${attestationKey.y.slice(2)}`;
  const id = certificateId(authority, certificate.serial);
  let platform: { platform: Hex } | { leaf: Hex; authority: number } = { leaf: bytesToHex(leaf), authority };
  for (const known of facts.platforms.filter((p) => p.certificate === id && p.facts.endsWith(key)))
    if (await verifier.isIntroduced(known.facts)) platform = { platform: known.facts };
  return tcbInfos.flatMap((tcbInfo) =>
    enclaves.map((enclave) => ({ tcbInfo: tcbInfo.facts, enclave: enclave.facts, ...platform })),
  );
}

type KnownDocument = { number: number; facts: Hex; issued: bigint; nextUpdate: bigint; supersededAt: bigint };

/** Returns the last issued document of each number, highest number first. */
function lastOfEach<T extends KnownDocument>(documents: readonly T[]): T[] {
  const sorted = [...documents].sort((a, b) => b.number - a.number || Number(b.issued - a.issued));
  return sorted.filter(({ number }, k) => number !== sorted[k - 1]?.number);
}

/** Reads the documents and platforms that the chain's events list. */
async function knownFacts(verifier: TdxQuoteVerifierReader, { fromBlock, older }: Beginning) {
  const tcbInfos: (KnownDocument & { fmspc: Hex })[] = [];
  const enclaves: KnownDocument[] = [];
  const platforms: { certificate: bigint; facts: Hex }[] = [];
  for (const event of await verifier.events(fromBlock, older)) {
    if (event.eventName === "TcbInfoBrought") {
      const { fmspc, pceId, number, issued, facts } = event.args;
      const [, state] = await verifier.tcbInfoOf(signerOf(facts), { fmspc, pceId }, number);
      tcbInfos.push({ fmspc, ...knownDocument(number, issued, facts, state) });
    } else if (event.eventName === "EnclaveIdentityBrought") {
      const { number, issued, facts } = event.args;
      const [, state] = await verifier.enclaveIdentityOf(signerOf(facts), number);
      enclaves.push(knownDocument(number, issued, facts, state));
    } else if (event.eventName === "PlatformIntroduced") platforms.push(event.args);
  }
  return { tcbInfos, enclaves, platforms };
}

const knownDocument = (
  number: number,
  issued: bigint,
  facts: Hex,
  { supersededAt }: { supersededAt: number },
): KnownDocument => ({ number, facts, issued, nextUpdate: nextUpdateOf(facts), supersededAt: BigInt(supersededAt) });

/** Facts begin with number (4 bytes), authority (1) and next update (5). */
const signerOf = (facts: Hex): number => Number.parseInt(facts.slice(10, 12), 16);
const nextUpdateOf = (facts: Hex): bigint => BigInt(`0x${facts.slice(12, 22)}`);

const stateAt = (next: bigint, now: bigint): Need["state"] =>
  now <= next ? "current" : now <= next + OVERDUE_SECONDS ? "overdue" : "expired";
