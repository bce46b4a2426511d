/**
 * Attacks on panels: who gets seats by the queue of `spread`, drawn with the market's own hash (contracts/market/
 * TermedJobs.sol) from fixed numbers, and what it takes to have all seats, counted exactly.
 */
import { concatBytes, keccak256 } from "viem";
import { Prng } from "../../src/base/prng.ts";

const DRAW_BITS = 248n;

/**
 * Returns how many blocks after a job's opening block a worker may claim the job: at least 1, as computed by the
 * market.
 * @param blockHash The opening block's hash, 32 bytes.
 * @param jobId 32 bytes.
 * @param worker The address, 20 bytes after 12 zero bytes.
 * @param spread Blocks; more than 0.
 */
export function turnOf(blockHash: Uint8Array, jobId: Uint8Array, worker: Uint8Array, spread: number): number {
  const draw = BigInt(keccak256(concatBytes([blockHash, jobId, worker])));
  return 1 + Number(((draw >> 8n) * BigInt(spread)) >> DRAW_BITS);
}

/** Workers asking for panel seats, each for one seat per panel. */
export type Asking = {
  workers: number;
  /** Whether the first one wins every race for a seat within a block. Other races are drawn. */
  isFirstFast: boolean;
  seats: number;
  /** Blocks; 0: no queue. */
  spread: number;
};

/**
 * Returns each worker's number of seats. A worker claims the first seat free at the worker's turn.
 * @param panels The number of posted panels.
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
 * Returns the chance that the winner of all races within a block does not get a seat: the other workers have an earlier
 * turn. Without other workers the chance is 0.
 * @param spread Blocks; 0: no queue.
 */
export function chanceOfOthers(workers: number, spread: number): number {
  if (spread === 0) return 0;
  const turns = Array.from({ length: spread }, (_, k) => (k + 1) / spread);
  return 1 - turns.reduce((sum, later) => sum + later ** (workers - 1) / spread, 0);
}

/**
 * Returns the chance that a panel's seats all go to the same `own` of `workers`, with equal chances for each worker.
 */
export const chanceOfAllSeats = (workers: number, own: number, seats: number): number =>
  Array.from({ length: seats }, (_, k) => Math.max(0, own - k) / (workers - k)).reduce((all, one) => all * one, 1);

/**
 * Returns the average fees paid to others until a panel's seats are all the poster's own: per panel, the fees for the
 * others' seats.
 */
export const feesUntilAllSeats = (workers: number, own: number, seats: number): number =>
  (seats * (1 - own / workers)) / chanceOfAllSeats(workers, own, seats);

/**
 * Returns the gain below which lying alike in all seats loses money.
 * @param watched The chance that an honest outsider to the panel looks.
 * @param loss Each refuted seat's loss.
 */
export const panelBreakEven = (watched: number, seats: number, loss: number): number =>
  (seats * loss * watched) / (1 - watched);
