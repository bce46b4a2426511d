import type { Address, Hex, TransactionReceipt } from "viem";
import { examsAbi } from "../abi/exams.ts";
import type { ExamClass, ExamReport, Sitting } from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

type Contract = { address: Address; abi: typeof examsAbi };
type Signature = { r: Hex; s: Hex };

/** An exam: its number, once it has one, and its block. */
type Exam = { number: number; gridBlock: bigint };

/** The exams of a deployment, as anybody reads them. */
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

  /** The numbers of the classes that a worker holds. */
  async classesOf(worker: Address): Promise<number[]> {
    const call = { ...this.contract, functionName: "classesOf", args: [worker] } as const;
    const held = await this.publicClient.readContract(call);
    return [...Array(16).keys()].filter((k) => ((held >> BigInt(k)) & 1n) === 1n);
  }

  /** Which of the last 16 exams a worker sat in time: bit i is the i-th before the last one. */
  passedOf(worker: Address, examClass: number): Promise<number> {
    const args = [worker, examClass] as const;
    return this.publicClient.readContract({ ...this.contract, functionName: "passedOf", args });
  }

  /** Whether a block is an exam's. Blocks that the node does not know any more are none. */
  isExam(gridBlock: bigint): Promise<boolean> {
    return this.publicClient.readContract({ ...this.contract, functionName: "isExam", args: [gridBlock] });
  }

  /** Whether a worker sat an exam like this, among the last 16. */
  isSitting(sitting: Sitting): Promise<boolean> {
    return this.publicClient.readContract({ ...this.contract, functionName: "isSitting", args: [sitting] });
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

  /** The registry of devices that these exams rest on. */
  provisioning(): Promise<Address> {
    return this.publicClient.readContract({ ...this.contract, functionName: "provisioning" });
  }

  /** One of how many blocks on the grid is an exam. */
  async examOdds(): Promise<number> {
    return Number(await this.publicClient.readContract({ ...this.contract, functionName: "examOdds" }));
  }

  /** The least distance of two exams, blocks. */
  async examSpacing(): Promise<number> {
    return Number(await this.publicClient.readContract({ ...this.contract, functionName: "examSpacing" }));
  }
}

/** The exams of a deployment, as workers sit them. */
export class Exams extends ExamsReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
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
