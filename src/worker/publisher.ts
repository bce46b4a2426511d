import type { ServerResponse } from "node:http";
import type { Hex } from "viem";
import type { Executions } from "../chain/game/executions.ts";
import type { JobRecord } from "../chain/history.ts";
import { HttpServer } from "./httpServer.ts";

/**
 * Publishes a worker's traces over HTTP: `/<claim id>/<step>` is the tensor of that step, little-endian. A challenger that has it goes from a
 * range's steps straight to the proof, so that a dispute takes three transactions instead of eleven.
 */
export class TracePublisher {
  readonly #server = new HttpServer((url, response) => this.#answer(url, response));
  #executions: Executions | undefined;
  #claims: ReadonlyMap<Hex, JobRecord> = new Map();

  /** Takes over what there is to publish. @param claims The jobs that the worker's claims are on. */
  publish(claims: ReadonlyMap<Hex, JobRecord>, executions: Executions): void {
    [this.#claims, this.#executions] = [claims, executions];
  }

  /** Begins to serve. @param port 0 for any free one. @returns the port */
  listen(port: number, host?: string): Promise<number> {
    return this.#server.listen(port, host);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #answer(url: string, response: ServerResponse): Promise<void> {
    const [, claimId, number] = /^\/(0x[0-9a-f]{64})\/(\d{1,9})$/.exec(url) ?? [];
    const job = this.#claims.get((claimId ?? "") as Hex);
    const tensor = job && (await this.#tensor(job, Number(number)));
    if (tensor === undefined) return void response.writeHead(404).end("no such claim or step\n");
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": tensor.length });
    response.end(tensor);
  }

  async #tensor(job: JobRecord, step: number): Promise<Uint8Array | undefined> {
    return this.#executions?.use(job, ({ model, trace }) =>
      step < model.program.steps.length ? trace.tensor(step) : undefined,
    );
  }
}
