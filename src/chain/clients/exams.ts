import type { Address, Hex, TransactionReceipt } from "viem";
import { examsAbi } from "../abi/exams.ts";
import type { ExamClass, ExamReport, ExamResult } from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

type Contract = { address: Address; abi: typeof examsAbi };
type Signature = { r: Hex; s: Hex };

/** An exam: its block and, once assigned, its number. */
type Exam = { number: number; gridBlock: bigint };

/** A deployment's exams: the reading part of the contract's client. */
export class ExamsReader {
  protected readonly publicClient: ReadAccess["publicClient"];
  protected readonly contract: Contract;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.publicClient = publicClient;
    this.contract = { address, abi: examsAbi };
  }

  get address(): Address {
    return this.contract.address;
  }

  /** The zoo: the classes by number. */
  classes(): Promise<readonly ExamClass[]> {
    return this.publicClient.readContract({ ...this.contract, functionName: "classes" });
  }

  /** Returns the numbers of a worker's classes. */
  async classesOf(worker: Address): Promise<number[]> {
    const call = { ...this.contract, functionName: "classesOf", args: [worker] } as const;
    const held = await this.publicClient.readContract(call);
    return [...Array(16).keys()].filter((k) => ((held >> BigInt(k)) & 1n) === 1n);
  }

  /**
   * Returns 16 bits for a class's last 16 exams. Bit i is set if the worker sat the i-th exam before the last exam in
   * time.
   */
  passedOf(worker: Address, examClass: number): Promise<number> {
    const args = [worker, examClass] as const;
    return this.publicClient.readContract({ ...this.contract, functionName: "passedOf", args });
  }

  /**
   * Whether a block is the last exam with a number, or the next exam: the first candidate of the last 256 blocks that
   * is far enough from the last exam. Later candidates are no exams.
   * @param at The block whose state answers; the head if absent.
   */
  isExam(gridBlock: bigint, at?: bigint): Promise<boolean> {
    const call = { ...this.contract, functionName: "isExam", args: [gridBlock] } as const;
    return this.publicClient.readContract(at === undefined ? call : { ...call, blockNumber: at });
  }

  /** Whether a worker sat an exam like this, among the last 16. */
  isResult(result: ExamResult): Promise<boolean> {
    return this.publicClient.readContract({ ...this.contract, functionName: "isResult", args: [result] });
  }

  /** The last exam that has a number; number 0 if there was none. */
  async lastExam(): Promise<Exam> {
    const [number, gridBlock] = await this.publicClient.readContract({ ...this.contract, functionName: "lastExam" });
    return { number, gridBlock };
  }

  /** The highest counter of a device's exams. */
  seqOf(device: Hex): Promise<bigint> {
    return this.publicClient.readContract({ ...this.contract, functionName: "seqOf", args: [device] });
  }

  /** Returns the device registry used by these exams. */
  provisioning(): Promise<Address> {
    return this.publicClient.readContract({ ...this.contract, functionName: "provisioning" });
  }

  /** Returns the average number of grid blocks per exam. */
  async examOdds(): Promise<number> {
    return Number(await this.publicClient.readContract({ ...this.contract, functionName: "examOdds" }));
  }

  /** The least distance of two exams, blocks. */
  async examSpacing(): Promise<number> {
    return Number(await this.publicClient.readContract({ ...this.contract, functionName: "examSpacing" }));
  }
}

/** A deployment's exams, for workers who sit them. */
export class Exams extends ExamsReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Numbers an exam without a number, and thereby makes it visible to those who miss it. For an exam with a number,
   * nothing happens.
   * @throws ContractRevertError `NoExam`, `ExamOver`
   */
  numberExam(gridBlock: bigint): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "numberExam", args: [gridBlock] });
  }

  /**
   * Reports an exam of the sender.
   * @throws ContractRevertError `NoSuchClass`, `NoExam`, `ExamOver`, `SatBefore`, `NotItsDevice`, `ExamSeqNotHigher`,
   *   `ZeroTraceRoot`, `WrongDebugStatus`, `BadSignature`
   */
  sit(report: ExamReport, signature: Signature): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "sit", args: [report, signature] });
  }
}
