/**
 * Attack costs and locked defence funds, from a deployment's parameters. Money in ETH, time in seconds, gas in units.
 */

const ETHER = 1e18;

/** A deployment's parameters for the formulas. */
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
  /** Gas of a worker's dearest move: an expansion of the longest range. */
  dearestMove: number;
  /** Gas of a challenger's cheapest move. */
  cheapestPick: number;
};

export const inEther = (amount: bigint): number => Number(amount) / ETHER;

/** Returns the seconds available to one side in a game over a job with `work` terms. */
export const clock = (d: Deployment, work: number): number => d.baseClock + Math.floor((2 * work) / d.rate);

/** Seconds from a claim's submission to its end at the latest, however many challengers come. */
export const longestDelay = (d: Deployment, work: number): number =>
  d.baseWindow + Math.floor(work / d.rate) + 2 * clock(d, work);

/**
 * Gas that is paid for ending a game for others and for freeing a job (GasSchedule), and what these burn at least
 * (test/contracts/market/economics.test.ts).
 */
const ENDING = { paid: 150_000, burnt: 70_000 };
const EXPIRY = { paid: 100_000, burnt: 65_000 };
/**
 * Moves are paid as they are measured: this part more than they burn at most
 * (test/contracts/game/gasSchedule.test.ts).
 */
const ABOVE = 0.02;
/** The maximum tip repaid with a worker's move, as a share of the base fee. */
const TIP = 0.25;

const capped = (d: Deployment, price: number): number => Math.min(price, d.priceCap);

/**
 * Returns the challenger's minimum loss in a game without cause: the bond, less the part paid to a friend for ending
 * the game.
 * @param basePrice The gas price.
 */
export const shamGameLoss = (d: Deployment, basePrice: number): number =>
  d.bond - (ENDING.paid - ENDING.burnt) * capped(d, basePrice);

/**
 * Returns the worker's minimum loss for a claim without a submission: the penalty, less the part paid to a friend for
 * freeing the job.
 */
export const squattedClaimLoss = (d: Deployment, basePrice: number): number =>
  d.penalty - (EXPIRY.paid - EXPIRY.burnt) * capped(d, basePrice);

/**
 * How a worker refutes itself: in one game, in as many games as the collateral pays for, or in equally many games
 * within self-made blocks, which return the tips.
 */
export type SelfChallenge = "one game" | "many games" | "own blocks";

/**
 * Returns a worker's minimum loss if the worker's other accounts refute it. The collateral comes back as bounty and as
 * payment for burnt gas; any payment above the burnt gas counts as won. Settlements are paid at their cost, and the
 * settlement time does not matter.
 * @param basePrice The gas price.
 */
export function selfChallengeLoss(d: Deployment, basePrice: number, how: SelfChallenge): number {
  const pot = d.collateral - d.bounty;
  const ending = (ENDING.paid - ENDING.burnt) * capped(d, basePrice);
  const tip = how === "own blocks" ? Math.max(0, Math.min(TIP, d.priceCap / basePrice - 1)) : 0;
  if (how === "one game") return pot - ABOVE * (d.worstWorker + d.worstChallenger) * capped(d, basePrice) - ending;
  // Each worker move answers a challenger move, and costs no more than the dearest move.
  const burnt = d.dearestMove + d.cheapestPick;
  const paid = (1 + ABOVE) * ((1 + tip) * d.dearestMove + d.cheapestPick);
  return pot * (burnt / paid) - ending;
}

/**
 * Returns the minimum cost of self-refutation, over prices and ways: in self-made blocks, at the highest price with a
 * fully paid tip.
 */
export const minSelfChallengeLoss = (d: Deployment): number =>
  selfChallengeLoss(d, d.priceCap / (1 + TIP), "own blocks");

/** Returns the cost per hour of delay, for opening a game without cause and sitting out the clock. */
export const shamGamePerHour = (d: Deployment, work: number): number =>
  (shamGameLoss(d, d.priceCap) * 3_600) / clock(d, work);

/**
 * Returns a worker's cost per hour of delay, for posting a wrong root and playing the refutation at the slowest allowed
 * pace.
 */
export const wrongClaimPerHour = (d: Deployment, work: number): number =>
  (minSelfChallengeLoss(d) * 3_600) / longestDelay(d, work);

/**
 * Returns the hourly cost for a worker that claims jobs and never submits.
 * @param claimSeconds The job's time to submit.
 */
export const squattedClaimPerHour = (d: Deployment, claimSeconds: number): number =>
  (squattedClaimLoss(d, d.priceCap) * 3_600) / claimSeconds;

/**
 * Returns the share of jobs to check for cheating to lose money, if an unchecked lie gains `gain` and a checked lie
 * loses `loss`.
 */
export const auditShare = (gain: number, loss: number): number => gain / (gain + loss);

/** Lies per check at which a watcher that lives on bounties alone breaks even. @param check What one check costs. */
export const breakEven = (d: Deployment, check: number): number => check / d.bounty;

/**
 * Returns the money a worker needs to answer `games` sham games at once, one move each, before collecting: the
 * challenger's bond pays every move on acceptance.
 */
export const workerFloat = (moveGas: number, games: number, price: number): number => moveGas * games * price;

/** How many times a native execution exact execution takes, for the table of native execution. */
const EXACT_OVER_NATIVE = 2.5;

/**
 * Returns a job's saving by native execution.
 * @param cost The native execution's cost.
 */
export const nativeSaving = (cost: number): number => (EXACT_OVER_NATIVE - 1) * cost;

/** Lost claims per job at which native execution saves nothing. @param cost Of a native execution. */
export const nativeBreakEven = (d: Deployment, cost: number): number => nativeSaving(cost) / d.collateral;
