import { UsageError } from "../../errors.ts";

/** `x=-1:1`: the least and the largest value of an input. @throws UsageError */
export function parseRange(text: string): [name: string, range: { low: number; high: number }] {
  const [, name, min = "", largest = ""] = /^(.+)=([^:=]+):([^:=]+)$/.exec(text) ?? [];
  const [low, high] = [Number(min), Number(largest)];
  if (name !== undefined && Number.isFinite(low) && Number.isFinite(high) && low <= high) return [name, { low, high }];
  throw new UsageError(`--range ${text}: expected NAME=LEAST:LARGEST, for example x=-1:1`);
}
