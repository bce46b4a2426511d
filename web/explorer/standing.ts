/** What decides whether a worker may claim: amounts in the smallest unit of the stake asset. */
type Standing = { live: boolean; staked: bigint; locked: bigint };

/** Whether a worker may claim a job now, and else why not. @param collateral That a claim locks at least. */
export function mayClaim({ live, staked, locked }: Standing, collateral: bigint): string {
  if (!live) return "no: not attested";
  if (staked - locked >= collateral) return "yes";
  if (staked === 0n) return "no: no stake";
  return staked < collateral ? "no: too little stake" : "no: its stake backs other claims";
}
