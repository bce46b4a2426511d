import { concat, hexToBytes, type Hex, type TransactionReceipt } from "viem";
import { tdxQuoteVerifierAbi } from "../../chain/abi/tdxQuoteVerifier.ts";
import { TdxQuoteVerifierReader } from "../../chain/clients/tdxQuoteVerifier.ts";
import { ReportKind } from "../../chain/structs.ts";
import type { Session } from "../../chain/market/session.ts";
import { nextGridBlock } from "../attest.ts";
import { nonceOf } from "../report.ts";
import { platformDevice, readPck } from "./certificates.ts";
import { STATUSES } from "./documents.ts";
import { encodeEvidence } from "./evidence.ts";
import { QuoteFormError } from "./errors.ts";
import { splitQuote, type SplitQuote } from "./quote.ts";
import type { QuoteSource } from "./quoteSource.ts";
import { evidencesFor, type JudgedBy } from "./platformStatus.ts";

/** Facts about a quote that the chain accepted. */
type PlatformAttested = { device: Hex; gridBlock: bigint; isIntroduced: boolean; receipt: TransactionReceipt };

/** From this status on, a machine does not count. */
const OUT_OF_DATE = STATUSES.indexOf("OutOfDate");

/**
 * Has a machine attest itself for the sender, in one transaction. The machine makes two quotes. The first quote
 * identifies the machine, and the second quote's report data depend on this identity.
 * @param verifier The verifier for the machine's kind, from the deployment's manufacturers.
 * @param root Merkle root of the machine's identification (`Identification`).
 * @throws QuoteFormError, CollateralMissingError, ReportTooSoonError; ContractRevertError
 */
export async function attestPlatform(
  session: Session,
  verifier: Hex,
  source: QuoteSource,
  root: Hex,
): Promise<PlatformAttested> {
  const { publicClient, sender, provisioning, deployment, fromBlock } = session;
  const reader = new TdxQuoteVerifierReader(verifier, { publicClient });
  const first = splitQuote(source(new Uint8Array(64)));
  const { ppid } = readPck(first.leaf, "the platform's certificate");
  const device = platformDevice(ppid, { chainId: deployment.chainId, verifier });
  const known = await provisioning.deviceInfo(device);
  const gridBlock = await nextGridBlock(session, known.gridBlock);
  const { hash } = await publicClient.getBlock({ blockNumber: gridBlock });
  const nonce = nonceOf({
    ...deployment,
    worker: sender.address,
    device,
    kind: ReportKind.identification,
    blockHash: hash,
  });
  const reportData = concat([nonce, root]);
  const quote = splitQuote(source(hexToBytes(reportData)));
  if (quote.reportData !== reportData)
    throw new QuoteFormError("the quote has other report data than were asked for: is this folder the kernel's?");
  const evidences = await evidencesFor(reader, quote, { fromBlock, older: deployment.asset });
  const evidence = await takenEvidence(session, verifier, quote, evidences);
  const receipt = await provisioning.attestPlatform(encoded(quote, evidence), verifier, gridBlock);
  const isIntroduced = "platform" in evidence;
  return { device, gridBlock, isIntroduced, receipt };
}

const encoded = (quote: SplitQuote, by: JudgedBy): Hex =>
  encodeEvidence({ ...by, quote: "platform" in by ? quote.signed : quote.certified });

/** Returns the first evidence under which the quote's machine counts, or else the first evidence of all. */
async function takenEvidence(
  { publicClient }: Pick<Session, "publicClient">,
  verifier: Hex,
  quote: SplitQuote,
  candidates: readonly JudgedBy[],
): Promise<JudgedBy> {
  for (const candidate of candidates) {
    const call = { address: verifier, abi: tdxQuoteVerifierAbi, functionName: "verify" } as const;
    const { result } = await publicClient
      .simulateContract({ ...call, args: [encoded(quote, candidate)] })
      .catch(() => ({ result: undefined }));
    if (result !== undefined && result.status < OUT_OF_DATE) return candidate;
  }
  // The registry says why.
  return candidates[0]!;
}
