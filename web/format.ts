import { formatUnits } from "viem";
import { printable } from "../src/base/text.ts";

/** The longest text of the chain's or a model's that is shown in one place, characters. */
const MAX_TEXT = 200;

/**
 * A text from outside, as it is shown: one line, without characters that are invisible or change the direction of
 * what follows. The page puts texts into text nodes only, so that markup in them is no markup.
 */
export const shown = (text: string, max = MAX_TEXT): string => printable(text, max);

/** A hash or an address by its beginning and its end. */
export const short = (hex: string): string => (hex.length <= 14 ? shown(hex) : `${hex.slice(0, 8)}…${hex.slice(-4)}`);

/** A whole number in groups of three digits: 1,234,567. */
export const grouped = (value: number | bigint): string => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** An amount of an asset of 18 decimals, to 6 significant decimals. A tiny one is not shown as none. */
export function amount(units: bigint): string {
  const [whole = "0", decimals = ""] = formatUnits(units, 18).split(".");
  const kept = decimals.slice(0, 6).replace(/0+$/, "");
  if (kept === "" && whole === "0" && units > 0n) return "< 0.000001";
  return grouped(BigInt(whole)) + (kept === "" ? "" : `.${kept}`);
}

/** Seconds as a clock shows them: 1:02:03, 4:05, or days where there are some. Negative ones are none. */
export function clock(seconds: number): string {
  const all = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, "0");
  const days = Math.floor(all / 86_400);
  const hours = Math.floor((all % 86_400) / 3_600);
  const minutes = Math.floor((all % 3_600) / 60);
  if (days > 0) return `${days} d ${two(hours)}:${two(minutes)}:${two(all % 60)}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(all % 60)}` : `${minutes}:${two(all % 60)}`;
}

/** How long ago something was, in its largest unit: 5 s, 3 min, 7 h, 2 days. */
export function ago(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : counted(Math.floor(seconds / 86_400), "day");
}

/** A time of the chain, in UTC, to the second. */
export function time(unixSeconds: number | bigint): string {
  const date = new Date(Number(unixSeconds) * 1_000);
  return Number.isNaN(date.getTime()) ? "never" : date.toISOString().slice(0, 19).replace("T", " ");
}

/** A count with its noun: 1 job, 2 jobs. */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
