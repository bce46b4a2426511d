import { custom, type Hex, type Transport } from "viem";
import type { ForkingChain } from "./forkingChain.ts";

export type Call = { method: string; params?: unknown[] };
/** What becomes of a request on its way to the chain. */
export type Fault = (call: Call, pass: (call: Call) => Promise<unknown>) => Promise<unknown>;

/** Never answered. */
export const silence = (): Promise<never> => new Promise(() => undefined);

/** One party's way to the chain, which can be disturbed or cut. */
export class Line {
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

  /** Nothing is answered from now on, not even what was asked already: the process that asked is gone. */
  cut(): void {
    this.#isCut = true;
  }
}
