import type { Hex, TransactionReceipt } from "viem";
import type { Exams } from "../../chain/clients/exams.ts";
import { ReportKind } from "../../chain/structs.ts";
import type { Session } from "../../chain/market/session.ts";
import { fromHex } from "../../program/merkle/bytes.ts";
import type { Hash } from "../../program/merkle/hash.ts";
import type { Device } from "../device.ts";
import { ExamElsewhereError } from "../errors.ts";
import { deviceId } from "../keys.ts";
import { domainOf, nonceOf } from "../report.ts";

/** An exam of a class. */
type ExamTask = {
  /** The number of the class. */
  class: number;
  /** Its program. */
  programRoot: Hex;
  /** The exam's block. */
  gridBlock: bigint;
};

/** The result reported for an exam. */
type SatExam = {
  seq: bigint;
  traceRoot: Hash;
  /** That the execution took. */
  milliseconds: number;
  receipt: TransactionReceipt;
};

/** Executes a class's program on a seed, 32 bytes. @returns The root of the trace */
export type SolveExam = (seed: Uint8Array) => Promise<Hash>;

/**
 * Sits an exam: executes the class's program on the seed that the exam's block gives this worker and its device, has
 * the device sign the trace's root, and sends it.
 * @throws ExamElsewhereError if another device backs the worker; DongleAwayError, DongleAnswerError,
 *   DeviceRefusalError; ContractRevertError `ExamOver`, `NoExam`, `SatBefore`, `ExamSeqNotHigher`, `NotItsDevice`,
 *   `BadSignature`
 */
export async function sitExam(
  { publicClient, sender, provisioning, deployment }: Session,
  exams: Exams,
  device: Device,
  task: ExamTask,
  solve: SolveExam,
): Promise<SatExam> {
  const { key, endorsement } = await device.identity();
  const id = deviceId(key);
  const worker = sender.address;
  const [own, known, seq, { hash }] = await Promise.all([
    provisioning.deviceOf(worker),
    provisioning.deviceInfo(id),
    exams.seqOf(id),
    publicClient.getBlock({ blockNumber: task.gridBlock }),
  ]);
  if (own !== id)
    throw new ExamElsewhereError(`device ${own} backs the worker, and ${id} answers: attest with it first`);
  const kind = ReportKind.exam;
  const nonce = nonceOf({ ...deployment, worker, device: id, kind, blockHash: hash });
  const start = performance.now();
  const traceRoot = await solve(fromHex(nonce));
  const milliseconds = performance.now() - start;
  const signed = await device.sign({
    ...{ domain: domainOf(deployment), nonce, kind, worker, body: traceRoot, aux: task.programRoot },
    // SAFETY: even a device with old memory must use a number unused by its earlier reports.
    after: seq > known.seq ? seq : known.seq,
  });
  const { gridBlock, class: number } = task;
  const { firmware } = endorsement;
  const report = {
    key,
    firmware,
    traceRoot,
    gridBlock,
    class: number,
    seq: signed.seq,
    debugStatus: signed.debugStatus,
  };
  return { seq: signed.seq, traceRoot, milliseconds, receipt: await exams.sit(report, signed.signature) };
}
