import { formatUnits, parseUnits } from "viem";
import { unfit, type Parse } from "./parse.ts";

/** Decimals of the units for amounts. An amount without a unit counts whole units of the stake asset. */
const UNITS: Record<string, number> = { "": 18, ether: 18, gwei: 9, wei: 0 };
/** The contracts count amounts in 128 bits. */
const MAX_AMOUNT = 2n ** 128n - 1n;

/** Amounts of the stake asset above 0, such as `0.05`, `50gwei` or `1000wei`, in the smallest unit. */
export const amountAboveZero: Parse<bigint> = (text, name) => parseAmount(text, name, 1n);

/** The same, or 0. */
export const amountFromZero: Parse<bigint> = (text, name) => parseAmount(text, name, 0n);

function parseAmount(text: string, name: string, min: bigint): bigint {
  const [, whole, decimals = "", unit = ""] = /^(\d{1,40})(?:\.(\d+))? ?([a-z]*)$/.exec(text) ?? [];
  const places = UNITS[unit];
  const refused = (why: string) => unfit(text, name, `${expected(min)}${why}`);
  if (whole === undefined || places === undefined) throw refused("");
  // More decimals than there are would be rounded.
  if (decimals.length > places) {
    const counted = places === 0 ? "no decimals" : `at most ${places} decimals`;
    throw refused(`; ${unit === "" ? "the stake asset" : unit} has ${counted}`);
  }
  const amount = parseUnits(decimals === "" ? whole : `${whole}.${decimals}`, places);
  if (amount > MAX_AMOUNT) throw refused("; this is more than contracts count");
  if (amount < min) throw refused("");
  return amount;
}

const expected = (min: bigint): string =>
  `an amount${min > 0n ? " over 0" : ""} in whole units of the stake asset, such as 0.05, or with a unit: ` +
  "0.05ether, 50gwei, 1000wei";

/** An amount in whole units. */
export const amountText = (amount: bigint): string => formatUnits(amount, UNITS.ether!);

/** A time on the chain's clock, unix seconds. */
export const timeText = (seconds: bigint): string => new Date(Number(seconds) * 1_000).toISOString();
