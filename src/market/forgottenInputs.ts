import { hexToBytes, size, type Hex } from "viem";
import type { LogStore } from "../chain/logStore.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import { readHeader, type HeaderTensor } from "../program/header.ts";
import type { Forget } from "./forget.ts";
import type { History, JobRecord, protocolAbi } from "./history.ts";

/** Blocks after which inputs that the nodes did not give are asked for again. */
const RETRY_BLOCKS = 64n;

/**
 * Brings back inputs that were forgotten and are needed after all: a model may come to a catalogue, or be compiled at
 * last, long after a job of its program was posted. Without its input such a job could not be judged.
 */
export class ForgottenInputs {
  readonly #store: LogStore<typeof protocolAbi>;
  readonly #forget: Forget;
  /** After a reorganisation records are other objects. */
  readonly #complete = new WeakSet<JobRecord>();
  /** The head when the input of a job was asked for. */
  readonly #asked = new Map<Hex, bigint>();

  constructor(store: LogStore<typeof protocolAbi>, forget: Forget) {
    this.#store = store;
    this.#forget = forget;
  }

  /**
   * Reads again the blocks in which the inputs were published that a history lacks. A node that does not give them
   * holds up nothing else: they are asked for again some blocks later.
   * @returns Whether there may be more events now.
   */
  async bringBack({ jobs }: History, head: { number: bigint; timestamp: bigint }): Promise<boolean> {
    for (const id of this.#asked.keys()) if (!jobs.has(id)) this.#asked.delete(id);
    const lacking = [...jobs.values()].filter(
      (job) => this.#isDue(job, head.number) && this.#forget(job, head.timestamp) === "nothing" && this.#lacks(job),
    );
    for (const { id } of lacking) {
      this.#asked.set(id, head.number);
      await this.#read(id).catch(() => undefined);
    }
    return lacking.length > 0;
  }

  #isDue(job: JobRecord, head: bigint): boolean {
    if (this.#complete.has(job) || job.job.rootOnly || job.inputRoots.length === 0) return false;
    const asked = this.#asked.get(job.id);
    return wasOpened(job) && (asked === undefined || head >= asked + RETRY_BLOCKS);
  }

  #lacks(job: JobRecord): boolean {
    if (!hasAllInput(job)) return true;
    this.#complete.add(job);
    return false;
  }

  /** All parts are published between the job's post and its first opening. */
  async #read(jobId: Hex): Promise<void> {
    const blockOf = (name: "JobPosted" | "JobOpened"): bigint | undefined =>
      this.#store.events.find((event) => event.eventName === name && event.args.jobId === jobId)?.blockNumber;
    const [from, to] = [blockOf("JobPosted"), blockOf("JobOpened")];
    if (from === undefined || to === undefined) return;
    await this.#store.readAgain(
      { from, to },
      (event) => event.eventName === "InputPublished" && event.args.jobId === jobId,
    );
  }
}

/**
 * Whether as many bytes are there as the program's header says: hashing them each time would take too long. Of a header
 * with types that no model here has, nothing is missed.
 */
function hasAllInput({ program, inputRoots, parts }: JobRecord): boolean {
  let inputs: readonly HeaderTensor[];
  try {
    ({ inputs } = readHeader(hexToBytes(program.header)));
  } catch {
    return true;
  }
  return inputRoots.every((_, k) => {
    const published = [...(parts.get(k)?.values() ?? [])].reduce((sum, data) => sum + size(data), 0);
    return inputs[k] === undefined || published >= inputs[k].count * dtypeBytes(inputs[k].dtype);
  });
}

const wasOpened = ({ open, holder, claims }: JobRecord): boolean => open || holder !== undefined || claims.length > 0;
