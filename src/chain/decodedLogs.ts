import type { Hex } from "viem";

/** A log as a node gives it, with what the memory needs of it. */
type RawLog = { blockHash: Hex | null; logIndex: Hex | null; topics: readonly Hex[]; data: Hex };

/** What decoding gave; undefined for a log that is none of the events, or malformed. */
type Decoded = { eventName: string; args: Record<string, unknown> } | undefined;

/** Shorter data is decoded faster than it is compared and kept. */
const MIN_CHARACTERS = 2_048;

/**
 * The decoded arguments of large logs. Whoever follows a chain reads its newest blocks again and again, and decoding
 * the inputs of jobs in them takes longer than all the rest. A log at the same place with other data is decoded anew.
 */
export class DecodedLogs {
  readonly #maxCharacters: number;
  /** The least recently used first. */
  readonly #known = new Map<string, { data: Hex; topics: string; decoded: Decoded }>();
  #characters = 0;

  /** @param maxCharacters Of the data of all logs that are kept, in hexadecimal. */
  constructor(maxCharacters = 32 * 1_024 * 1_024) {
    this.#maxCharacters = maxCharacters;
  }

  /** What a log says. @param decode Called unless it is known. */
  of(log: RawLog, decode: () => Decoded): Decoded {
    const { data } = log;
    if (data.length < MIN_CHARACTERS) return decode();
    const place = `${log.blockHash} ${log.logIndex}`;
    const topics = log.topics.join();
    const known = this.#known.get(place);
    if (known !== undefined) this.#forget(place);
    const decoded = known?.data === data && known.topics === topics ? known.decoded : decode();
    this.#known.set(place, { data, topics, decoded });
    this.#characters += data.length;
    for (const [oldest] of this.#known) {
      if (this.#characters <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
    return decoded;
  }

  #forget(place: string): void {
    this.#characters -= this.#known.get(place)!.data.length;
    this.#known.delete(place);
  }
}
