import { keccak256, parseEventLogs, toBytes, type PublicClient } from "viem";
import { provisioningAbi } from "../chain/abi/provisioning.ts";
import type { Deployment } from "../chain/deployment.ts";
import { NotDeployedError } from "../chain/errors.ts";
import type { Sender } from "../chain/sender.ts";
import { ReportKind } from "../chain/types.ts";
import type { SoftwareDevice } from "./device.ts";

/** What a report is about; published off chain, its hash goes into the report. */
export type ReportContent = Record<string, string | number>;

/** The content's canonical bytes: JSON with sorted keys. */
export const contentBytes = (content: ReportContent): Uint8Array =>
  toBytes(JSON.stringify(Object.fromEntries(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)))));

/**
 * Obtains a nonce from the chain, has the device sign a report over it for the sender, and registers the report.
 * @param lifetimeSeconds How long the report shall hold.
 */
export async function registerReport(
  client: PublicClient,
  sender: Sender,
  { chainId, provisioning }: Pick<Deployment, "chainId" | "provisioning">,
  device: SoftwareDevice,
  {
    kind,
    content,
    lifetimeSeconds,
  }: { kind: keyof typeof ReportKind; content: ReportContent; lifetimeSeconds: number },
): Promise<void> {
  const contract = { address: provisioning, abi: provisioningAbi } as const;
  const requested = await sender.send({ ...contract, functionName: "requestNonce", args: [ReportKind[kind]] });
  const [issued] = parseEventLogs({ abi: provisioningAbi, logs: requested.logs, eventName: "NonceIssued" });
  if (issued === undefined)
    throw new NotDeployedError(`${provisioning} issues no nonces: is it Refute's Provisioning?`);
  const { timestamp } = await client.getBlock();
  const { report, quote } = device.sign(
    { chainId, provisioning },
    {
      kind: ReportKind[kind],
      worker: sender.address,
      nonce: issued.args.nonce,
      expiry: timestamp + BigInt(lifetimeSeconds),
      contentHash: keccak256(contentBytes(content)),
    },
  );
  await sender.send({ ...contract, functionName: "submitReport", args: [report, quote] });
}
