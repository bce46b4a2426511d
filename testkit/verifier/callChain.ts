import { network } from "hardhat";
import { Anvil, anvilBinary } from "../../src/deploy/devnet/anvil.ts";

/** Contracts of other builds may be larger than on a real network. */
const isShipped = ["shipped", undefined].includes(process.env.REFUTE_BUILD);
let node: Promise<Anvil> | undefined;

async function startNode(): Promise<Anvil> {
  // viem looks for a receipt that it does not find at once when the next block comes, so that there must be one.
  const started = await Anvil.start({ unlimited: !isShipped, blockSeconds: 1, isMixed: true });
  started.unref();
  return started;
}

/**
 * A chain for tests that deploy contracts and read what calls give: one node for all tests of a process, ended with it.
 * It runs bytecode some eight times as fast as the chain that Hardhat embeds, which notes each operation for the sake
 * of its stack traces. Where the node's program is not there, it is an embedded chain.
 */
export async function createCallChain() {
  if (typeof anvilBinary() !== "string") return network.create();
  const { url } = await (node ??= startNode());
  return network.create({ network: "localhost", override: { url } });
}
