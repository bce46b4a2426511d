import type { PublicClient } from "viem";
import type { TransactionSender } from "../call.ts";

/** What a client needs to read a contract. A read that fails throws viem's error as it is. */
export type ReadAccess = { publicClient: PublicClient };

/** What a client needs to read a contract and to send transactions to it: these throw as `TransactionSender.send`. */
export type Access = ReadAccess & { sender: TransactionSender };
