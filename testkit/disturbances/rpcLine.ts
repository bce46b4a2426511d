import { custom, type Hex, type Transport } from "viem";
import type { Call } from "../nodes/behind.ts";
import type { ForkingChain } from "./forkingChain.ts";

/** Handles a request on its way to the chain: passes it on, changes it, or fails. */
export type Fault = (call: Call, pass: (call: Call) => Promise<unknown>) => Promise<unknown>;

/** A promise that never resolves: no answer comes. */
const silence = (): Promise<never> => new Promise(() => undefined);

/** One party's connection to the chain. It can have a fault or be cut. */
export class RpcLine {
  readonly transport: Transport;
  fault: Fault = (call, pass) => pass(call);
  #isCut = false;

  constructor(fork: ForkingChain) {
    const pass = (call: Call): Promise<unknown> =>
      call.method === "eth_sendRawTransaction"
        ? fork.include((call.params as [Hex])[0])
        : fork.chain.provider.request(call);
    const request = async (call: Call): Promise<unknown> => {
      const answer = this.#isCut ? undefined : await this.fault(call, pass);
      return this.#isCut ? silence() : answer;
    };
    this.transport = custom({ request }, { retryCount: 0 });
  }

  /** Stops answering requests, even a pending request: the process sees the same as if killed. */
  cut(): void {
    this.#isCut = true;
  }
}
