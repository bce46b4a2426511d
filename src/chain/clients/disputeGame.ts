import type { Address, Hex, TransactionReceipt } from "viem";
import { disputeGameAbi } from "../abi/disputeGame.ts";
import type { Claim, ClaimKey, PackedState, Pick, StepProof } from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

type Contract = { address: Address; abi: typeof disputeGameAbi };

/** What the dispute game keeps of a claim, amounts in the smallest unit of the stake asset. */
type ClaimGames = {
  /** Games that are open on the claim. */
  open: bigint;
  /** Whether the claim was refuted. */
  isDead: boolean;
  /** What its games are due if it dies; of a dead one, what is left for games that have not settled. */
  dues: bigint;
  /** What its worker's moves have earned and the worker has not collected. */
  earned: bigint;
};

/** The dispute game, as anybody reads it. */
class DisputeGameReader {
  readonly #publicClient: ReadAccess["publicClient"];
  protected readonly contract: Contract;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.#publicClient = publicClient;
    this.contract = { address, abi: disputeGameAbi };
  }

  /** What the game keeps of a claim. */
  async claimGames(claimId: Hex): Promise<ClaimGames> {
    const [open, isDead, dues, earned] = await this.#publicClient.readContract({
      ...this.contract,
      functionName: "claimGames",
      args: [claimId],
    });
    return { open, isDead, dues, earned };
  }
}

/**
 * The dispute game, as both parties of a game play it. A move brings the game's state, which `packState` packs.
 *
 * Every move throws ContractRevertError `StaleState` if the game is in another state, `ClaimDead` if the claim was
 * refuted in another game, and `WrongClaim` if the claim that it brings is not the game's. A move in turn also throws
 * `NotTurnOf` and `ClockExpired`.
 */
export class DisputeGame extends DisputeGameReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Opens a game at a node of the claim; the bond is taken from the sender's credit.
   * @param number Tells the game apart from the sender's other ones on the claim: below 2^32.
   * @throws ContractRevertError `GameExists`, `WindowClosed`, `InsufficientCredit`, and those of `pick`
   */
  open(claim: Claim, number: number, pick: Pick): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "open", args: [claim, number, pick] });
  }

  /**
   * The worker's answer to a node. Any plain account may send it.
   * @param data The node's `2^hop` children, 32 bytes each, concatenated; at a tensor's leaf the chunk of 512 bytes.
   * @throws ContractRevertError `NotTheNode`, `WrongDataLength`, `PaddingNotZero`, `NothingToReveal`, `NotPlainAccount`
   */
  reveal(state: PackedState, data: Hex): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "reveal", args: [state, data] });
  }

  /**
   * The worker's answer at a leaf of the trace: opens the list of the range's steps. At an output of an answer: opens
   * the run, or the trace of the output's item.
   * @param content The hash of what names the claim beside its worker.
   * @param children The first `2^hop` nodes below that list's root, 32 bytes each, concatenated.
   * @param siblings The opening of the disputed node up to one of the children: of a range's last leaf, or of the
   *   output in its item's trace and that in the run.
   * @throws ContractRevertError `NotWorker`, `NothingToExpand`, `LeafNotInList`, `WrongDataLength`,
   *   `PaddingNotZero`
   */
  expand(state: PackedState, content: Hex, children: Hex, siblings: readonly Hex[]): Promise<TransactionReceipt> {
    const args = [state, content, children, siblings] as const;
    return this.#sender.send({ ...this.contract, functionName: "expand", args });
  }

  /**
   * The challenger's choice of a node below the current one.
   * @throws ContractRevertError `NotChallenger`, `NothingToPick`, `NotTheNode`, `PickShortOfReveal`,
   *   `PickNotBelowNode`, `PickPastWidth`, `WrongPathLength`, `WrongProgram`, `CheckpointNotProven`, `StepNotProven`
   */
  pick(state: PackedState, pick: Pick): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "pick", args: [state, pick] });
  }

  /**
   * Has one element below the current node recomputed. The claim dies if it differs.
   * @throws ContractRevertError `ProofFails` if the claimed value is exact, `NotChallenger`, `NotAtTensor`, and others
   *   for proofs that do not hold
   */
  prove(state: PackedState, claim: Claim, proof: StepProof): Promise<TransactionReceipt> {
    return this.#sender.send(this.#proveCall(state, claim, proof));
  }

  /** Asks the chain, free of charge, whether `prove` would pass. @throws what `prove` throws */
  checkProve(state: PackedState, claim: Claim, proof: StepProof): Promise<void> {
    return this.#sender.check(this.#proveCall(state, claim, proof));
  }

  /** Gives a game up. Either party may. @throws ContractRevertError `NotAParty` */
  concede(state: PackedState, key: ClaimKey): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "concede", args: [state, key] });
  }

  /**
   * Ends a game in which the side to move has used up its time. Anyone may.
   * @throws ContractRevertError `ClockRunning`
   */
  timeout(state: PackedState, key: ClaimKey): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "timeout", args: [state, key] });
  }

  /**
   * Closes a game whose claim died in another one: the challenger has its bond and its gas back.
   * @throws ContractRevertError `ClaimAlive`, `StaleState` after the settlement, `NotPlainAccount`
   */
  settle(state: PackedState): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "settle", args: [state] });
  }

  /** Credits a worker with what its moves on a claim earned. Anyone may. @throws ContractRevertError `NothingEarned` */
  collect(key: ClaimKey): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "collect", args: [key] });
  }

  #proveCall(state: PackedState, claim: Claim, proof: StepProof) {
    return { ...this.contract, functionName: "prove", args: [state, claim, proof] } as const;
  }
}
