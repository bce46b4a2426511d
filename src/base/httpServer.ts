import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorWithCode } from "./errors.ts";
import { printable } from "./text.ts";

/** A port that cannot be listened on. */
export class PortError extends errorWithCode("PORT") {}

/** What to throw when a server cannot listen. */
export const portError = (port: number, host: string, cause: Error): PortError => {
  const { code } = cause as { code?: string };
  const why = code === "EADDRINUSE" ? "is taken" : `cannot be listened on (${code ?? cause.message})`;
  return new PortError(`port ${port} of ${host} ${why}: name another one; 0 takes any free one`, { cause });
};

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

  /** Begins to serve. @param port 0 for any free one. @returns the port. @throws PortError */
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
      server.once("error", (error) => reject(portError(port, host, error)));
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
