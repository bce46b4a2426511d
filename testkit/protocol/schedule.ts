import { readFileSync } from "node:fs";

const source = readFileSync("contracts/game/GasSchedule.sol", "utf8");

/** A constant of contracts/game/GasSchedule.sol, in gas. @throws TypeError if it has none of that name. */
export const schedule = (name: string): bigint =>
  BigInt(new RegExp(`constant ${name} = ([\\d_]+);`).exec(source)![1]!.replaceAll("_", ""));

/**
 * The highest price of gas in the next block, as it is set aside for settlements when a claim dies.
 * @param baseFee The base fee at its death.
 */
export const nextPrice = (baseFee: bigint, priceCap: bigint): bigint => {
  const highest = baseFee + baseFee / 8n + 1n;
  return highest < priceCap ? highest : priceCap;
};
