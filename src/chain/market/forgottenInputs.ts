import type { Hex } from "viem";
import type { LogStore } from "../logStore.ts";
import type { Forget } from "./forget.ts";
import type { History, JobRecord, ProtocolEvent, protocolAbi } from "./history.ts";
import { sourcesOf } from "./jobInputs.ts";

/** The placeholder for a part's forgotten bytes. No real part is empty. */
const FORGOTTEN = "0x";

/** Maximum parts read again per round. Games wait meanwhile, and each part may be in a different block. */
const MAX_AT_ONCE = 64;
/** Blocks after which inputs that the nodes did not give are asked for again. */
const RETRY_BLOCKS = 64n;

/** Shortens an event for a job with forgotten inputs: the remaining fields still locate the bytes. */
export const withoutInput = (event: ProtocolEvent): ProtocolEvent =>
  event.eventName === "InputPublished" && event.args.data !== FORGOTTEN
    ? { ...event, args: { ...event.args, data: FORGOTTEN } }
    : event;

/** Forgets the bytes of a job's inputs. */
export function forgetInputs({ parts }: History, jobId: Hex): void {
  for (const ofInput of parts.get(jobId)?.values() ?? [])
    for (const part of ofInput.keys()) ofInput.set(part, FORGOTTEN);
}

/**
 * Brings back forgotten inputs that are needed after all. A catalogue may gain a model, or compile a model at last,
 * long after the posting of a job with the model's program. A watcher needs no input before a claim exists.
 */
export class ForgottenInputs {
  readonly #store: LogStore<typeof protocolAbi>;
  readonly #forget: Forget;
  /** The head when the nodes gave nothing of a job's input. */
  readonly #asked = new Map<Hex, bigint>();

  constructor(store: LogStore<typeof protocolAbi>, forget: Forget) {
    this.#store = store;
    this.#forget = forget;
  }

  /**
   * Reads again the blocks of the needed inputs. A node that lacks the blocks delays nothing else.
   * @returns Whether the store has more than before.
   */
  async bringBack({ jobs }: History, head: { number: bigint; timestamp: bigint }): Promise<boolean> {
    for (const id of this.#asked.keys()) if (!jobs.has(id)) this.#asked.delete(id);
    const needed = new Set<Hex>();
    for (const job of jobs.values()) {
      const lacking = [job, ...sourcesOf(job)].filter((source) => isForgotten(source) && this.#isDue(source, head));
      if (lacking.length > 0 && this.#forget(job, head.timestamp) === "nothing")
        for (const { id } of lacking) needed.add(id);
    }
    if (needed.size === 0) return false;
    const shortened = this.#store.events
      .filter((event) => event.eventName === "InputPublished")
      .filter(({ args: { jobId, data } }) => needed.has(jobId) && data === FORGOTTEN)
      .slice(0, MAX_AT_ONCE);
    // If no node answers, the next round tries again.
    const found = await this.#store.readAgain(shortened).catch(() => undefined);
    if (found === 0) for (const { args } of shortened) this.#asked.set(args.jobId, head.number);
    return found !== undefined && found > 0;
  }

  #isDue({ id }: JobRecord, head: { number: bigint }): boolean {
    return head.number >= (this.#asked.get(id) ?? -RETRY_BLOCKS) + RETRY_BLOCKS;
  }
}

const isForgotten = ({ parts }: JobRecord): boolean =>
  [...parts.values()].some((ofInput) => [...ofInput.values()].includes(FORGOTTEN));
