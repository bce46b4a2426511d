import type { Address, Hex, TransactionReceipt } from "viem";
import { ticketsAbi } from "../abi/tickets.ts";
import type { ClaimEvidence, SignedClaim, Ticket } from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

/** Not a field of the classes: their declarations would bring the ABI along. */
const contractAt = (address: Address) => ({ address, abi: ticketsAbi });

/** A payer's deposit for a worker, in the smallest unit of the stake asset. */
type TicketDeposit = {
  free: bigint;
  /** The amount asked back. The payer can withdraw from `readyAt` on (unix seconds; 0 without a request). */
  withdrawing: bigint;
  readyAt: bigint;
};

/** Where tickets are cashed, as anybody reads it. */
export class TicketsReader {
  readonly #publicClient: ReadAccess["publicClient"];
  readonly address: Address;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.#publicClient = publicClient;
    this.address = address;
  }

  /** Where signed claims are put on chain: the market of a session about them. */
  claims(): Promise<Address> {
    return this.#publicClient.readContract({ ...contractAt(this.address), functionName: "claims" });
  }

  /** Seconds after it was issued in which a claim can be put on chain. */
  async claimLifetime(): Promise<number> {
    return Number(
      await this.#publicClient.readContract({ ...contractAt(this.address), functionName: "claimLifetime" }),
    );
  }

  /** A payer's deposit for a worker. */
  async depositOf(payer: Address, worker: Address): Promise<TicketDeposit> {
    const args = [payer, worker] as const;
    const [free, withdrawing, readyAt] = await this.#publicClient.readContract({
      ...contractAt(this.address),
      functionName: "depositOf",
      args,
    });
    return { free, withdrawing, readyAt };
  }

  /** Returns the id of the claim that a signed claim became on chain; zero if the chain has no such claim. */
  claimIdOf(digest: Hex): Promise<Hex> {
    return this.#publicClient.readContract({ ...contractAt(this.address), functionName: "claimIdOf", args: [digest] });
  }

  /**
   * Reads a cashed ticket. The payer is the zero address if no ticket was cashed. The face is 0 after payment or
   * return.
   */
  async cashed(digest: Hex): Promise<{ payer: Address; worker: Address; face: bigint }> {
    const [payer, worker, face] = await this.#publicClient.readContract({
      ...contractAt(this.address),
      functionName: "cashed",
      args: [digest],
    });
    return { payer, worker, face };
  }

  /** Returns a worker's earnings not yet withdrawn. */
  earnings(worker: Address): Promise<bigint> {
    return this.#publicClient.readContract({ ...contractAt(this.address), functionName: "earnings", args: [worker] });
  }
}

/** The contract that cashes tickets, for payers and workers. */
export class Tickets extends TicketsReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Puts a signed claim on chain. Anyone who holds it may.
   * @throws ContractRevertError `AlreadyOnChain`, `WrongSigner`, `LifetimeOver`, `NotIssuedYet`, `IssuedAfterRequest`,
   *   `WorkerStopped`, `WrongPledgeStatus`
   */
  submitSigned(claim: SignedClaim, signature: Hex, evidence: ClaimEvidence): Promise<TransactionReceipt> {
    return this.#sender.send({
      ...contractAt(this.address),
      functionName: "submitSigned",
      args: [claim, signature, evidence],
    });
  }

  /**
   * Cashes a winning ticket, and puts its claim on chain if the chain lacks the claim.
   * @param by When ticket or claim are too old, unix seconds.
   * @throws ContractRevertError `TicketLost`, `TicketExpired`, `AlreadyCashed`, `WrongSigner`, `WorkerStopped`,
   *   `InsufficientDeposit`, and the errors of `submitSigned`
   */
  submitAndCash(
    claim: SignedClaim,
    claimSignature: Hex,
    evidence: ClaimEvidence,
    ticket: Ticket,
    ticketSignature: Hex,
    secret: Hex,
    by?: number,
  ): Promise<TransactionReceipt> {
    const args = [claim, claimSignature, evidence, ticket, ticketSignature, secret] as const;
    return this.#sender.send({ ...contractAt(this.address), functionName: "submitAndCash", args }, by);
  }

  /**
   * Pays a cashed ticket whose claim is final, or returns the ticket's face if the worker was stopped. Anyone may call.
   * @throws ContractRevertError `NotCashed`, `ClaimNotFinal`
   */
  collect(digest: Hex): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "collect", args: [digest] });
  }

  /** Adds tokens of the sender to the payer's deposit for a worker. The sender must have approved the tokens. */
  deposit(payer: Address, worker: Address, amount: bigint): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "deposit", args: [payer, worker, amount] });
  }

  /** Asks for a part of the sender's deposit back. @throws ContractRevertError `InsufficientDeposit` */
  requestWithdrawal(worker: Address, amount: bigint): Promise<TransactionReceipt> {
    return this.#sender.send({
      ...contractAt(this.address),
      functionName: "requestWithdrawal",
      args: [worker, amount],
    });
  }

  /** Sends the sender what it asked for. @throws ContractRevertError `NothingRequested`, `WithdrawalNotReady` */
  withdraw(worker: Address): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "withdraw", args: [worker] });
  }

  /** Sends all earnings of the sender to an address. @throws ContractRevertError `NothingEarned` */
  withdrawEarnings(to: Address): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "withdrawEarnings", args: [to] });
  }
}
