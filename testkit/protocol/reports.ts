import { toHex, zeroHash, type Address, type Hex } from "viem";
import { ReportKind, StatementScope, type Report, type Statement } from "../../src/chain/structs.ts";
import type { P256Signature } from "../../src/attestation/keys.ts";
import type { SoftwareManufacturer } from "../../src/attestation/manufacturer.ts";
import { domainOf, nonceOf, type ReportFields } from "../../src/attestation/report.ts";
import { signedStatement, type TestDevice } from "./testDevice.ts";
import type { World } from "./deployWorld.ts";
import { GRID_BLOCKS } from "./deployWorld.ts";

type Chain = Pick<World, "provisioning" | "chainId" | "networkHelpers" | "client">;

/** A report as the contract takes it. */
export type SignedReport = { report: Report; signature: P256Signature };

/** A root that no identification has. */
export const BODY: Hex = toHex("a body", { size: 32 });

/** Returns the newest grid block that a report in the next block can name. @param after The grid block before. */
export async function gridBlockAfter({ networkHelpers }: Chain, after: bigint): Promise<bigint> {
  const latest = await networkHelpers.time.latestBlock();
  const min = Math.max(Number(after), 0) + GRID_BLOCKS;
  if (latest < min) await networkHelpers.mine(min - latest);
  const now = Math.max(latest, min);
  return BigInt(now - (now % GRID_BLOCKS));
}

/**
 * Returns a report that the next block would accept, signed by the worker's device.
 * @param changes Changes to the signed and sent fields.
 * @param unsigned Changes to the sent fields only.
 */
export async function signedReport(
  world: Chain,
  worker: Address,
  device: TestDevice,
  changes: Partial<Omit<Report, "key">> = {},
  unsigned: Partial<Report> = {},
): Promise<SignedReport> {
  const gridBlock = changes.gridBlock ?? (await gridBlockAfter(world, device.gridBlock));
  device.gridBlock = gridBlock;
  device.seq = changes.seq ?? device.seq + 1n;
  const report: Report = {
    key: device.key,
    kind: ReportKind.identification,
    debugStatus: 1,
    seq: device.seq,
    worker,
    firmware: device.firmware,
    body: BODY,
    aux: zeroHash,
    gridBlock,
    ...changes,
  };
  const signature = device.sign(domain(world), await fieldsOf(world, device, report));
  return { report: { ...report, ...unsigned }, signature };
}

/** The domain of a world's reports. */
export const domain = ({ chainId, provisioning }: Pick<Chain, "chainId" | "provisioning">): Hex =>
  domainOf({ chainId, provisioning: provisioning.address });

/** Returns the signed fields of a report. */
export async function fieldsOf(world: Chain, device: TestDevice, report: Report): Promise<ReportFields> {
  const { chainId, provisioning, client } = world;
  const { worker, gridBlock } = report;
  const kind = report.kind as ReportKind;
  const { hash } = await client.getBlock({ blockNumber: gridBlock });
  const facts = { chainId, provisioning: provisioning.address, worker, device: device.id, kind, blockHash: hash };
  return { ...report, kind, nonce: nonceOf(facts) };
}

/** Enrols a device for a worker. */
export async function enrol(world: Chain, worker: Address, device: TestDevice): Promise<Hex> {
  const { report, signature } = await signedReport(world, worker, device);
  return world.provisioning.write.enrol([device.endorsement, report, signature], { account: worker });
}

/** Sends another report for a worker, from an enrolled device. */
export async function renew(world: Chain, worker: Address, device: TestDevice): Promise<Hex> {
  const { report, signature } = await signedReport(world, worker, device);
  return world.provisioning.write.report([report, signature], { account: worker });
}

/** Makes a worker live. */
export async function attest(world: Chain, worker: Address, device: TestDevice): Promise<void> {
  await (device.seq === 0n ? enrol : renew)(world, worker, device);
}

/** A statement's subject: all devices from a manufacturer if undefined. */
export type Subject = { firmware: Hex } | { device: Hex } | undefined;

/** The scope and the subject of a statement. */
export function scopeOf(subject: Subject): Pick<Statement, "scope" | "subject"> {
  if (subject === undefined) return { scope: StatementScope.all, subject: zeroHash };
  if ("device" in subject) return { scope: StatementScope.device, subject: subject.device };
  return { scope: StatementScope.firmware, subject: subject.firmware };
}

/** Freezes or thaws devices for their manufacturer. Another account brings the statement. */
export async function freeze(
  { provisioning, mallory }: Pick<World, "provisioning" | "mallory">,
  maker: SoftwareManufacturer,
  about?: Subject,
  frozen = true,
): Promise<void> {
  const { scope, subject } = scopeOf(about);
  const [, last] = await provisioning.read.statementOf([maker.id, scope, subject]);
  const statement = signedStatement(maker, { scope, subject, frozen, number: last + 1n });
  await provisioning.write.makeStatement(statement, { account: mallory.account });
}
