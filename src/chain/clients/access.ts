import type { PublicClient } from "viem";
import type { TransactionSender } from "../call.ts";

/**
 * The access that a client needs to read a contract. A read fails with the client's errors (`connect` gives Refute's).
 */
export type ReadAccess = { publicClient: PublicClient };

/**
 * The access that a client needs to read a contract and to send transactions to it. Sending throws the errors of
 * `TransactionSender.send`.
 */
export type Access = ReadAccess & { sender: TransactionSender };
