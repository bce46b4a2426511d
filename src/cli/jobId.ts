import { isHex, type Hex } from "viem";
import { UsageError } from "./errors.ts";

/** Reads a job's id. @throws UsageError */
export function parseJobId(text: string): Hex {
  if (!isHex(text) || text.length !== 66) throw new UsageError(`${text} is no job id: 0x and 64 hexadecimal digits`);
  return text;
}
