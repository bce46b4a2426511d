import { parseEventLogs, type Address, type Hex, type TransactionReceipt } from "viem";
import { provisioningAbi } from "../abi/provisioning.ts";
import type { Report, ReportKind } from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

type Contract = { address: Address; abi: typeof provisioningAbi };

/** The registry of attestations, as anybody reads it. */
export class ProvisioningReader {
  readonly #publicClient: ReadAccess["publicClient"];
  protected readonly contract: Contract;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.#publicClient = publicClient;
    this.contract = { address, abi: provisioningAbi };
  }

  /** Whether an account's attestation is live: it may stake and claim. */
  isLive(owner: Address): Promise<boolean> {
    return this.#publicClient.readContract({ ...this.contract, functionName: "isLive", args: [owner] });
  }
}

/** The registry of attestations, as a worker uses it. */
export class Provisioning extends ProvisioningReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /** Has a nonce issued for the sender's next report of a kind: `issuedNonce` reads it from the receipt. */
  requestNonce(kind: ReportKind): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "requestNonce", args: [kind] });
  }

  /**
   * Registers a report of the sender's device.
   * @throws ContractRevertError `ManufacturerNotTrusted`, `DeviceIsRevoked`, `DeviceBacksAnother`, `CounterNotHigher`,
   *   `NotTheWorker`, `WrongNonce`, `NonceTooOld`, `ReportExpired`, `ReportTooLong`, `BadEndorsement`, `BadSignature`
   */
  submitReport(report: Report, quote: Hex): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "submitReport", args: [report, quote] });
  }
}

/**
 * The nonce that was issued; undefined if there is none, because the contract is another one.
 * @param receipt Of `requestNonce`.
 */
export function issuedNonce({ logs }: TransactionReceipt): Hex | undefined {
  const [issued] = parseEventLogs({ abi: provisioningAbi, logs, eventName: "NonceIssued" });
  return issued?.args.nonce;
}
