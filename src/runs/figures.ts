import { isAddressEqual, type Address } from "viem";
import { Side } from "../chain/structs.ts";
import { overtime } from "../chain/market/clock.ts";
import { stateOf, type GameRecord, type History } from "../chain/market/history.ts";
import type { Snapshot } from "../chain/market/session.ts";

/** What a role measures, for a monitor. Amounts are in wei or the stake asset's smallest unit, times in seconds. */
export type Figures = {
  /** Own claims that are neither final nor refuted. */
  openClaims: number;
  /** Games that the account plays. */
  openGames: number;
  /** Of the games in which it is the account's turn, the time left in the one that ends first; or infinity. */
  minClock: number;
  /** Age of the head. */
  headLag: number;
  balance: bigint;
  gasPrice: bigint;
  credit: bigint;
  staked: bigint;
  locked: bigint;
  /** What a game is opened with. */
  bond: bigint;
  /** For how long the attestation still holds; negative if it has ended. */
  attestation: number;
  /** The classes that exams have shown. */
  classes: number;
  /** Jobs whose inputs nodes may forget before their disputes end, and which are not held here yet. */
  blobsAtRisk: number;
};

/** Takes what a role measures. */
export type Meter = {
  figures: (figures: Partial<Figures>) => void;
  /** @param seconds That an execution took. */
  executed: (seconds: number) => void;
  /** An audit ended without a verdict, or a self-audit found an execution wrong. */
  auditFailed: () => void;
  /** What became of a job that might be answered natively. */
  native: (outcome: NativeOutcome) => void;
  /** What became of an execution that other machines were asked for. */
  fleet: (outcome: FleetOutcome) => void;
};

/**
 * What became of a job that might be answered natively.
 *
 * - `native`: its decisions were taken natively
 * - `thin`, `outside`, `failed`: executed exactly, because of a margin, the inputs, or the runtime
 * - `exact`: executed exactly, because the policy or the lack of a calibration asks for it
 * - `rechecked`: native, and executed exactly beside it; `disagreed`: with another result
 */
export type NativeOutcome = "native" | "thin" | "outside" | "failed" | "exact" | "rechecked" | "disagreed";

/**
 * What became of an execution that other machines were asked for.
 *
 * - `done`: an executor did it; `again`: it was repeated by another one, or here
 * - `differs`: an executor's result was wrong
 * - `failed`: what it left in the store was missing or spoiled
 * - `here`: executed in this process instead
 */
export type FleetOutcome = "done" | "again" | "differs" | "failed" | "here";

/** A meter that measures nothing. */
export const NO_METER: Meter = {
  figures: () => {},
  executed: () => {},
  auditFailed: () => {},
  native: () => {},
  fleet: () => {},
};

/** What the history says of an account's claims and games. Pure. */
export function playFigures(
  { claims }: History,
  me: Address,
  now: bigint,
): Pick<Figures, "openClaims" | "openGames" | "minClock"> {
  let [openClaims, openGames, minClock] = [0, 0, Infinity];
  for (const { claim, finalised, refuted, games } of claims.values()) {
    const isMine = isAddressEqual(claim.worker, me);
    if (isMine && !finalised && !refuted) openClaims++;
    for (const game of games) {
      const side = isMine ? Side.worker : isAddressEqual(game.challenger, me) ? Side.challenger : undefined;
      if (side === undefined || game.closed !== undefined) continue;
      openGames++;
      minClock = Math.min(minClock, secondsLeft(game, side, now));
    }
  }
  return { openClaims, openGames, minClock };
}

/** What a side's clock in a game has left; infinity while it is the other's turn. */
function secondsLeft(game: GameRecord, side: Side, now: bigint): number {
  const state = stateOf(game);
  return state.turn === side ? -overtime(state, now) : Infinity;
}

/** A head that is older than this, and than some blocks usually take, is old. */
const OLD_SECONDS = 120;
const OLD_BLOCKS = 10;

/** Tells whether the nodes show an old head: one that is stuck there sees no games and no claims. */
export class HeadAge {
  #first: Pick<Snapshot, "now" | "blockNumber"> | undefined;

  /**
   * @param now The time of this machine, unix seconds.
   * @returns The head's age in seconds, and whether that is more than the chain's blocks usually take.
   */
  of(head: Pick<Snapshot, "now" | "blockNumber">, now: number): { lag: number; isOld: boolean } {
    this.#first ??= head;
    const lag = now - Number(head.now);
    const blocks = Number(head.blockNumber - this.#first.blockNumber);
    const usual = blocks > 0 ? Number(head.now - this.#first.now) / blocks : 0;
    return { lag, isOld: lag > Math.max(OLD_SECONDS, OLD_BLOCKS * usual) };
  }
}
