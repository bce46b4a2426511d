import type { Hex } from "viem";
import type { Outcome } from "./calls.ts";

/** How a call ends: what it returns or what it reverts with. @throws what is no revert. */
export async function outcomeOf(call: Promise<Hex>): Promise<Outcome> {
  try {
    return { returns: await call };
  } catch (error) {
    const data = (error as { data?: Hex | { data?: Hex } }).data;
    const reverts = typeof data === "object" ? data.data : data;
    if (reverts === undefined) throw error;
    return { reverts };
  }
}
