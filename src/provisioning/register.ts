import { keccak256, parseEventLogs, toBytes, type Hex } from "viem";
import { provisioningAbi } from "../chain/abi/provisioning.ts";
import { NotDeployedError } from "../chain/errors.ts";
import type { Session } from "../market/session.ts";
import { ReportKind } from "../market/types.ts";
import type { SoftwareDevice } from "./device.ts";

/** What a report is about; published off chain, its hash goes into the report. */
export type ReportContent = Record<string, string | number>;

/** The content's canonical bytes: JSON with sorted keys. */
const contentBytes = (content: ReportContent): Uint8Array =>
  toBytes(JSON.stringify(Object.fromEntries(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)))));

/** A report to be made. */
export type ReportRequest = {
  kind: keyof typeof ReportKind;
  /** The content, given the chain's nonce. */
  content: (nonce: Hex) => ReportContent | Promise<ReportContent>;
  /** How long the report shall hold. */
  lifetimeSeconds: number;
};

/** Obtains a nonce from the chain, has the device sign a report over it for the sender, and registers the report. */
export async function registerReport(
  { publicClient, sender, deployment: { chainId, provisioning } }: Session,
  device: SoftwareDevice,
  { kind, content, lifetimeSeconds }: ReportRequest,
): Promise<ReportContent> {
  const contract = { address: provisioning, abi: provisioningAbi } as const;
  const requested = await sender.send({ ...contract, functionName: "requestNonce", args: [ReportKind[kind]] });
  const [issued] = parseEventLogs({ abi: provisioningAbi, logs: requested.logs, eventName: "NonceIssued" });
  if (issued === undefined)
    throw new NotDeployedError(`${provisioning} issues no nonces: is it Refute's Provisioning?`);
  const { nonce } = issued.args;
  const known = await content(nonce);
  const { timestamp } = await publicClient.getBlock();
  const { report, quote } = device.sign(
    { chainId, provisioning },
    {
      kind: ReportKind[kind],
      worker: sender.address,
      nonce,
      expiry: timestamp + BigInt(lifetimeSeconds),
      contentHash: keccak256(contentBytes(known)),
    },
  );
  await sender.send({ ...contract, functionName: "submitReport", args: [report, quote] });
  return known;
}
