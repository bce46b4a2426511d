import type { PublicClient } from "viem";
import type { Sender } from "../sender.ts";

/** What a client needs to read a contract. A read that fails throws viem's error as it is. */
export type ReadAccess = { publicClient: PublicClient };

/** What a client needs to read a contract and to send transactions to it: these throw as `Sender.send` says. */
export type Access = ReadAccess & { sender: Sender };
