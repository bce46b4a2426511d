import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { errorWithCode } from "./errors.ts";
import { printable } from "./text.ts";

/** A port on which this process cannot listen. */
export class PortError extends errorWithCode("PORT") {}

/**
 * Has a server listen.
 * @param port 0 for any free one. @param option The flag that named the port, for the message. @returns the port
 * @throws PortError if another process listens there, or if the system forbids the port
 */
export async function listenAt(server: Server, port: number, host: string, option: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const why = REASONS[code ?? ""] ?? `cannot be listened on (${message})`;
      reject(new PortError(`port ${port} of ${host} ${why}: name another one with ${option}`));
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

const REASONS: Record<string, string> = {
  EADDRINUSE: "is taken by another process",
  EACCES: "is one that this user may not listen on",
  EADDRNOTAVAIL: "is at an address that this machine does not have",
};

/**
 * Serves requests by their path alone. A failing answer gives status 500 with the reason, or a cut-off response if the
 * response has begun.
 */
export class HttpServer {
  readonly #answer: (url: string, response: ServerResponse) => Promise<void>;
  #server: ReturnType<typeof createServer> | undefined;

  constructor(answer: (url: string, response: ServerResponse) => Promise<void>) {
    this.#answer = answer;
  }

  /**
   * Begins to serve.
   * @param port 0 for any free one. @param option The flag that named the port. @returns the port
   * @throws PortError
   */
  async listen(port: number, option: string, host = "127.0.0.1"): Promise<number> {
    const server = createServer((request, response) => {
      this.#answer(request.url ?? "", response).catch((error: unknown) => {
        // Half an answer cannot be taken back, only cut off.
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end(`${printable((error as Error).message)}\n`);
      });
    });
    const taken = await listenAt(server, port, host, option);
    this.#server = server;
    return taken;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
