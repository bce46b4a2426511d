/** What attacks cost and defences lock, from a deployment's parameters. Money in ETH, time in seconds, gas in units. */

const ETHER = 1e18;

/** What the formulas need to know of a deployment. */
export type Deployment = {
  arityBits: number;
  baseWindow: number;
  baseClock: number;
  rate: number;
  /** Price cap of a unit of gas. */
  priceCap: number;
  bond: number;
  bounty: number;
  collateral: number;
  penalty: number;
  /** Gas of the longest game by the contract's schedule: the worker's moves, the challenger's. */
  worstWorker: number;
  worstChallenger: number;
};

export const inEther = (amount: bigint): number => Number(amount) / ETHER;

/** Seconds that one side may use in a game over a job of `work` terms. */
export const clock = (d: Deployment, work: number): number => d.baseClock + Math.floor((2 * work) / d.rate);

/** Seconds from a claim's submission to its end at the latest, however many challengers come. */
export const longestDelay = (d: Deployment, work: number): number =>
  d.baseWindow + Math.floor(work / d.rate) + 2 * clock(d, work);

/** What an hour of delay costs whoever opens a game without cause and sits out its clock: the bond is gone. */
export const shamGamePerHour = (d: Deployment, work: number): number => (d.bond * 3_600) / clock(d, work);

/**
 * What an hour of delay costs a worker that posts a wrong root and plays its refutation as slowly as it may: its collateral goes, less
 * the bounty if its own second account wins the game.
 */
export const wrongClaimPerHour = (d: Deployment, work: number): number =>
  ((d.collateral - d.bounty) * 3_600) / longestDelay(d, work);

/** What an hour costs a worker that claims jobs and never submits. @param claimSeconds The job's time to submit. */
export const squattedClaimPerHour = (d: Deployment, claimSeconds: number): number => (d.penalty * 3_600) / claimSeconds;

/** Gas that is paid for ending a game for others (GasSchedule.TIMEOUT), also where it was not spent. */
const ENDING = 150_000;

/**
 * What a worker loses at least if its second account refutes it: the collateral comes back as bounty and as the price of gas that
 * was burnt for it; what may be paid above that is counted as won. @param basePrice What gas costs.
 */
export function selfChallengeLoss(d: Deployment, basePrice: number): number {
  // A worker's moves are paid a quarter above the base fee, for the tip.
  const unburnt = 0.25 * d.worstWorker + ENDING;
  return d.collateral - d.bounty - unburnt * Math.min(basePrice, d.priceCap);
}

/** Share of jobs that must be checked so that cheating loses money, if an unchecked lie gains `gain` and a checked one `loss`. */
export const auditShare = (gain: number, loss: number): number => gain / (gain + loss);

/** Lies per check at which a watcher that lives on bounties alone breaks even. @param check What one check costs. */
export const breakEven = (d: Deployment, check: number): number => check / d.bounty;

/**
 * What a worker must have at hand to answer `games` sham games at once, one move each, before it collects: every move is
 * paid from the challenger's bond as it is accepted.
 */
export const workerFloat = (moveGas: number, games: number, price: number): number => moveGas * games * price;
