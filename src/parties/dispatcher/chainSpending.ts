import type { TransactionReceipt, Hex } from "viem";
import { jobMarketAbi } from "../../chain/abi/jobMarket.ts";
import type { Session } from "../../chain/market/session.ts";

/**
 * The receipts of the sender's transactions that posted a job and its inputs, from the chain: for one that was posted
 * by a process that was killed before it noted them.
 */
export async function postingReceipts(
  { publicClient, deployment, fromBlock, sender }: Session,
  jobId: Hex,
): Promise<TransactionReceipt[]> {
  const query = { address: deployment.market, abi: jobMarketAbi, args: { jobId }, fromBlock } as const;
  const [posted, published] = await Promise.all([
    publicClient.getContractEvents({ ...query, eventName: "JobPosted" }),
    publicClient.getContractEvents({ ...query, eventName: "InputPublished" }),
  ]);
  const hashes = [...new Set([...posted, ...published].map(({ transactionHash }) => transactionHash))];
  const receipts = await Promise.all(hashes.map((hash) => publicClient.getTransactionReceipt({ hash })));
  return receipts.filter(({ from }) => from.toLowerCase() === sender.address.toLowerCase());
}
