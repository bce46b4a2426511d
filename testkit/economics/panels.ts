/**
 * Attacks on panels: who gets seats by the queue of `spread`, drawn with the market's own hash (contracts/market/
 * TermedJobs.sol) from fixed numbers, and what it takes to have all seats, counted exactly.
 */
import { concatBytes, keccak256 } from "viem";
import { Prng } from "../../src/base/prng.ts";

const DRAW_BITS = 248n;

/**
 * How many blocks after the one in which a job opened a worker may claim it, 1 at least, as the market computes it.
 * @param blockHash Of that block, 32 bytes.
 * @param jobId 32 bytes.
 * @param worker Its address, 20 bytes after 12 zero bytes.
 * @param spread Blocks; more than 0.
 */
export function turnOf(blockHash: Uint8Array, jobId: Uint8Array, worker: Uint8Array, spread: number): number {
  const draw = BigInt(keccak256(concatBytes([blockHash, jobId, worker])));
  return 1 + Number(((draw >> 8n) * BigInt(spread)) >> DRAW_BITS);
}

/** Workers that ask for the seats of panels, each for one seat of each panel. */
export type Asking = {
  workers: number;
  /** Whether the first one wins every race for a seat within a block. Other races are drawn. */
  isFirstFast: boolean;
  seats: number;
  /** Blocks; 0: no queue. */
  spread: number;
};

/**
 * Seats that each worker gets: each claims the first seat that is free when it has its turn there.
 * @param panels How many are posted.
 */
export function seatsOfWorkers({ workers, isFirstFast, seats, spread }: Asking, panels: number): number[] {
  const prng = new Prng(1);
  const word = (bytes: number): Uint8Array => {
    const padded = new Uint8Array(32);
    for (let k = 32 - bytes; k < 32; k++) padded[k] = prng.below(256);
    return padded;
  };
  const addresses = Array.from({ length: workers }, () => word(20));
  const counts = Array<number>(workers).fill(0);
  for (let panel = 0; panel < panels; panel++) {
    const block = word(32);
    const jobs = Array.from({ length: seats }, () => word(32));
    const turns = jobs.flatMap((job, seat) =>
      addresses.map((address, worker) => ({
        ...{ seat, worker },
        block: spread === 0 ? 1 : turnOf(block, job, address, spread),
        race: isFirstFast && worker === 0 ? -1 : prng.below(2 ** 30),
      })),
    );
    const [taken, holders] = [new Set<number>(), new Set<number>()];
    for (const { seat, worker } of turns.sort((a, b) => a.block - b.block || a.race - b.race)) {
      if (taken.has(seat) || holders.has(worker)) continue;
      taken.add(seat);
      holders.add(worker);
      counts[worker]!++;
    }
  }
  return counts;
}

/**
 * The chance that a seat is not taken by the one of its workers that wins all races within a block: the others have a
 * turn before it, or there is none of them.
 * @param spread Blocks; 0: no queue.
 */
export function chanceOfOthers(workers: number, spread: number): number {
  if (spread === 0) return 0;
  const turns = Array.from({ length: spread }, (_, k) => (k + 1) / spread);
  return 1 - turns.reduce((sum, later) => sum + later ** (workers - 1) / spread, 0);
}

/** The chance that all seats of a panel go to the same `own` of `workers`, if each worker is as likely. */
export const chanceOfAllSeats = (workers: number, own: number, seats: number): number =>
  Array.from({ length: seats }, (_, k) => Math.max(0, own - k) / (workers - k)).reduce((all, one) => all * one, 1);

/**
 * Fees that go to others until all seats of a panel are its poster's own, on average: of each panel, those of the seats
 * that others take.
 */
export const feesUntilAllSeats = (workers: number, own: number, seats: number): number =>
  (seats * (1 - own / workers)) / chanceOfAllSeats(workers, own, seats);

/**
 * The gain below which lying alike in all seats loses money.
 * @param watched The chance that somebody honest looks, whose work the panel is not.
 * @param loss What each refuted seat loses.
 */
export const panelBreakEven = (watched: number, seats: number, loss: number): number =>
  (seats * loss * watched) / (1 - watched);
