import type { Hex } from "viem";

/** The needed fields of a node's raw log. */
type RawLog = { blockHash: Hex | null; logIndex: Hex | null; topics: readonly Hex[]; data: Hex };

/** The result of decoding; undefined for a malformed log or a log of another event. */
type Decoded = { eventName: string; args: Record<string, unknown> } | undefined;

/** Decoding a single word is hardly slower than looking up the word's log. */
const MIN_CHARACTERS = 2 + 2 * 64;
/** Logs that are kept, however short: more than the newest 64 blocks of a busy market have. */
const MAX_LOGS = 8_192;

/**
 * Keeps the decoded arguments of logs. A client that follows a chain reads the newest blocks again and again, and
 * decoding takes up to a hundred times as long as a look-up. A log at the same place with other data is decoded anew.
 */
export class DecodedLogs {
  readonly #maxCharacters: number;
  /** The least recently used first. */
  readonly #known = new Map<string, { data: Hex; topics: string; decoded: Decoded }>();
  #characters = 0;

  /** @param maxCharacters Total data length of all kept logs, in hexadecimal characters. */
  constructor(maxCharacters = 32 * 1_024 * 1_024) {
    this.#maxCharacters = maxCharacters;
  }

  /** Returns a log's decoded form. @param decode Called unless the form is known. */
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
      if (this.#characters <= this.#maxCharacters && this.#known.size <= MAX_LOGS) break;
      this.#forget(oldest);
    }
    return decoded;
  }

  #forget(place: string): void {
    this.#characters -= this.#known.get(place)!.data.length;
    this.#known.delete(place);
  }
}
