import type { Command } from "commander";
import { isAddress } from "viem";
import { z } from "zod";
import { openSession, type Session, type SessionOptions } from "../market/session.ts";
import { loadAccount } from "./keys.ts";
import { envName, flagName } from "./settings.ts";

const address = z.string().refine((text) => isAddress(text), "expected an address, 0x and 40 hexadecimal digits");

const isNode = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

/** Settings of every command that talks to a chain. */
export const chainShape = {
  /** URLs, comma-separated: any of them may fail. */
  rpcUrl: z
    .string()
    .transform((text) => text.split(",").map((url) => url.trim()))
    .refine((urls) => urls.every(isNode), "expected URLs of nodes, such as https://node.example, comma-separated"),
  chainId: z.coerce.number().int().positive(),
  market: address.transform((text) => text),
  fromBlock: z.coerce.bigint().default(0n),
  keystore: z.string().optional(),
  logLevel: z.enum(["trace", "debug", "info", "warn", "error"]).default("info"),
};

/** Flags of the same settings. */
export function addChainOptions(command: Command): Command {
  const option = (key: keyof typeof chainShape, value: string, text: string) =>
    command.option(`${flagName(key)} <${value}>`, `${text} (or ${envName(key)})`);
  option("rpcUrl", "urls", "node to use, or several, comma-separated: any of them may fail");
  option("chainId", "id", "chain that every node must serve");
  option("market", "address", "the market's contract; the others are read from it");
  option("fromBlock", "number", "block of the deployment");
  option("keystore", "file", "keystore V3 file; its password comes from REFUTE_KEYSTORE_PASSWORD or a prompt");
  option("logLevel", "level", "trace, debug, info, warn or error");
  return command.option("--config <file>", "JSON file with any of these settings (or REFUTE_CONFIG)");
}

/** Settings of every command that talks to a chain, as they are read. */
export type ChainSettings = z.output<z.ZodObject<typeof chainShape>>;

/** Connects with the account of the settings. @param onRpcFailure Called with each request without an answer. */
export async function sessionFrom(
  settings: ChainSettings,
  onRpcFailure?: SessionOptions["onRpcFailure"],
): Promise<Session> {
  const { rpcUrl, chainId, market, fromBlock, keystore } = settings;
  const account = await loadAccount({ keystore });
  return openSession({ endpoint: { rpcUrls: rpcUrl }, chainId, market, account, fromBlock, onRpcFailure });
}
