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

/** What a settlement may be paid above the gas that its transaction burns. */
const MORE = 100n;

/**
 * Returns whether a settlement on the market is paid the gas that its transaction burnt, and hardly more.
 * @param paid Smallest units of the asset.
 * @param gas What the transaction burnt, gas.
 * @param price What a unit of gas is paid.
 */
export const isPaidAsBurnt = (paid: bigint, gas: bigint, price: bigint): boolean =>
  paid >= gas * price && paid <= (gas + MORE) * price;
