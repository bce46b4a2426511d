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
/** A worker's move is paid with its tip, up to this part of the base fee. */
const TIP = 0.25;

const capped = (d: Deployment, price: number): number => Math.min(price, d.priceCap);

/**
 * What a game without cause costs its challenger at least: the bond, of which a friend that ends the game is paid a
 * part.
 * @param basePrice What gas costs.
 */
export const shamGameLoss = (d: Deployment, basePrice: number): number =>
  d.bond - (ENDING.paid - ENDING.burnt) * capped(d, basePrice);

/**
 * What a claim without a submission costs its worker at least: the penalty, of which a friend that frees the job is
 * paid a part.
 */
export const squattedClaimLoss = (d: Deployment, basePrice: number): number =>
  d.penalty - (EXPIRY.paid - EXPIRY.burnt) * capped(d, basePrice);

/**
 * How a worker refutes itself: in one game, in as many as the collateral pays for, or so in blocks that it makes
 * itself, whose tips come back to it.
 */
export type SelfChallenge = "one game" | "many games" | "own blocks";

/**
 * What a worker loses at least if its other accounts refute it: the collateral comes back as bounty and as the price of
 * gas that was burnt for it; what may be paid above that is counted as won. Settlements are paid at what they cost when
 * they are made, so that when they are made is no matter.
 * @param basePrice What gas costs.
 */
export function selfChallengeLoss(d: Deployment, basePrice: number, how: SelfChallenge): number {
  const pot = d.collateral - d.bounty;
  const ending = (ENDING.paid - ENDING.burnt) * capped(d, basePrice);
  const tip = how === "own blocks" ? Math.max(0, Math.min(TIP, d.priceCap / basePrice - 1)) : 0;
  if (how === "one game") return pot - ABOVE * (d.worstWorker + d.worstChallenger) * capped(d, basePrice) - ending;
  // Each move of the worker answers one of the challenger's, and none is dearer than the dearest.
  const burnt = d.dearestMove + d.cheapestPick;
  const paid = (1 + ABOVE) * ((1 + tip) * d.dearestMove + d.cheapestPick);
  return pot * (burnt / paid) - ending;
}

/**
 * The least that refuting itself costs, over prices and ways: in blocks of its own, at the highest price of which the
 * whole tip is paid.
 */
export const minSelfChallengeLoss = (d: Deployment): number =>
  selfChallengeLoss(d, d.priceCap / (1 + TIP), "own blocks");

/** What an hour of delay costs whoever opens a game without cause and sits out its clock. */
export const shamGamePerHour = (d: Deployment, work: number): number =>
  (shamGameLoss(d, d.priceCap) * 3_600) / clock(d, work);

/** What an hour of delay costs a worker that posts a wrong root and plays its own refutation as slowly as it may. */
export const wrongClaimPerHour = (d: Deployment, work: number): number =>
  (minSelfChallengeLoss(d) * 3_600) / longestDelay(d, work);

/** What an hour costs a worker that claims jobs and never submits. @param claimSeconds The job's time to submit. */
export const squattedClaimPerHour = (d: Deployment, claimSeconds: number): number =>
  (squattedClaimLoss(d, d.priceCap) * 3_600) / claimSeconds;

/**
 * Share of jobs that must be checked so that cheating loses money, if an unchecked lie gains `gain` and a checked one
 * `loss`.
 */
export const auditShare = (gain: number, loss: number): number => gain / (gain + loss);

/** Lies per check at which a watcher that lives on bounties alone breaks even. @param check What one check costs. */
export const breakEven = (d: Deployment, check: number): number => check / d.bounty;

/**
 * What a worker must have at hand to answer `games` sham games at once, one move each, before it collects: every move
 * is paid from the challenger's bond as it is accepted.
 */
export const workerFloat = (moveGas: number, games: number, price: number): number => moveGas * games * price;

/** How many times a native execution exact execution takes, for the table of native execution. */
const EXACT_OVER_NATIVE = 2.5;

/** What a job saves that is executed natively. @param cost Of its native execution. */
export const nativeSaving = (cost: number): number => (EXACT_OVER_NATIVE - 1) * cost;

/** Lost claims per job at which native execution saves nothing. @param cost Of a native execution. */
export const nativeBreakEven = (d: Deployment, cost: number): number => nativeSaving(cost) / d.collateral;
