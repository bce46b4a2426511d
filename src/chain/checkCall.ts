import type { Address, PublicClient } from "viem";
import type { Call } from "./call.ts";
import { MAX_TRANSACTION_GAS } from "./gasLimit.ts";
import { translateError } from "./translateError.ts";

/**
 * Asks the chain, for free, whether a call of an account would pass.
 * @throws ContractRevertError if it would not, RpcUnavailableError
 */
export async function checkCall(
  publicClient: Pick<PublicClient, "simulateContract">,
  account: Address,
  call: Call,
): Promise<void> {
  const { maxGas: gas = MAX_TRANSACTION_GAS, ...called } = call;
  await publicClient.simulateContract({ ...called, account, gas }).catch((error: unknown) => {
    throw translateError(error, call.functionName);
  });
}

/** Estimates the gas of a call of an account, without a margin. @throws viem's error if the call would not pass */
export function estimateCall(
  publicClient: Pick<PublicClient, "estimateContractGas">,
  account: Address,
  { maxGas, ...call }: Call,
): Promise<bigint> {
  return publicClient.estimateContractGas({ ...call, ...(maxGas !== undefined && { gas: maxGas }), account });
}
