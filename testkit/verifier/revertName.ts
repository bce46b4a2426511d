import { BaseError, ContractFunctionRevertedError } from "viem";

/**
 * The name of the custom error that a call reverts with; undefined if it succeeds.
 * @throws what the call threw if that is not a revert with a known custom error.
 */
export async function revertName(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    const revert = error instanceof BaseError && error.walk((e) => e instanceof ContractFunctionRevertedError);
    if (revert instanceof ContractFunctionRevertedError && revert.data !== undefined) return revert.data.errorName;
    throw error;
  }
}
