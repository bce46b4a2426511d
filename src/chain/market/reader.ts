import type { Chain, PublicClient, Transport } from "viem";
import type { Deployment } from "./deployment.ts";

/** A deployment and a node to read it from, without an account. */
export type Reader = {
  deployment: Deployment;
  publicClient: PublicClient<Transport, Chain>;
  /** The block of the deployment, or a block before: no event is older. */
  fromBlock: bigint;
  /** Whether the chain shows that the deployment is no older than `fromBlock`. Absent if nobody has looked. */
  isProven?: boolean;
};
