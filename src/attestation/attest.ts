import type { Hex, TransactionReceipt } from "viem";
import { ReportKind, ZERO_HASH, type DeviceInfo } from "../chain/structs.ts";
import type { Session } from "../chain/market/session.ts";
import type { Device } from "./device.ts";
import type { Endorsement } from "./endorsement.ts";
import { ReportTooSoonError } from "./errors.ts";
import { deviceId, manufacturerId } from "./keys.ts";
import { domainOf, nonceOf } from "./report.ts";

/** Facts about a report that the chain accepted. */
type Attested = {
  /** The device's id. */
  device: Hex;
  seq: bigint;
  /** The block whose hash is in the nonce. */
  gridBlock: bigint;
  receipt: TransactionReceipt;
};

/**
 * Has a device report for the sender, in one transaction. The transaction carries the device's endorsement if the chain
 * does not know it.
 * @param root Merkle root of the machine's identification (`Identification`).
 * @param after A counter that the device has used elsewhere: the counter of its exams.
 * @throws ReportTooSoonError, DongleAwayError, DongleAnswerError, DeviceRefusalError; ContractRevertError
 *   `ManufacturerNotTrusted`, `BadEndorsement`, `EndorsementIsOver`, `KeyIsRetired`, `DeviceBacksAnother`,
 *   `SeqNotHigher`, `BadSignature`
 */
export async function attest(session: Session, device: Device, root: Hex, after = 0n): Promise<Attested> {
  const { publicClient, sender, provisioning, deployment } = session;
  const { key, endorsement } = await device.identity();
  const id = deviceId(key);
  const known = await provisioning.deviceInfo(id);
  const gridBlock = await nextGridBlock(session, known.gridBlock);
  const { hash } = await publicClient.getBlock({ blockNumber: gridBlock });
  const worker = sender.address;
  const kind = ReportKind.identification;
  const fields = { kind, worker, body: root, aux: ZERO_HASH };
  const { seq, debugStatus, signature } = await device.sign({
    ...fields,
    domain: domainOf(deployment),
    nonce: nonceOf({ ...deployment, worker, device: id, kind, blockHash: hash }),
    after: after > known.seq ? after : known.seq,
  });
  const { firmware } = endorsement;
  const report = { ...fields, key, debugStatus, seq, firmware, gridBlock };
  const isKnown = isEndorsed(known, endorsement);
  const receipt = await (isKnown
    ? provisioning.report(report, signature)
    : provisioning.enrol(endorsement, report, signature));
  return { device: id, seq, gridBlock, receipt };
}

/**
 * Returns the block whose hash enters the nonce if the report goes out now.
 * @param last The grid block of the device's last report.
 * @throws ReportTooSoonError
 */
export async function nextGridBlock(
  { publicClient, provisioning }: Pick<Session, "publicClient" | "provisioning">,
  last: bigint,
): Promise<bigint> {
  const [gridBlocks, head] = await Promise.all([
    provisioning.gridBlocks().then(BigInt),
    publicClient.getBlockNumber({ cacheTime: 0 }),
  ]);
  // Some nodes run a call inside the head block. A nonce needs an earlier block.
  const gridBlock = head - 1n - ((head - 1n) % gridBlocks);
  if (gridBlock > last) return gridBlock;
  const next = last - (last % gridBlocks) + gridBlocks;
  throw new ReportTooSoonError(
    `the device's next report needs block ${next + 1n}, the chain is at ${head}: try again then`,
  );
}

/** Whether the chain knows a device by this endorsement. */
export const isEndorsed = (known: DeviceInfo, given: Endorsement): boolean =>
  known.manufacturer === manufacturerId(given.manufacturer) &&
  known.model === given.model &&
  known.firmware === given.firmware &&
  known.notAfter === given.notAfter;
