import type { Chain, PublicClient, Transport } from "viem";
import type { Deployment } from "./deployment.ts";

/** A deployment and a node to read it from, without an account. */
export type Reader = {
  deployment: Deployment;
  publicClient: PublicClient<Transport, Chain>;
  /** The block of the deployment: no event is older. */
  fromBlock: bigint;
};
