import type { PublicClient } from "viem";
import type { TransactionSender } from "../call.ts";

/** The access that a client needs to read a contract. A failed read throws viem's error unchanged. */
export type ReadAccess = { publicClient: PublicClient };

/**
 * The access that a client needs to read a contract and to send transactions to it. Sending throws the errors of
 * `TransactionSender.send`.
 */
export type Access = ReadAccess & { sender: TransactionSender };
