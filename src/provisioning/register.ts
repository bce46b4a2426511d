import { keccak256, toBytes, type Hex } from "viem";
import { issuedNonce } from "../chain/clients/provisioning.ts";
import { NotDeployedError } from "../chain/errors.ts";
import type { Session } from "../market/session.ts";
import { ReportKind } from "../chain/structs.ts";
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
  { publicClient, sender, provisioning, deployment }: Session,
  device: SoftwareDevice,
  { kind, content, lifetimeSeconds }: ReportRequest,
): Promise<ReportContent> {
  const nonce = issuedNonce(await provisioning.requestNonce(ReportKind[kind]));
  if (nonce === undefined)
    throw new NotDeployedError(`${deployment.provisioning} issues no nonces: is it Refute's Provisioning?`);
  const known = await content(nonce);
  const { timestamp } = await publicClient.getBlock();
  const { report, quote } = device.sign(
    { chainId: deployment.chainId, provisioning: deployment.provisioning },
    {
      kind: ReportKind[kind],
      worker: sender.address,
      nonce,
      expiry: timestamp + BigInt(lifetimeSeconds),
      contentHash: keccak256(contentBytes(known)),
    },
  );
  await provisioning.submitReport(report, quote);
  return known;
}
