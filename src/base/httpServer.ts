import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { printable } from "./text.ts";

/**
 * Serves requests by their path alone. A failing answer gives status 500 with the reason, or a cut-off response if the
 * response has begun.
 */
export class HttpServer {
  readonly #answer: (url: string, response: ServerResponse) => Promise<void>;
  #server: Server | undefined;

  constructor(answer: (url: string, response: ServerResponse) => Promise<void>) {
    this.#answer = answer;
  }

  /** Begins to serve. @param port 0 for any free one. @returns the port */
  async listen(port: number, host = "127.0.0.1"): Promise<number> {
    const server = createServer((request, response) => {
      this.#answer(request.url ?? "", response).catch((error: unknown) => {
        // Half an answer cannot be taken back, only cut off.
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end(`${printable((error as Error).message)}\n`);
      });
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
