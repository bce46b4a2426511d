import { network } from "hardhat";
import { Anvil, anvilBinary } from "../../src/deploy/devnet/anvil.ts";

/** Contracts of other builds may be larger than on a real network. */
const isShipped = ["shipped", undefined].includes(process.env.REFUTE_BUILD);
let node: Promise<Anvil> | undefined;

async function startNode(): Promise<Anvil> {
  // When viem does not find a receipt at once, it looks again at the next block. Therefore the chain must make further
  // blocks.
  const started = await Anvil.start({ unlimited: !isShipped, blockSeconds: 1, isMixed: true });
  started.unref();
  return started;
}

/**
 * Creates a chain for tests that deploy contracts and read call results. All tests in a process share a single node,
 * which ends with the process. The node runs bytecode some eight times as fast as Hardhat's embedded chain, because
 * the embedded chain notes each operation for stack traces. Without the node's program, the function creates an
 * embedded chain.
 */
export async function createCallChain() {
  if (typeof anvilBinary() !== "string") return network.create();
  const { url } = await (node ??= startNode());
  return network.create({ network: "localhost", override: { url } });
}
