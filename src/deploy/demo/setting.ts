import type { Address, Hex } from "viem";
import type { Session } from "../../chain/market/session.ts";

/** A chain with the protocol on it, as the scenes use it. */
type DemoChain = {
  market: Address;
  /** Opens a session for a new account with 100 ether; `wrappedEther` is the wrapped part. */
  newSession: (wrappedEther?: bigint) => Promise<Session>;
  /** Deploys another contract. */
  deploy: (name: "TextDirectionDapp", args: readonly [Address, Hex, number]) => Promise<Address>;
  /** Lets time pass and mines a block. */
  advance: (seconds: number) => Promise<void>;
  close: () => Promise<void>;
};

/** Where the scenes play. */
export type Setting = {
  chain: DemoChain;
  /** The kind of chain, for a sentence. */
  kind: string;
  /** The library that reads the dapp's contract. */
  reader: string;
  /** Reads an answer from the dapp's contract. */
  answerOf: (dapp: Address, jobId: Hex) => Promise<{ text: string; confidencePpm: number }>;
};
