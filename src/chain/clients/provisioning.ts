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
  /** Unix time at which the permission to stake and claim ends or ended; 0 if unknown. */
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

  /** Returns the device id of an account's last report; 32 zero bytes without a report. */
  deviceOf(owner: Address): Promise<Hex> {
    return this.publicClient.readContract({ ...this.contract, functionName: "deviceOf", args: [owner] });
  }

  /** Returns the registry's record of a device; all zero for an unknown device. */
  deviceInfo(device: Hex): Promise<DeviceInfo> {
    return this.publicClient.readContract({ ...this.contract, functionName: "deviceInfo", args: [device] });
  }

  /** Returns the distance between the blocks whose hashes enter nonces. */
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

/** The registry of attestations, for workers and manufacturers. */
export class Provisioning extends ProvisioningReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Registers an endorsement and a report of the endorsed device, for the sender.
   * @throws ContractRevertError `WrongFirmware`, `EndorsementIsOver`, `ManufacturerNotTrusted`, `BadEndorsement`, and
   *   the errors of `report`
   */
  enrol(endorsement: Endorsement, report: Report, signature: Signature): Promise<TransactionReceipt> {
    const args = [endorsement, report, signature] as const;
    return this.#sender.send({ ...this.contract, functionName: "enrol", args });
  }

  /**
   * Registers a report of an enrolled device, for the sender.
   * @throws ContractRevertError `NotTheWorker`, `OffGrid`, `BlockOutOfReach`, `BlockNotNewer`, `SeqNotHigher`,
   *   `NotEnrolled`, `WrongFirmware`, `EndorsementIsOver`, `KeyIsRetired`, `DeviceBacksAnother`, `BadSignature`
   */
  report(report: Report, signature: Signature): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "report", args: [report, signature] });
  }

  /**
   * Registers a quote of a self-attesting machine, for the sender.
   * @throws ContractRevertError `ManufacturerNotTrusted`, `WrongReportData`, `PlatformNotAccepted`,
   *   `CollateralOverdue`, `OffGrid`, `BlockOutOfReach`, `BlockNotNewer`, `DeviceBacksAnother`, and the verifier's
   *   errors
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
   * Retires a device's key, proven by two payloads signed under one counter.
   * @throws ContractRevertError `SamePayload`, `KeyIsRetired`, `BadSignature`
   */
  retireKey(key: PublicKey, seq: bigint, a: SignedPayload, b: SignedPayload): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "retireKey", args: [key, seq, a, b] });
  }
}
