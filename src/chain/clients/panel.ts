import type { Address, Hex, TransactionReceipt } from "viem";
import { parseEventLogs } from "viem";
import { panelAbi } from "../abi/panel.ts";
import type { ClaimKey, Job, JobRequest, PanelOutcome } from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

/** Not a field of the classes: their declarations would bring the ABI along. */
const contractAt = (address: Address) => ({ address, abi: panelAbi });

/** The contract's record of a panel. */
export type PanelRecord = {
  /** The zero address if no panel has the id. */
  poster: Address;
  /** With one that was added. */
  seats: number;
  added: boolean;
  /** Until when an added seat is sealed (unix seconds); 0: none may be added. */
  auditUntil: number;
  outcome: PanelOutcome;
  /** The result's root, if the result is agreed or survived; else zero. */
  root: Hex;
};

/** Panels, as anybody reads them. */
export class PanelReader {
  protected readonly publicClient: ReadAccess["publicClient"];
  readonly address: Address;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.publicClient = publicClient;
    this.address = address;
  }

  /** The market whose jobs the seats are. */
  market(): Promise<Address> {
    return this.publicClient.readContract({ ...contractAt(this.address), functionName: "market" });
  }

  /** @param blockNumber At which it is read; the latest one if absent. */
  async panelOf(panelId: Hex, blockNumber?: bigint): Promise<PanelRecord> {
    const [poster, seats, added, auditUntil, outcome, root] = await this.publicClient.readContract({
      ...contractAt(this.address),
      functionName: "panelOf",
      args: [panelId],
      ...(blockNumber !== undefined && { blockNumber }),
    });
    return {
      poster,
      seats: Number(seats),
      added,
      auditUntil: Number(auditUntil),
      outcome: outcome as PanelOutcome,
      root,
    };
  }

  /** Returns the fees that an account can withdraw, in the smallest unit of the stake asset. */
  owed(account: Address): Promise<bigint> {
    return this.publicClient.readContract({ ...contractAt(this.address), functionName: "owed", args: [account] });
  }
}

/** Panels, for posters and for anyone who ends a panel. */
export class Panel extends PanelReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Posts a panel. The fees come from the sender's tokens, which the sender must have approved. `postedPanel` reads the
   * panel from the receipt.
   * @param auditUntil Unix time by which an added seat must be sealed; 0: no seat is added.
   * @param dataSuffix Bytes after the arguments, ignored by every contract: `referenceSuffix` makes some.
   * @throws ContractRevertError `SeatsOutOfRange`, `UnfitRequest`, `AuditOutOfRange`, `FeeNotArrived`, the token's
   *   errors, and the errors of the market's `post`
   */
  post(request: JobRequest, seats: number, auditUntil: number, dataSuffix: Hex = "0x"): Promise<TransactionReceipt> {
    const args = [request, seats, auditUntil] as const;
    return this.#sender.send({ ...contractAt(this.address), functionName: "post", args, dataSuffix });
  }

  /**
   * Returns the id that a panel would get if the sender posted the panel. Nothing is sent. @throws like the node's
   * client
   */
  async idOf(request: JobRequest, seats: number, auditUntil: number): Promise<Hex> {
    const call = { ...contractAt(this.address), functionName: "post", args: [request, seats, auditUntil] } as const;
    const { result } = await this.publicClient.simulateContract({ ...call, account: this.#sender.address });
    return result;
  }

  /**
   * Adds a seat to a panel of the sender, between seals and openings.
   * @param first The job of the first seat.
   * @param request The request as posted; its inputs and its salt do not count.
   * @throws ContractRevertError `WrongOutcome`, `NotPoster`, `NoSeatToAdd`, `TooSoonToAdd`, `OtherRequest`, and the
   *   errors of the market's `post`
   */
  addSeat(first: Job, request: JobRequest): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "addSeat", args: [first, request] });
  }

  /**
   * Records that every seat was opened with the same root. Anyone may call.
   * @param claims The claim of each seat, in seat order.
   * @throws ContractRevertError `WrongOutcome`, `WrongClaimCount`, `NotTheSeat`, `SeatNotOpened`, `SeatDisagrees`
   */
  agree(first: Job, claims: readonly ClaimKey[]): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "agree", args: [first, claims] });
  }

  /**
   * Notes how a panel ended, and closes seats that nobody took. Anyone may.
   * @param claims The final claim of each seat, in their order; of a seat without one, anything.
   * @throws ContractRevertError `WrongOutcome`, `WrongClaimCount`, `NotTheSeat`, `NotTheFinalClaim`, `SeatNotOver`, and
   *   the market's `TimeNotUp`
   */
  resolve(first: Job, claims: readonly ClaimKey[]): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "resolve", args: [first, claims] });
  }

  /** Sends the sender the fees owed to the sender. @throws ContractRevertError `NothingOwed` */
  withdraw(): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "withdraw", args: [] });
  }
}

/**
 * Returns the posted panel's id, and the seats' job ids.
 * @param receipt The receipt of `post`.
 */
export function postedPanel({ logs }: TransactionReceipt): { panelId: Hex; jobs: readonly Hex[] } {
  const [posted] = parseEventLogs({ abi: panelAbi, logs, eventName: "PanelPosted" });
  const { panelId, jobs } = posted!.args;
  return { panelId, jobs };
}
