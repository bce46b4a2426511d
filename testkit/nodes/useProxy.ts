import { Anvil, anvilBinary } from "../../src/deploy/devnet/anvil.ts";
import { FaultyProxy, NetworkPool, type Seen } from "./faultyProxy.ts";

/**
 * Starts anvil and a proxy before it, before the tests of a suite. The tests are skipped where anvil is missing.
 * @param onCall Called with each request that the proxy gets.
 */
export function useProxy(onCall?: (call: Seen) => void): () => { anvil: Anvil; proxy: FaultyProxy } {
  let anvil: Anvil | undefined;
  let pool: NetworkPool | undefined;
  let proxy: FaultyProxy | undefined;
  before(async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") {
      console.log(`      ${binary.missing}`);
      this.skip();
    }
    anvil = await Anvil.start();
    pool = new NetworkPool(anvil.url);
    proxy = await FaultyProxy.start(pool, 1, onCall);
  });
  after(async () => {
    await proxy?.close();
    pool?.close();
    await anvil?.close();
  });
  return () => ({ anvil: anvil!, proxy: proxy! });
}
