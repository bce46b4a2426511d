import { readFileSync } from "node:fs";

const source = readFileSync("contracts/game/GasSchedule.sol", "utf8");

/** Returns a constant from contracts/game/GasSchedule.sol, in gas. @throws TypeError if the file lacks the constant. */
export const schedule = (name: string): bigint =>
  BigInt(new RegExp(`constant ${name} = ([\\d_]+);`).exec(source)![1]!.replaceAll("_", ""));

/**
 * Returns the highest gas price possible in the next block. The contract sets the price aside for settlements when a
 * claim dies.
 * @param baseFee The base fee at the claim's death.
 */
export const nextPrice = (baseFee: bigint, priceCap: bigint): bigint => {
  const highest = baseFee + baseFee / 8n + 1n;
  return highest < priceCap ? highest : priceCap;
};
