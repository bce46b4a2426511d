import { homedir } from "node:os";
import { join } from "node:path";
import type { Address, LocalAccount } from "viem";
import { LogCache } from "../chain/logCache.ts";
import { openReader, openSession, type Session, type SessionOptions } from "../chain/market/session.ts";
import { UsageError } from "./errors.ts";
import { loadAccount } from "./keys.ts";
import { address, blockNumber, type Parse, filePath, webUrl, whole } from "./parse.ts";
import { defaulted, inGroup, optional, required, type SettingValues } from "./settings.ts";
import type { Reader } from "../chain/market/reader.ts";

/** URLs of nodes. They are never repeated: they hold tokens. */
const nodeUrls: Parse<string[]> = (given, name) => {
  const urls = given.split(",").map((url) => url.trim());
  urls.forEach((url, k) => {
    const which = urls.length === 1 ? name : `${name}, number ${k + 1}`;
    const expected = "expected the URL of a node, such as https://node.example, or several with commas between them";
    if (url === "") throw new UsageError(`${which} is empty: ${expected}`);
    if (!URL.canParse(url)) throw new UsageError(`${which} is no URL: ${expected}`);
    const { protocol } = new URL(url);
    if (protocol !== "http:" && protocol !== "https:")
      throw new UsageError(`${which} has the protocol ${protocol.slice(0, -1)}, expected http or https`);
  });
  return urls;
};

/** Settings for every command that talks to a chain. */
export const chainSettings = inGroup("chain", {
  rpcUrl: required<string[]>("urls", "node to use, or several, comma-separated: any of them may fail", nodeUrls),
  chainId: required<number>("id", "chain that every node must serve", whole(1)),
  market: required("address", "the market's contract; the others are read from it", address),
  fromBlock: defaulted("number", "block of the deployment", blockNumber, 0n),
});

/** Where the account's key is. */
export const keySettings = inGroup("chain", {
  keystore: optional<string>(
    "file",
    "keystore V3 file; its password comes from REFUTE_KEYSTORE_PASSWORD or a prompt",
    filePath,
    "the key in REFUTE_PRIVATE_KEY",
  ),
  signer: optional<string>("url", "process that holds the key and signs, such as Web3Signer", webUrl, "none"),
  signerAccount: optional<Address>("address", "account that it signs for", address, "its only one"),
});

/** Settings of every command that sends transactions. */
export const accountSettings = { ...chainSettings, ...keySettings };

type ChainSettings = SettingValues<typeof chainSettings>;
export type AccountSettings = SettingValues<typeof accountSettings>;

/** Where caches lie if nothing else is said: the user's folder for them (XDG Base Directory Specification). */
export const CACHE_FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "refute");

/** What of the settings leads to a deployment. */
const placeOf = ({ rpcUrl, chainId, market, fromBlock }: ChainSettings, folder = CACHE_FOLDER) => {
  const owner = ["first block", String(chainId), market.toLowerCase()];
  const firstBlock = new LogCache<bigint>({ folder, owner, content: [], warn: () => undefined });
  return { endpoint: { rpcUrls: rpcUrl }, chainId, market, fromBlock, firstBlock };
};

/** Connects without an account. */
export const readerFrom = (settings: ChainSettings): Promise<Reader> => openReader(placeOf(settings));

/**
 * Connects with the account from the settings.
 * @param onRpcFailure Called with each request without an answer.
 * @param known The account, if already loaded.
 */
export async function sessionFrom(
  settings: AccountSettings & { cache?: string },
  onRpcFailure?: SessionOptions["onRpcFailure"],
  known?: LocalAccount,
): Promise<Session> {
  const account = known ?? (await loadAccount(settings));
  return openSession({ ...placeOf(settings, settings.cache), account, onRpcFailure });
}
