import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { LocalChain } from "../../src/deploy/demo/localChain.ts";

export type RpcRequest = { method: string; params?: unknown[] };
type Call = RpcRequest & { id: number };

/**
 * Serves an embedded chain over HTTP on 127.0.0.1, for tests that need a real node URL.
 * @param through Handles each request on the way to the chain.
 */
export async function serveRpc(
  provider: LocalChain["provider"],
  through: (request: RpcRequest, pass: () => Promise<unknown>) => Promise<unknown> = (_, pass) => pass(),
): Promise<{ url: string; close: () => Promise<void> }> {
  const answer = async ({ id, method, params }: Call): Promise<object> => {
    const request = { method, params: params ?? [] };
    try {
      return { jsonrpc: "2.0", id, result: await through(request, () => provider.request(request)) };
    } catch (error) {
      const { message, code, data } = error as Error & { code?: number; data?: unknown };
      return { jsonrpc: "2.0", id, error: { code: code ?? -32_000, message, data } };
    }
  };
  const server = createServer((request, response) => {
    // Web pages may send requests, like to public nodes.
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "content-type");
    if (request.method === "OPTIONS") return void response.end();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      const call = JSON.parse(Buffer.concat(chunks).toString()) as Call;
      void answer(call).then((body) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(body));
      });
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server) };
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });
