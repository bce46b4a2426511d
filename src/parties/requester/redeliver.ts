import { decodeFunctionData, parseAbi, type Hex } from "viem";
import { jobMarketAbi } from "../../chain/abi/jobMarket.ts";
import { checkCall } from "../../chain/checkCall.ts";
import type { ClaimRecord } from "../../chain/market/history.ts";
import { followMarket, type Session } from "../../chain/market/session.ts";
import type { Delivery } from "../../chain/structs.ts";
import { RedeliveryError } from "./errors.ts";
import { callbacksOf, requireJob, type Callbacks } from "./result.ts";

const consumerAbi = parseAbi(["function onResult(bytes32 jobId, uint256 output, bytes data)"]);

/**
 * Calls a job's requester, a contract, once more with each output whose callback failed. The first deliveries' openings
 * are read from the chain, so anybody may do so. A callback reverting with any gas is found before sending anything.
 * @returns the outputs whose callbacks have succeeded, and those whose callbacks still fail: with the job's
 *   `callbackGas`, which nobody can raise
 * @throws RedeliveryError, JobUnknownError, ContractRevertError `onResult is refused: ...`, RpcUnavailableError
 */
export async function redeliver(session: Session, jobId: Hex): Promise<Callbacks> {
  const { publicClient, deployment, market } = session;
  const follow = followMarket(session);
  const read = async () => requireJob(session, (await follow()).history, jobId);
  const { job, claims } = await read();
  const final = claims.find(({ finalised }) => finalised);
  const failed = final === undefined ? [] : callbacksOf(final).failed;
  if (failed.length === 0) {
    const why =
      job.callbackGas === 0
        ? "it has no callback (callbackGas)"
        : final === undefined
          ? "its result is not final"
          : "every delivered output was taken";
    throw new RedeliveryError(`job ${jobId} has no callback to repeat: ${why}`);
  }
  for (const output of failed) {
    const args = [jobId, BigInt(output), final!.delivered.get(output)!] as const;
    const call = { address: job.requester, abi: consumerAbi, functionName: "onResult", args } as const;
    await checkCall(publicClient, deployment.market, call);
  }
  for (const output of failed) await market.deliver(final!.claim, await deliveryOf(session, final!, output));
  return callbacksOf((await read()).claims.find(({ id }) => id === final!.id)!);
}

/** An output with its opening, from the transaction that delivered the output first. */
async function deliveryOf({ publicClient }: Session, record: ClaimRecord, output: number): Promise<Delivery> {
  const hash = record.deliveredIn.get(output)!;
  const { input } = await publicClient.getTransaction({ hash });
  try {
    const { functionName, args } = decodeFunctionData({ abi: jobMarketAbi, data: input });
    if (functionName === "deliver" && args[1].output === output) return args[1];
  } catch {
    // A call of another contract.
  }
  throw new RedeliveryError(
    `transaction ${hash} delivered output ${output} through another contract, and does not show its opening: have ` +
      "somebody who executes the job call the market's deliver",
  );
}
