import { bytesToHex, pad, type Hex } from "viem";
import { platformDevice } from "../../../../src/attestation/tdx/certificates.ts";
import { encodeEvidence } from "../../../../src/attestation/tdx/evidence.ts";
import { nonceOf } from "../../../../src/attestation/report.ts";
import { splitQuote } from "../../../../src/attestation/tdx/quote.ts";
import { ReportKind } from "../../../../src/chain/structs.ts";
import { GRID_BLOCKS, LIFETIME } from "../../../../testkit/protocol/deployWorld.ts";
import { BODY, gridBlockAfter } from "../../../../testkit/protocol/reports.ts";
import type { QuoteFields } from "../../../../testkit/tdx/quotes.ts";
import { realQuote } from "../../../../testkit/tdx/realQuote.ts";
import { createTdxWorld, introduction } from "../../../../testkit/tdx/tdxWorld.ts";
import { gasParts, type GasParts } from "./gasParts.ts";

/** A real report's bytes, without the versions judged by the test's policy. */
const REAL = { 16: bytesToHex(realQuote().subarray(48 + 16, 48 + 520)) };
const QUOTES: Record<string, QuoteFields> = {
  "a TDX renewal, v4": { changes: REAL },
  "a TDX renewal, v5": { version: 5, body: "1.5", changes: REAL },
};

/** Measures a known machine's renewals, with a real report's bytes. */
export async function renewalParts(): Promise<Record<string, GasParts>> {
  const world = await createTdxWorld();
  const { viem, client, verifier, platform, tcbInfo, enclave } = world;
  const provisioning = await viem.deployContract("Provisioning", [
    [pad(verifier.address)],
    BigInt(GRID_BLOCKS),
    BigInt(LIFETIME),
  ]);
  const chainId = await client.getChainId();
  const worker = (await viem.getWalletClients())[0]!.account.address;
  const device = platformDevice(platform.pck.ppid, { chainId, verifier: verifier.address });
  let gridBlock = 0n;
  const send = async (evidenceOf: (reportData: Hex) => Hex): Promise<Hex> => {
    gridBlock = await gridBlockAfter({ ...world, provisioning, chainId }, gridBlock);
    const { hash: blockHash } = await client.getBlock({ blockNumber: gridBlock });
    const facts = { chainId, provisioning: provisioning.address, worker, device, blockHash };
    const nonce = nonceOf({ ...facts, kind: ReportKind.identification });
    const evidence = evidenceOf(`${nonce}${BODY.slice(2)}`);
    return provisioning.write.attestPlatform([evidence, verifier.address, gridBlock]);
  };
  await send((reportData) => introduction(world, platform, { reportData }));
  const [introduced] = await verifier.getEvents.PlatformIntroduced({}, { fromBlock: 0n });
  const parts: Record<string, GasParts> = {};
  for (const [name, fields] of Object.entries(QUOTES)) {
    const hash = await send((reportData) => {
      const { signed } = splitQuote(platform.quote({ ...fields, reportData }));
      return encodeEvidence({ quote: signed, tcbInfo, enclave, platform: introduced!.args.facts! });
    });
    parts[name] = await gasParts(world, hash);
  }
  return parts;
}
