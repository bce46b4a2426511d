import { isAddressEqual, type Address } from "viem";
import { Side } from "../chain/structs.ts";
import { overtime } from "../chain/market/clock.ts";
import { isOpen, stateOf, type GameRecord, type History } from "../chain/market/history.ts";
import type { Snapshot } from "../chain/market/session.ts";

/** A role's measurements, for a monitor. Amounts are in wei or the stake asset's smallest unit, times in seconds. */
export type Figures = {
  /** Own claims that are not over: neither final nor refuted, nor accepted early, nor proven. */
  openClaims: number;
  /** Games that the account plays. */
  openGames: number;
  /** The least time left in any game in which the account must move; or infinity. */
  minClock: number;
  /** Age of the head. */
  headLag: number;
  balance: bigint;
  gasPrice: bigint;
  credit: bigint;
  staked: bigint;
  locked: bigint;
  /** The amount that opens a game. */
  bond: bigint;
  /** For how long the attestation still holds; negative if it has ended. */
  attestation: number;
  /** The classes that exams have shown. */
  classes: number;
  /** Number of jobs whose inputs may vanish from the nodes before the disputes end, without a local copy yet. */
  blobsAtRisk: number;
};

/** Takes what a role measures. */
export type Meter = {
  figures: (figures: Partial<Figures>) => void;
  /** @param seconds That an execution took. */
  executed: (seconds: number) => void;
  /** An audit ended without a verdict, or a self-audit found an execution wrong. */
  auditFailed: () => void;
  /** The outcome for a job that might be answered natively. */
  native: (outcome: NativeOutcome) => void;
  /** The outcome of an execution requested from other machines. */
  fleet: (outcome: FleetOutcome) => void;
};

/**
 * The outcome for a job that might be answered natively.
 *
 * - `native`: its decisions were taken natively
 * - `thin`, `outside`, `failed`: executed exactly, because of a margin, the inputs, or the runtime
 * - `exact`: executed exactly, because the policy demands exact execution or no calibration exists
 * - `rechecked`: native, and executed exactly in addition; `disagreed`: with another result
 */
export type NativeOutcome = "native" | "thin" | "outside" | "failed" | "exact" | "rechecked" | "disagreed";

/**
 * The outcome of an execution requested from other machines.
 *
 * - `done`: an executor did it; `again`: another executor or this process repeated it
 * - `differs`: an executor's result was wrong
 * - `failed`: the executor's data in the store were missing or spoiled
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

/** Derives an account's claims and games from the history. Pure. */
export function playFigures(
  { claims }: History,
  me: Address,
  now: bigint,
): Pick<Figures, "openClaims" | "openGames" | "minClock"> {
  let [openClaims, openGames] = [0, 0];
  for (const record of claims.values()) {
    const isMine = isAddressEqual(record.claim.worker, me);
    if (isMine && isOpen(record)) openClaims++;
    for (const game of record.games) {
      if ((!isMine && !isAddressEqual(game.challenger, me)) || game.closed !== undefined) continue;
      openGames++;
    }
  }
  return { openClaims, openGames, minClock: Math.min(...clocksOf({ claims }, me, now)) };
}

/**
 * Returns the seconds left in the open games in which an account must move, of claims that are not refuted. Negative
 * where the time is over, until the other side closes the game. Pure.
 */
export function clocksOf({ claims }: Pick<History, "claims">, me: Address, now: bigint): number[] {
  const clocks: number[] = [];
  for (const { claim, refuted, games } of claims.values()) {
    if (refuted) continue;
    for (const game of games) {
      const side = isAddressEqual(claim.worker, me) ? Side.worker : Side.challenger;
      const isMine = side === Side.worker || isAddressEqual(game.challenger, me);
      if (!isMine || game.closed !== undefined) continue;
      const left = secondsLeft(game, side, now);
      if (left < Infinity) clocks.push(left);
    }
  }
  return clocks;
}

/** Returns the time left on a side's clock in a game; infinity during the other side's turn. */
function secondsLeft(game: GameRecord, side: Side, now: bigint): number {
  const state = stateOf(game);
  return state.turn === side ? -overtime(state, now) : Infinity;
}

/** A head counts as old if older than both limits: the seconds, and the usual time for the number of blocks. */
const OLD_SECONDS = 120;
const OLD_BLOCKS = 10;

/** Detects an old head: a client with a stuck head sees no games and no claims. */
export class HeadAge {
  #first: Pick<Snapshot, "now" | "blockNumber"> | undefined;

  /**
   * @param now This machine's time, unix seconds.
   * @returns The head's age in seconds, and a problem in words if the age exceeds the usual time of the chain's blocks,
   *   or if the head is from the machine's future.
   */
  of(head: Pick<Snapshot, "now" | "blockNumber">, now: number): { lag: number; problem: string | undefined } {
    this.#first ??= head;
    const lag = now - Number(head.now);
    const blocks = Number(head.blockNumber - this.#first.blockNumber);
    const usual = blocks > 0 ? Number(head.now - this.#first.now) / blocks : 0;
    const isOld = lag > Math.max(OLD_SECONDS, OLD_BLOCKS * usual);
    if (!isOld && -lag <= OLD_SECONDS) return { lag, problem: undefined };
    const newest = `the newest block that the nodes show, ${head.blockNumber}, is`;
    const seconds = Math.abs(Math.round(lag));
    const problem = isOld
      ? `${newest} ${seconds} s old: the nodes are behind the chain, or this machine's clock is wrong`
      : `${newest} of ${seconds} s later than this machine's clock: set the clock`;
    return { lag, problem };
  }
}
