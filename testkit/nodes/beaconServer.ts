import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { numberToHex } from "viem";
import type { Anvil } from "../../src/deploy/devnet/anvil.ts";

/**
 * Slots last one second. Anvil makes several blocks per second, but at most one has blobs, because blob proofs take
 * longer.
 */
const SLOT_SECONDS = 1;

/**
 * The beacon API before a node of anvil, which has no slots and serves blobs by the number of a block.
 * @returns The server's URL.
 */
export async function serveBeacon(anvil: Anvil): Promise<{ url: string; close: () => void }> {
  const timeOf = async (block: bigint | "latest"): Promise<{ number: bigint; time: number }> => {
    const tag = block === "latest" ? block : numberToHex(block);
    const found = await anvil.request("eth_getBlockByNumber", [tag, false]);
    const { number, timestamp } = found as { number: string; timestamp: string };
    return { number: BigInt(number), time: Number(timestamp) };
  };
  const blobsOf = async (slot: number): Promise<string | undefined> => {
    const { time: genesis } = await timeOf(0n);
    const wanted = genesis + slot * SLOT_SECONDS;
    let answer: string | undefined;
    for (let block = await timeOf("latest"); block.time >= wanted; block = await timeOf(block.number - 1n)) {
      if (block.time === wanted) {
        answer = await (await fetch(`${anvil.url}/eth/v1/beacon/blobs/${block.number}`)).text();
        if ((JSON.parse(answer) as { data: unknown[] }).data.length > 0) break;
      }
      if (block.number === 0n) break;
    }
    return answer;
  };
  const answer = async (path: string): Promise<string | undefined> => {
    const [, slot] = /^\/eth\/v1\/beacon\/blobs\/(\d+)$/.exec(path) ?? [];
    if (slot !== undefined) return blobsOf(Number(slot));
    const data: Record<string, unknown> = {
      "/eth/v1/beacon/genesis": { genesis_time: String((await timeOf(0n)).time) },
      "/eth/v1/config/spec": { SECONDS_PER_SLOT: String(SLOT_SECONDS), SLOTS_PER_EPOCH: "384" },
    };
    return path in data ? JSON.stringify({ data: data[path] }) : undefined;
  };
  const server = createServer(({ url = "" }, response) => {
    void answer(url).then((text) => (text === undefined ? response.writeHead(404).end() : response.end(text)));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}
