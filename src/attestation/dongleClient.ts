import { connect } from "node:net";
import type { z } from "zod/v4";
import { lowS } from "./keys.ts";
import type { Device, DeviceIdentity, DeviceSignature, SignRequest } from "./device.ts";
import { answers, lineOf, MAX_LINE_BYTES } from "./dongleProtocol.ts";
import { DeviceRefusalError, DongleAnswerError, DongleAwayError } from "./errors.ts";

/** How long an answer may take. */
const PATIENCE_MS = 10_000;

/** A dongle behind its socket. It may come and go: each request has a connection of its own. */
export class Dongle implements Device {
  readonly #path: string;
  readonly #patienceMs: number;

  /** @param path Of the socket. @param patienceMs How long an answer may take. */
  constructor(path: string, patienceMs = PATIENCE_MS) {
    this.#path = path;
    this.#patienceMs = patienceMs;
  }

  /** @throws DongleAwayError, DongleAnswerError, DeviceRefusalError */
  identity(): Promise<DeviceIdentity> {
    return this.#ask(lineOf.askIdentity(), answers.identity);
  }

  /** @throws DongleAwayError, DongleAnswerError, DeviceRefusalError */
  async sign(request: SignRequest): Promise<DeviceSignature> {
    const signed = await this.#ask(lineOf.askSign(request), answers.sign);
    return { ...signed, signature: lowS(signed.signature) };
  }

  async #ask<T extends object>(line: string, schema: z.ZodType<T | { error: string }, unknown>): Promise<T> {
    const given = await this.#exchange(line);
    let json: unknown;
    try {
      json = JSON.parse(given);
    } catch {
      throw new DongleAnswerError(`the dongle at ${this.#path} answers what is not JSON: is it a dongle?`);
    }
    const { data } = schema.safeParse(json);
    if (data === undefined)
      throw new DongleAnswerError(
        `the dongle at ${this.#path} gives another answer than was asked for: is it a dongle?`,
      );
    if ("error" in data) throw new DeviceRefusalError(`the dongle at ${this.#path} refuses: ${data.error}`);
    return data;
  }

  /** Sends a line and waits for one. @throws DongleAwayError */
  #exchange(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#path, () => void socket.write(`${line}\n`));
      let given = Buffer.alloc(0);
      const fail = (why: string): void => {
        clearTimeout(patience);
        socket.destroy();
        reject(new DongleAwayError(`the dongle at ${this.#path} does not answer (${why}): plug it in, or start it`));
      };
      const patience = setTimeout(() => fail(`not within ${this.#patienceMs / 1_000} s`), this.#patienceMs);
      socket.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
      socket.on("close", () => fail("it closed the connection"));
      socket.on("data", (chunk: Buffer) => {
        given = Buffer.concat([given, chunk]);
        const end = given.indexOf(10);
        if (end < 0 && given.length <= MAX_LINE_BYTES) return;
        clearTimeout(patience);
        socket.removeAllListeners("close").destroy();
        resolve(given.subarray(0, Math.max(end, 0)).toString("utf8"));
      });
    });
  }
}
