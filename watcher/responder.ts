import type { TransactionReceipt } from "viem";
import { ContractRevertError } from "../src/chain/errors.ts";
import { packState } from "../src/chain/market/state.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../src/chain/market/history.ts";
import type { Session } from "../src/chain/market/session.ts";
import type { Pick } from "../src/chain/structs.ts";
import { errorWithCode } from "../src/base/errors.ts";
import type { ChallengerMove } from "../src/dispute/challengerMove.ts";

/** The watcher's credit does not cover the bond. */
export class BondError extends errorWithCode("BOND") {}

/** The chain's verifier gives the claimed value where this execution gives another: this execution is at fault. */
export class VerifierDisagreesError extends errorWithCode("VERIFIER_DISAGREES") {}

/** Sends a watcher's moves. The only part of it that spends money. */
export class Responder {
  readonly #session: Session;
  /** Bonds of games that are being opened. */
  #reserved = 0n;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Reserves a bond from the credit, to prevent games opened together from counting on the same bond.
   * @returns A function that releases the reservation, to be called when the bond is drawn or not needed.
   * @throws BondError, RpcUnavailableError
   */
  async reserve(): Promise<() => void> {
    const { sender, deployment, vault } = this.#session;
    const { credit } = await vault.accountOf(sender.address);
    const free = credit - this.#reserved;
    if (free < deployment.bond) {
      throw new BondError(`credit is ${free}, a game's bond ${deployment.bond}: deposit into the vault`);
    }
    this.#reserved += deployment.bond;
    return () => void (this.#reserved -= deployment.bond);
  }

  /**
   * Opens a game.
   * @param number Tells it apart from the sender's other games on the claim.
   * @throws ContractRevertError
   */
  async open({ claim, windowEnd }: ClaimRecord, number: number, pick: Pick): Promise<TransactionReceipt> {
    return this.#session.game.open(claim, number, pick, Number(windowEnd));
  }

  /**
   * Sends a move. If the chain's verifier disagrees with a step proof, the estimate of the gas fails: the proof is not
   * sent, and the bond is not risked further.
   * @throws VerifierDisagreesError, ContractRevertError
   */
  async move(
    { claim }: ClaimRecord,
    game: GameRecord,
    move: Exclude<ChallengerMove, { kind: "wait" }>,
  ): Promise<TransactionReceipt> {
    const contract = this.#session.game;
    const state = stateOf(game);
    const packed = packState(state);
    const { key } = game;
    switch (move.kind) {
      case "pick":
        return contract.pick(packed, move.pick);
      case "prove":
        return contract.prove(packed, claim, move.proof).catch((error: unknown) => {
          throw isProofFailure(error) ? disagreement(state.step, move.proof.element, error) : error;
        });
      case "timeout":
        return contract.timeout(packed, key);
      case "concede":
        return contract.concede(packed, key);
    }
  }

  /** Takes the bond back from a game whose claim died in another game. */
  async settle(game: GameRecord): Promise<TransactionReceipt> {
    return this.#session.game.settle(packState(stateOf(game)));
  }
}

const isProofFailure = (error: unknown): error is ContractRevertError =>
  error instanceof ContractRevertError && error.errorName === "ProofFails";

function disagreement(step: number, element: bigint, cause: Error): VerifierDisagreesError {
  return new VerifierDisagreesError(
    `step ${step}, element ${element}: the chain's verifier confirms the claim; ` +
      `this machine or its executor is at fault`,
    { cause },
  );
}
