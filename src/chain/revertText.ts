import { formatEther } from "viem";
import { errorsAbi } from "./abi/errors.ts";

/** Errors whose `uint256` and `uint128` arguments are amounts of the stake asset. */
const OF_AMOUNTS = new Set([
  ...["CollateralOutOfRange", "CollateralTooSmall", "BondBelowGas", "PenaltyBelowGas", "FaceTooLarge", "EtherNotSent"],
  ...["FeeNotArrived", "InsufficientCredit", "InsufficientCustody", "InsufficientDeposit", "InsufficientFreeStake"],
  "InsufficientLocked",
]);

/** Errors whose numbers above a year's seconds are times. */
const OF_TIMES = new Set([
  ...["WindowOpen", "WindowClosed", "WithdrawalNotReady", "TimeNotUp", "TimeIsUp", "NotYet", "DeadlineTooFar"],
  ...["DeadlineTooSoon", "OpensTooSoon", "TicketExpired", "WorkerStopped", "CollateralExpired", "AuditOutOfRange"],
  ...["LifetimeOver", "NotIssuedYet", "IssuedAfterRequest", "NumberSuperseded", "KeyIsRetired", "TooSoonToAdd"],
  "EnrolledBefore",
]);

/** Numbers of seconds from here on are dates, not durations. */
const FIRST_DATE = 365 * 86_400;

/**
 * Returns a contract's error in words: its name, and its arguments by their names, amounts in whole units of the stake
 * asset and times as dates.
 */
export function revertText(errorName: string, args: readonly unknown[]): string {
  // Contracts may have errors of one name.
  const known = errorsAbi.flatMap((item) => (item.type === "error" && item.name === errorName ? [item.inputs] : []));
  const inputs = known.find(({ length }) => length === args.length) ?? [];
  const texts = args.map((arg, k) => {
    const { name = "", type = "" } = inputs[k] ?? {};
    return `${name} ${valueText(errorName, type, arg)}`.trim();
  });
  return `${errorName}(${texts.join(", ")})`;
}

function valueText(errorName: string, type: string, value: unknown): string {
  if (typeof value !== "bigint") return String(value);
  if (OF_AMOUNTS.has(errorName) && /^uint(128|256)$/.test(type)) return `${formatEther(value)} of the stake asset`;
  const seconds = Number(value);
  if (OF_TIMES.has(errorName) && seconds > FIRST_DATE && seconds < 2 ** 40) return dateText(seconds);
  return String(value);
}

const dateText = (seconds: number): string => new Date(seconds * 1_000).toISOString();
