import type { Address, Hex } from "viem";
import type { World } from "./deployWorld.ts";

/** Whether a call would succeed at the latest block; no transaction is sent. */
export const callSucceeds = ({ client }: World, from: Address, to: Address, data: Hex): Promise<boolean> =>
  client.request({ method: "eth_call", params: [{ from, to, data }, "latest"] }, { retryCount: 0 }).then(
    () => true,
    () => false,
  );
