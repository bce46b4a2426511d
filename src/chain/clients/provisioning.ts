import type { Address, Hex, TransactionReceipt } from "viem";
import { provisioningAbi } from "../abi/provisioning.ts";
import {
  REASONS,
  type DeviceInfo,
  type Endorsement,
  type Reason,
  type Report,
  type SignedPayload,
  type Statement,
} from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

type Contract = { address: Address; abi: typeof provisioningAbi };
type Signature = Endorsement["signature"];
type PublicKey = Report["key"];

/** Whether an account may stake and claim. */
export type Eligibility = {
  /** `eligible`, or why not. */
  reason: Reason;
  /** Unix time until when it may, or since when it may not; 0 where that is not known. */
  time: bigint;
};

/** The registry of attestations, as anybody reads it. */
export class ProvisioningReader {
  protected readonly publicClient: ReadAccess["publicClient"];
  protected readonly contract: Contract;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.publicClient = publicClient;
    this.contract = { address, abi: provisioningAbi };
  }

  /** Whether an account's attestation is live: it may stake and claim. */
  isLive(owner: Address): Promise<boolean> {
    return this.publicClient.readContract({ ...this.contract, functionName: "isLive", args: [owner] });
  }

  /** Whether an account may stake and claim, until when, or why not. */
  async eligibilityOf(owner: Address): Promise<Eligibility> {
    const call = { ...this.contract, functionName: "whyNotEligible", args: [owner] } as const;
    const [reason, time] = await this.publicClient.readContract(call);
    return { reason: REASONS[reason]!, time };
  }

  /** The id of the device of an account's last report; 32 zero bytes if it has none. */
  deviceOf(owner: Address): Promise<Hex> {
    return this.publicClient.readContract({ ...this.contract, functionName: "deviceOf", args: [owner] });
  }

  /** What is known of a device; all zero if nothing is. */
  deviceInfo(device: Hex): Promise<DeviceInfo> {
    return this.publicClient.readContract({ ...this.contract, functionName: "deviceInfo", args: [device] });
  }

  /** The distance of the blocks whose hashes nonces have. */
  async gridBlocks(): Promise<number> {
    return Number(await this.publicClient.readContract({ ...this.contract, functionName: "gridBlocks" }));
  }

  /** How long a report holds, seconds. */
  async reportLifetime(): Promise<number> {
    return Number(await this.publicClient.readContract({ ...this.contract, functionName: "reportLifetime" }));
  }

  /** The ids of the manufacturers whose devices count. */
  manufacturers(): Promise<readonly Hex[]> {
    return this.publicClient.readContract({ ...this.contract, functionName: "manufacturers" });
  }
}

/** The registry of attestations, as workers and manufacturers use it. */
export class Provisioning extends ProvisioningReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Takes an endorsement and a report of its device, for the sender.
   * @throws ContractRevertError `WrongFirmware`, `EndorsementIsOver`, `ManufacturerNotTrusted`, `BadEndorsement`, and
   *   as `report` does
   */
  enrol(endorsement: Endorsement, report: Report, signature: Signature): Promise<TransactionReceipt> {
    const args = [endorsement, report, signature] as const;
    return this.#sender.send({ ...this.contract, functionName: "enrol", args });
  }

  /**
   * Takes a report of a device that is enrolled, for the sender.
   * @throws ContractRevertError `NotTheWorker`, `OffGrid`, `BlockOutOfReach`, `BlockNotNewer`, `SeqNotHigher`,
   *   `NotEnrolled`, `WrongFirmware`, `EndorsementIsOver`, `KeyIsRetired`, `DeviceBacksAnother`, `BadSignature`
   */
  report(report: Report, signature: Signature): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "report", args: [report, signature] });
  }

  /**
   * Takes a quote of a machine that attests itself, for the sender.
   * @throws ContractRevertError `ManufacturerNotTrusted`, `WrongReportData`, `PlatformNotAccepted`,
   *   `CollateralOverdue`, `OffGrid`, `BlockOutOfReach`, `BlockNotNewer`, `DeviceBacksAnother`, and those of the
   * verifier
   */
  attestPlatform(evidence: Hex, verifier: Address, gridBlock: bigint): Promise<TransactionReceipt> {
    const args = [evidence, verifier, gridBlock] as const;
    return this.#sender.send({ ...this.contract, functionName: "attestPlatform", args });
  }

  /** Ends the sender's lease of its device. @throws ContractRevertError `NoLease` */
  release(): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "release", args: [] });
  }

  /**
   * Brings a manufacturer's statement.
   * @throws ContractRevertError `ManufacturerNotTrusted`, `WrongSubject`, `NumberNotHigher`, `BadStatement`
   */
  makeStatement(statement: Statement, manufacturer: PublicKey, signature: Signature): Promise<TransactionReceipt> {
    const args = [statement, manufacturer, signature] as const;
    return this.#sender.send({ ...this.contract, functionName: "makeStatement", args });
  }

  /**
   * Retires a device's key by two payloads that it signed under one counter.
   * @throws ContractRevertError `SamePayload`, `KeyIsRetired`, `BadSignature`
   */
  retireKey(key: PublicKey, seq: bigint, a: SignedPayload, b: SignedPayload): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "retireKey", args: [key, seq, a, b] });
  }
}
