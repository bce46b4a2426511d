import type { TransactionReceipt, Hex } from "viem";
import { jobMarketAbi } from "../../chain/abi/jobMarket.ts";
import type { Session } from "../../chain/market/session.ts";

/**
 * Returns, from the chain, the receipts for the sender's transactions that posted a job and its inputs: needed if a
 * killed process posted the job without noting the receipts.
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
