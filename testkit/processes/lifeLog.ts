import type { Seen } from "../nodes/faultyProxy.ts";

/** Seconds from the start of a process to its first look at the chain's events, and to its first transaction. */
type Life = { party: string; toEvents: number | undefined; toAct: number | undefined };
export type Lives = readonly Life[];

/** When the lives of processes began, and what they then asked of their nodes. */
export class LifeLog {
  readonly #lives: (Life & { began: number; isFirst: boolean })[] = [];

  /** A process starts. */
  began(party: string): void {
    const isFirst = !this.#lives.some((life) => life.party === party);
    this.#lives.push({ party, began: Date.now(), isFirst, toEvents: undefined, toAct: undefined });
  }

  /** A request of a party came to its node. */
  called(party: string, { method, at }: Seen): void {
    const life = this.#lives.findLast((one) => one.party === party);
    if (life === undefined) return;
    if (method === "eth_getLogs") life.toEvents ??= (at - life.began) / 1_000;
    if (method === "eth_sendRawTransaction") life.toAct ??= (at - life.began) / 1_000;
  }

  /** Whether a party has looked at the chain's events, in any of its lives. */
  hasReadEvents(party: string): boolean {
    return this.#lives.some((life) => life.party === party && life.toEvents !== undefined);
  }

  /** All but the first of each process: what came after a restart. */
  get lives(): Lives {
    return this.#lives.flatMap(({ party, toEvents, toAct, isFirst }) => (isFirst ? [] : [{ party, toEvents, toAct }]));
  }
}
