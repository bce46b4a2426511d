import { BaseError, ContractFunctionRevertedError } from "viem";

/**
 * Returns the custom error's name when a call reverts; undefined after success.
 * @throws the call's own error if the error is no revert with a known custom error.
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
