import type { Address, TransactionReceipt } from "viem";
import { examClaimsAbi } from "../abi/examClaims.ts";
import type { ProgramFacts, ExamResult } from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

/** Not a field of the classes: their declarations would bring the ABI along. */
const contractAt = (address: Address) => ({ address, abi: examClaimsAbi });

/** From when on a worker's exam results count: zeros if it never enrolled. */
type Enrolment = {
  /** When the backing pledge was locked, unix seconds. */
  pledged: bigint;
  /** Exams with a number above this one count. */
  number: number;
};

/** Exam results as claims: the reading part of the contract's client. */
export class ExamClaimsReader {
  protected readonly publicClient: ReadAccess["publicClient"];
  readonly address: Address;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.publicClient = publicClient;
    this.address = address;
  }

  /** The exams. */
  exams(): Promise<Address> {
    return this.publicClient.readContract({ ...contractAt(this.address), functionName: "exams" });
  }

  /** Where the claims are: the market of a session about them. */
  claims(): Promise<Address> {
    return this.publicClient.readContract({ ...contractAt(this.address), functionName: "claims" });
  }

  /** Whether a worker holds a class with a pledge behind it. */
  classHeld(worker: Address, examClass: number): Promise<boolean> {
    const args = [worker, examClass] as const;
    return this.publicClient.readContract({ ...contractAt(this.address), functionName: "classHeld", args });
  }

  /** From when on a worker's exam results count. */
  enrolmentOf(worker: Address): Promise<Enrolment> {
    return this.publicClient.readContract({ ...contractAt(this.address), functionName: "enrolmentOf", args: [worker] });
  }
}

/** The same, as watchers and workers use it. */
export class ExamClaims extends ExamClaimsReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Puts an exam result on chain as a claim, open to refutation.
   * @throws ContractRevertError `NotAResult`, `WrongProgram`, `ClaimExists`, `WorkerStopped`, `WrongPledgeStatus`,
   *   `IssuedAfterRequest`, `LifetimeOver`
   */
  challenge(result: ExamResult, program: ProgramFacts): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "challenge", args: [result, program] });
  }

  /**
   * Records that a worker's pledge backs the worker's exam results from now on.
   * @throws ContractRevertError `NotPledged`, `EnrolledBefore`
   */
  enrol(worker: Address): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "enrol", args: [worker] });
  }
}
