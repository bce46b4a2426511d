import type { Address, Hex } from "viem";
import { ReportKind, type ExamReport, type ExamResult } from "../../src/chain/structs.ts";
import type { P256Signature } from "../../src/attestation/keys.ts";
import { nonceOf } from "../../src/attestation/report.ts";
import { domain } from "./reports.ts";
import type { TestDevice } from "./testDevice.ts";
import type { World } from "./deployWorld.ts";
import { GRID_BLOCKS } from "./deployWorld.ts";

/** The least spacing that there is: then one exam is open at a time. */
export const SPACING = 256;

/** The parameter T for each class in a test's zoo, in blocks. */
export const CLASS_BLOCKS = [16, 256] as const;

/** A zoo of two programs that nobody compiled: the contract looks at roots only. */
export const CLASSES = CLASS_BLOCKS.map((blocks, k): { programRoot: Hex; blocks: number } => ({
  programRoot: `0x${String(k + 1).repeat(64)}`,
  blocks,
}));

/** A root that a trace could have. */
export const TRACE_ROOT: Hex = `0x${"7e".repeat(32)}`;

/**
 * Deploys exams to a world. @param odds With 1, every block on the grid far enough from the last exam becomes an exam.
 */
export const deployExams = (
  { viem, provisioning }: World,
  { classes = CLASSES, odds = 1n, spacing = BigInt(SPACING) } = {},
) => viem.deployContract("Exams", [provisioning.address, classes, odds, spacing]);

export type ExamsContract = Awaited<ReturnType<typeof deployExams>>;

/** The first block on the grid from a block on. */
const onGrid = (from: bigint): bigint => from + ((GRID - (from % GRID)) % GRID);

/**
 * Mines up to the next exam of exams with odds 1. A next exam that came some blocks ago gets its number, and counts as
 * missed. @returns the exam's block
 */
export async function nextExam(world: World, exams: ExamsContract): Promise<bigint> {
  const [number, last] = await exams.read.lastExam();
  const latest = BigInt(await world.networkHelpers.time.latestBlock());
  let block = onGrid(number === 0 ? max(latest - KNOWN, 0n) : max(last + BigInt(SPACING), latest - KNOWN));
  // The first block that counts: blocks before the deployment do not.
  while (block < latest && !(await exams.read.isExam([block]))) block += GRID;
  if (block + 2n * GRID < latest) {
    // In the next block, the oldest known block is unknown.
    if (block + KNOWN > latest) await exams.write.numberExam([block]);
    else await world.networkHelpers.mine(1);
    return nextExam(world, exams);
  }
  if (block > latest) await world.networkHelpers.mine(Number(block - latest));
  return block;
}

const GRID = BigInt(GRID_BLOCKS);
/** The number of blocks before a block whose hashes the block knows. A call is judged in the latest block. */
const KNOWN = 256n;
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** The nonce of an exam for a worker with a device: the seed of the class's program. */
export async function examNonce(world: World, worker: Address, device: TestDevice, gridBlock: bigint): Promise<Hex> {
  const { hash } = await world.client.getBlock({ blockNumber: gridBlock });
  const where = { chainId: world.chainId, provisioning: world.provisioning.address };
  return nonceOf({ ...where, worker, device: device.id, kind: ReportKind.exam, blockHash: hash });
}

/**
 * Returns a worker's exam report, signed by a device.
 * @param unsigned Changes to the sent fields only. @param classes The classes.
 */
export async function signedExam(
  world: World,
  worker: Address,
  device: TestDevice,
  fields: Partial<ExamReport> & Pick<ExamReport, "gridBlock">,
  unsigned: Partial<ExamReport> = {},
  classes: typeof CLASSES = CLASSES,
): Promise<{ report: ExamReport; signature: P256Signature; nonce: Hex }> {
  device.seq = fields.seq ?? device.seq + 1n;
  const { key, firmware, seq } = device;
  const report: ExamReport = {
    ...{ key, firmware, seq, traceRoot: TRACE_ROOT, class: 0, debugStatus: 1 },
    ...fields,
  };
  const kind = ReportKind.exam;
  const nonce = await examNonce(world, worker, device, report.gridBlock);
  const aux = classes[report.class]?.programRoot ?? TRACE_ROOT;
  const { debugStatus, traceRoot: body } = report;
  const signature = device.sign(domain(world), {
    nonce,
    kind,
    debugStatus,
    seq: report.seq,
    worker,
    firmware,
    body,
    aux,
  });
  return { report: { ...report, ...unsigned }, signature, nonce };
}

/** Has a worker sit an exam. @param classes The classes. */
export async function sit(
  world: World,
  exams: ExamsContract,
  worker: Address,
  device: TestDevice,
  fields: Partial<ExamReport> & Pick<ExamReport, "gridBlock">,
  classes: typeof CLASSES = CLASSES,
): Promise<Hex> {
  const { report, signature } = await signedExam(world, worker, device, fields, {}, classes);
  return exams.write.sit([report, signature], { account: worker });
}

/** Returns the contract's record of a result. @param hash The hash of the result's transaction. */
export async function resultOf({ client }: World, exams: ExamsContract, hash: Hex): Promise<ExamResult> {
  const { blockNumber } = await client.getTransactionReceipt({ hash });
  const [event] = await exams.getEvents.ExamSat({}, { fromBlock: blockNumber, toBlock: blockNumber });
  const {
    worker,
    device,
    class: examClass,
    number,
    nonce,
    traceRoot,
  } = event!.args as Required<NonNullable<typeof event>["args"]>;
  const { timestamp: time } = await client.getBlock({ blockNumber });
  return { worker, device, class: examClass, number, time, nonce, traceRoot };
}
