import { noStats, type CertificateStats } from "../certificateStats.ts";
import { STAGES, type Stage } from "../stages.ts";

/** The 32-bit words shared by a team's threads. */
export const ControlWord = {
  /** Changes whenever there is new work; sleeping workers wait on it. */
  signal: 0,
  /** How many workers sleep. */
  sleepers: 1,
  /** The current step: the number of parts in the upper 16 bits, and the number of taken parts. */
  claim: 2,
  program: 3,
  step: 4,
  /** Parts that workers have finished, modulo 2^32; the first thread waits on it. */
  finished: 5,
  /** Whether the first thread sleeps. */
  awaited: 6,
  /** Whether a job is being executed: workers then look for work for a while before they sleep. */
  running: 7,
  /** Whether the time of each stage is taken. */
  profiled: 8,
  /** The number of messages sent to each worker. */
  messages: 9,
  /** Whether a part failed. */
  failed: 10,
  /** Units of hashing, counted over all jobs, modulo 2^32: ready, taken and done. */
  hashReady: 11,
  hashTaken: 12,
  hashDone: 13,
} as const;

/** The first of the words that record, for each thread, the last loaded program's number. */
const LOADED = 14;
const wordBytes = (threads: number): number => Math.ceil((LOADED + threads) / 2) * 8;
const PARTS_BITS = 16;
const PARTS_UNIT = 1 << PARTS_BITS;

/** The counts of a worker: certificate counts, then milliseconds by stage. */
const counts = Object.keys(noStats()) as (keyof CertificateStats)[];
const TALLY = counts.length + STAGES.length;

/** A team's control block, from one thread's view. */
export class Control {
  readonly buffer: SharedArrayBuffer;
  readonly threads: number;
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly #tallies: Float64Array;

  constructor(buffer: SharedArrayBuffer, threads: number) {
    this.buffer = buffer;
    this.threads = threads;
    this.words = new Int32Array(buffer, 0, LOADED + threads);
    this.#tallies = new Float64Array(buffer, wordBytes(threads));
  }

  static forThreads(threads: number): Control {
    return new Control(new SharedArrayBuffer(wordBytes(threads) + threads * TALLY * 8), threads);
  }

  read(word: number): number {
    return Atomics.load(this.words, word);
  }

  write(word: number, value: number): void {
    Atomics.store(this.words, word, value);
  }

  /** Wakes the workers. */
  signal(): void {
    Atomics.add(this.words, ControlWord.signal, 1);
    if (this.read(ControlWord.sleepers) > 0) Atomics.notify(this.words, ControlWord.signal);
  }

  /** Offers the parts of a step to all threads. All other data of the step must be written before. */
  offer(parts: number): void {
    this.write(ControlWord.claim, parts << PARTS_BITS);
    this.signal();
  }

  /** Takes a part of the current step; undefined if none is left. */
  take(): number | undefined {
    for (;;) {
      const claim = this.read(ControlWord.claim);
      const taken = claim & (PARTS_UNIT - 1);
      if (taken >= claim >>> PARTS_BITS) return undefined;
      // The same word means the same offer, no matter how late a thread takes a part.
      if (Atomics.compareExchange(this.words, ControlWord.claim, claim, claim + 1) === claim) return taken;
    }
  }

  /** Takes a unit of hashing; undefined if none is left. */
  takeHash(): number | undefined {
    for (;;) {
      const taken = this.read(ControlWord.hashTaken);
      if (((this.read(ControlWord.hashReady) - taken) | 0) <= 0) return undefined;
      if (Atomics.compareExchange(this.words, ControlWord.hashTaken, taken, (taken + 1) | 0) === taken) return taken;
    }
  }

  /** Adds 1 to a count, and wakes the first thread if waiting for the count. */
  count(word: number): void {
    Atomics.add(this.words, word, 1);
    if (this.read(ControlWord.awaited) === 1) Atomics.notify(this.words, word);
  }

  /** Notes that a thread can compute a program. Programs are numbered in the order in which they are loaded. */
  writeLoaded(thread: number, program: number): void {
    this.write(LOADED + thread, program);
  }

  /** Whether all workers can compute a program. */
  haveLoaded(program: number): boolean {
    for (let thread = 1; thread < this.threads; thread++) if (this.read(LOADED + thread) < program) return false;
    return true;
  }

  /** Writes a thread's counts since its start. */
  writeTally(thread: number, stats: CertificateStats, milliseconds: Readonly<Record<Stage, number>>): void {
    const at = thread * TALLY;
    counts.forEach((name, k) => (this.#tallies[at + k] = stats[name]));
    STAGES.forEach((stage, k) => (this.#tallies[at + counts.length + k] = milliseconds[stage]));
  }

  readTally(thread: number): Tally {
    const part = this.#tallies.subarray(thread * TALLY, (thread + 1) * TALLY);
    const named = <Name extends string>(names: readonly Name[], from: number): Record<Name, number> =>
      Object.fromEntries(names.map((name, k) => [name, part[from + k]!])) as Record<Name, number>;
    return { stats: named(counts, 0), milliseconds: named(STAGES, counts.length) };
  }
}

export type Tally = { stats: CertificateStats; milliseconds: Record<Stage, number> };
