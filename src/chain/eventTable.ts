import {
  concatHex,
  decodeAbiParameters,
  toEventSelector,
  type AbiEvent,
  type AbiParameter,
  type Hex,
  type Log,
} from "viem";

/** The data needed to decode one event's logs. */
type Entry = { eventName: string; indexed: AbiParameter[]; others: AbiParameter[] };

/** A log before it is decoded: its topics, and its data. */
type Undecoded = Pick<Log, "topics" | "data">;

/** Some events by their selectors, which are hashed once. */
export class EventTable {
  readonly #entries: ReadonlyMap<Hex, Entry>;

  /** @param events Each has arguments, all with names; none is anonymous. */
  constructor(events: readonly AbiEvent[]) {
    this.#entries = new Map(events.map((event) => [toEventSelector(event), entryOf(event)]));
  }

  /** The possible first topics of these events' logs. */
  get selectors(): Hex[] {
    return [...this.#entries.keys()];
  }

  /** Returns a log's name and arguments; undefined for a malformed log or a log of another event. */
  decode(log: Undecoded): { eventName: string; args: Record<string, unknown> } | undefined {
    const [selector, ...topics] = log.topics;
    const entry = selector && this.#entries.get(selector);
    if (entry === undefined || topics.length !== entry.indexed.length) return undefined;
    const { eventName, indexed, others } = entry;
    try {
      const args = { ...named(indexed, concatHex(topics)), ...named(others, log.data) };
      return { eventName, args };
    } catch {
      return undefined;
    }
  }
}

function entryOf({ name, inputs }: AbiEvent): Entry {
  return {
    eventName: name,
    indexed: inputs.filter(({ indexed }) => indexed === true).map(asTopic),
    others: inputs.filter(({ indexed }) => indexed !== true),
  };
}

/** An indexed argument as its topic has it: the hash of what does not fit. */
const asTopic = (parameter: AbiParameter): AbiParameter =>
  /^(string|bytes|tuple)$|\]$/.test(parameter.type) ? { name: parameter.name!, type: "bytes32" } : parameter;

/** @throws viem's error if the data is too short */
function named(parameters: readonly AbiParameter[], data: Hex): Record<string, unknown> {
  if (parameters.length === 0) return {};
  const values: readonly unknown[] = decodeAbiParameters<readonly AbiParameter[]>(parameters, data);
  return Object.fromEntries(parameters.map(({ name }, k): [string, unknown] => [name!, values[k]]));
}
