import { createPublicClient, http, isAddress, type Address } from "viem";
import { openReader, followMarket, type Snapshot } from "../../src/chain/market/session.ts";
import { RefuteError } from "../../src/base/errors.ts";
import { symbolOf } from "../../src/chain/clients/erc20.ts";
import type { Reader } from "../../src/chain/market/reader.ts";
import { translateError } from "../../src/chain/translateError.ts";
import { amount } from "../format.ts";

/** What somebody looks at: a market, and the node that is asked about it. */
export type Target = {
  rpc: string;
  market: Address;
  fromBlock: bigint;
  /** Contracts beside the market, of which it does not know. */
  exams: Address | undefined;
  panels: Address | undefined;
};

/** What was entered names no deployment. */
export class TargetError extends RefuteError {
  readonly code = "TARGET";
}

/**
 * Reads what a route says of a deployment.
 * @returns undefined if it says nothing
 * @throws TargetError if what it says cannot be used
 */
export function targetOf(query: Readonly<Record<string, string>>): Target | undefined {
  const { rpc = "", market = "", from = "0", exams = "", panels = "" } = query;
  if (rpc === "" && market === "") return undefined;
  const url = URL.parse(rpc);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TargetError("the node: give a URL that begins with http:// or https://");
  if (!isAddress(market, { strict: false }))
    throw new TargetError("the market: give its address, 0x and 40 hexadecimal digits");
  if (!/^\d{1,15}$/.test(from)) throw new TargetError("the first block: give a number, such as 0");
  const beside = { exams: besideOf("the exams", exams), panels: besideOf("the panels", panels) };
  return { rpc: url.href, market, fromBlock: BigInt(from), ...beside };
}

function besideOf(what: string, address: string): Address | undefined {
  if (address === "") return undefined;
  if (!isAddress(address, { strict: false })) throw new TargetError(`${what}: give their address, or nothing`);
  return address;
}

/** Nodes that somebody entered, or agreed to, in this page. */
const agreed = new Set<string>();

/** Whether a node may be asked: a link alone, which anybody may have written, has no node asked. */
export const isAgreed = ({ rpc }: Target): boolean => agreed.has(rpc);

/** Notes that somebody wants a node asked. What is no URL is left out. */
export function agree(rpc: string): void {
  const url = URL.parse(rpc);
  if (url !== null) agreed.add(url.href);
}

/** A deployment that is followed. */
export type Followed = {
  reader: Reader;
  follow: () => Promise<Snapshot>;
  /** An amount of the stake asset, with its symbol. */
  money: (units: bigint) => string;
};

/** Symbols as tokens have them. A contract may answer any other text, which could read like an amount. */
const SYMBOL = /^[A-Za-z][A-Za-z0-9.$+-]{0,15}$/;

/** Has a request fail as on the command line: what was asked, and why there is no answer. Never viem's own text. */
export const asked = <T>(what: string, request: Promise<T>): Promise<T> =>
  request.catch((error: unknown) => {
    throw translateError(error, what);
  });

/** Connects to a deployment. @throws the errors of `openReader` */
export async function followTarget({ rpc, market, fromBlock }: Target): Promise<Followed> {
  const transport = http(rpc, { retryCount: 1, timeout: 15_000 });
  const host = new URL(rpc).host;
  const chainId = await asked(`asking ${host}`, createPublicClient({ transport }).getChainId());
  const reader = await asked("reading the market", openReader({ endpoint: { transport }, chainId, market, fromBlock }));
  const symbol = await symbolOf(reader.deployment.asset, reader.publicClient).catch(() => "");
  const unit = SYMBOL.test(symbol) ? symbol : "of the stake asset";
  const follow = followMarket(reader);
  return {
    reader,
    follow: () => asked("following the market", follow()),
    money: (units) => `${amount(units)} ${unit}`,
  };
}
