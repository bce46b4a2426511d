import type { Seen } from "../nodes/faultyProxy.ts";

/** Seconds from a process's start to the first look at the chain's events, and to the first transaction. */
type Life = { party: string; toEvents: number | undefined; toAct: number | undefined };
export type Lives = readonly Life[];

/** The start times of processes, and their first requests to nodes. */
export class LifeLog {
  readonly #lives: (Life & { began: number; isFirst: boolean })[] = [];

  /** A process starts. */
  began(party: string): void {
    const isFirst = !this.#lives.some((life) => life.party === party);
    this.#lives.push({ party, began: Date.now(), isFirst, toEvents: undefined, toAct: undefined });
  }

  /** Records a party's request to the node. */
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
