import { formatEther, type Abi, type ContractFunctionName, type TransactionReceipt } from "viem";
import type { Call, TransactionSender, Writable } from "../../chain/call.ts";
import { JobMarket } from "../../chain/clients/jobMarket.ts";
import { InsufficientGasFundsError, ShortOfFundsError } from "../../chain/errors.ts";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import type { Session } from "../../chain/market/session.ts";
import { postingGas } from "../requester/postingGas.ts";
import type { Batch, BatchPart } from "./batch.ts";
import { DispatchBudgetError } from "./errors.ts";
import type { DispatchTerms } from "./options.ts";

/** The address of a file, longer than usual. */
const LONG_PLACE = "https://".padEnd(256, "x");

/**
 * Checks, before any payment, that the account can pay the fees and gas for all remaining parts.
 * @param committed Amount paid or promised for parts so far.
 * @param isPlaced Whether inputs stay off the chain.
 * @throws DispatchBudgetError, ShortOfFundsError, InsufficientGasFundsError
 */
export async function requireFunds(
  { sender: { address }, vault, asset, publicClient }: Session,
  { description, parts, isChained }: Batch,
  left: readonly BatchPart[],
  { fee, budget }: DispatchTerms,
  committed: bigint,
  isPlaced: boolean,
): Promise<void> {
  const fees = BigInt(left.length) * fee;
  if (committed + fees > budget)
    throw new DispatchBudgetError(
      `the budget is ${formatEther(budget)}, and ${left.length} parts at ${formatEther(fee)} take ` +
        `${formatEther(fees)}${committed > 0n ? ` beside ${formatEther(committed)} for others` : ""}: give a higher ` +
        "budget (--budget), a lower fee (--fee), or larger parts (--part-items); nothing was sent",
    );
  const { credit } = await vault.accountOf(address);
  const held = credit + (await asset.balanceOf(address));
  if (held < fees)
    throw new ShortOfFundsError(
      `${address} has ${formatEther(held)} of the stake asset with credit, and the fees are ${formatEther(fees)}: ` +
        `send it ${formatEther(fees - held)} more; nothing was sent`,
    );
  const gasPrice = await gasPriceNow(publicClient);
  const references = isPlaced ? [LONG_PLACE] : undefined;
  const gasOf = ({ items, inputs }: BatchPart): number => postingGas(description, items, inputs, references).gas;
  const [first, later] = [parts[0]!, isChained ? gasOf(withAnyState(parts[0]!)) : 0];
  const gas = left.reduce((sum, part) => sum + (isChained && part !== first ? later : gasOf(part)), 0);
  const [balance, cost] = [await publicClient.getBalance({ address }), BigInt(gas) * gasPrice];
  if (balance < cost)
    throw new InsufficientGasFundsError(
      `${address} has ${formatEther(balance)} of the native token, and posting ${left.length} parts may take ` +
        `${formatEther(cost)} (${gas} gas): send it more; nothing was sent`,
    );
}

/** An upper bound for unknown states: only zeros are left out when posting. */
const withAnyState = (part: BatchPart): BatchPart => ({
  ...part,
  inputs: part.inputs.map((bytes) => new Uint8Array(bytes.length).fill(1)),
});

/** Returns a session whose market reports each transaction's receipt. */
export function metered(session: Session, onReceipt: (receipt: TransactionReceipt) => void): Session {
  const { sender, publicClient, deployment } = session;
  const counted: TransactionSender = {
    address: sender.address,
    send: async <const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
      call: Call<A, Name>,
      by?: number,
    ) => {
      const receipt = await sender.send(call, by);
      onReceipt(receipt);
      return receipt;
    },
    check: (call) => sender.check(call),
  };
  return { ...session, sender: counted, market: new JobMarket(deployment.market, { publicClient, sender: counted }) };
}
