import { pause } from "../../chain/pause.ts";
import type { Session } from "../../chain/market/session.ts";
import { throughOutages, type OutageOptions } from "../requester/outages.ts";

/**
 * Waits until all the account's transactions known to the node are mined.
 * @throws the signal's reason
 */
export async function waitUntilMined(
  { publicClient, sender: { address } }: Pick<Session, "publicClient" | "sender">,
  options: OutageOptions,
): Promise<void> {
  const count = (blockTag: "latest" | "pending") =>
    throughOutages(() => publicClient.getTransactionCount({ address, blockTag }), options);
  while ((await count("pending")) > (await count("latest"))) await pause(options.intervalMs, options.signal);
}
