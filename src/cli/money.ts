import { symbolOf } from "../chain/clients/erc20.ts";
import type { Reader } from "../chain/market/reader.ts";
import { amountText } from "./amount.ts";

/** Returns an amount of the stake asset for people: in whole units, with the asset's symbol. */
export type Money = (amount: bigint) => string;

/** Symbols as tokens have them. A contract may answer any other text, which could read like an amount. */
const SYMBOL = /^[A-Za-z][A-Za-z0-9.$+-]{0,15}$/;

/** How amounts of a deployment's stake asset are shown. An asset may have no symbol. */
export async function moneyOf({
  deployment,
  publicClient,
}: Pick<Reader, "deployment" | "publicClient">): Promise<Money> {
  const symbol = await symbolOf(deployment.asset, publicClient).catch(() => "");
  return (amount) => `${amountText(amount)} ${SYMBOL.test(symbol) ? symbol : "of the stake asset"}`;
}
