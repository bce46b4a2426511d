import type { Address, Hex, TransactionReceipt } from "viem";
import { disputeGameAbi } from "../abi/disputeGame.ts";
import type { Claim, ClaimKey, PackedState, Pick, StepProof } from "../structs.ts";
import { clockEnd } from "../market/clock.ts";
import { unpackState } from "../market/state.ts";
import type { Access, ReadAccess } from "./access.ts";

type Contract = { address: Address; abi: typeof disputeGameAbi };

/** The dispute game's record of a claim. Amounts are in the smallest unit of the stake asset. */
type ClaimGames = {
  /** Games that are open on the claim. */
  open: bigint;
  /** Whether the claim was refuted. */
  isDead: boolean;
  /** The amount due to the claim's games if the claim dies. For a dead claim: the amount left for unsettled games. */
  dues: bigint;
  /** The amount earned by the worker's moves and not yet collected. */
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

  /** Reads the game's record of a claim. */
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
 * The dispute game, for both parties. A move brings the game's state, packed by `packState`.
 *
 * Every move throws ContractRevertError `StaleState` if the game is in another state, `ClaimDead` if the claim was
 * refuted in another game, and `WrongClaim` if the brought claim is not the game's claim. A move in turn also throws
 * `NotTurnOf` and `ClockExpired`. Moves in turn and openings are sent before all else, the least time left first.
 */
export class DisputeGame extends DisputeGameReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Opens a game at a node of the claim. The bond is taken from the sender's credit.
   * @param number Distinguishes the sender's games on the claim: below 2^32.
   * @param by The end of the claim's window, unix seconds.
   * @throws ContractRevertError `GameExists`, `WindowClosed`, `InsufficientCredit`, and the errors of `pick`
   */
  open(claim: Claim, number: number, pick: Pick, by?: number): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "open", args: [claim, number, pick] }, by);
  }

  /**
   * The worker's answer to a node. Any plain account may send it.
   * @param data The node's `2^hop` children, 32 bytes each, concatenated; at a tensor's leaf the chunk of 512 bytes.
   * @throws ContractRevertError `NotTheNode`, `WrongDataLength`, `PaddingNotZero`, `NothingToReveal`, `NotPlainAccount`
   */
  reveal(state: PackedState, data: Hex): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "reveal", args: [state, data] }, endOf(state));
  }

  /**
   * The worker's answer at a leaf of the trace: opens the list of the range's steps. At an output of an answer: opens
   * the run, or the trace of the output's item.
   * @param content Hash of the fields that, with the worker, name the claim.
   * @param children The first `2^hop` nodes below the list's root, 32 bytes each, concatenated.
   * @param siblings Opens the disputed node up to one child. The node is a range's last leaf, or the output in its
   *   item's trace and the trace in the run.
   * @throws ContractRevertError `NotWorker`, `NothingToExpand`, `LeafNotInList`, `WrongDataLength`, `PaddingNotZero`
   */
  expand(state: PackedState, content: Hex, children: Hex, siblings: readonly Hex[]): Promise<TransactionReceipt> {
    const args = [state, content, children, siblings] as const;
    return this.#sender.send({ ...this.contract, functionName: "expand", args }, endOf(state));
  }

  /**
   * The challenger's choice of a node below the current node.
   * @throws ContractRevertError `NotChallenger`, `NothingToPick`, `NotTheNode`, `PickShortOfReveal`,
   *   `PickNotBelowNode`, `PickPastWidth`, `WrongPathLength`, `WrongProgram`, `CheckpointNotProven`, `StepNotProven`
   */
  pick(state: PackedState, pick: Pick): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "pick", args: [state, pick] }, endOf(state));
  }

  /**
   * Has one element below the current node recomputed. The claim dies if it differs.
   * @throws ContractRevertError `ProofFails` if the claimed value is exact, `NotChallenger`, `NotAtTensor`, and others
   *   for proofs that do not hold
   */
  prove(state: PackedState, claim: Claim, proof: StepProof): Promise<TransactionReceipt> {
    const args = [state, claim, proof] as const;
    return this.#sender.send({ ...this.contract, functionName: "prove", args }, endOf(state));
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
   * Closes a game whose claim died in another game. The challenger gets bond and gas back.
   * @throws ContractRevertError `ClaimAlive`, `StaleState` after the settlement, `NotPlainAccount`
   */
  settle(state: PackedState): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "settle", args: [state] });
  }

  /**
   * Credits a worker with its moves' earnings on a claim. Anyone may call. @throws ContractRevertError `NothingEarned`
   */
  collect(key: ClaimKey): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "collect", args: [key] });
  }
}

/** When the clock runs out for a move in a state. */
const endOf = (state: PackedState): number => clockEnd(unpackState(state));
