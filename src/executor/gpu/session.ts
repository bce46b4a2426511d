import { MAP_READ, Usage, type Encoder, type GpuBuffer, type GpuDevice, type Pass } from "./api.ts";
import type { Dispatches } from "./dispatches.ts";

type Wanted = { at: number; bytes: number; take: (bytes: Uint8Array<ArrayBuffer>) => void };

const padded = (bytes: number): number => Math.ceil(bytes / 4) * 4;

/** The most bytes that wait for being read. */
const MOST_WAITING = 2 ** 28;

/**
 * The bytes of memory through which results are read.
 * @param sizes The sizes of all that will be asked for.
 */
export const stagingBytes = (sizes: readonly number[]): number => {
  const all = sizes.map(padded);
  return Math.max(
    4,
    ...all,
    Math.min(
      MOST_WAITING,
      all.reduce((sum, size) => sum + size, 0),
    ),
  );
};

/** The work of one execution: recorded, handed to the GPU in order, and read in as few turns as possible. */
export class Session {
  readonly #device: GpuDevice;
  readonly #memory: GpuBuffer;
  readonly #dispatches: Dispatches;
  readonly #staging: GpuBuffer;
  readonly #capacity: number;
  #encoder: Encoder | undefined;
  #pass: Pass | undefined;
  #wanted: Wanted[] = [];
  #used = 0;

  /** @param capacity {@link stagingBytes} of what will be read. */
  constructor(device: GpuDevice, memory: GpuBuffer, dispatches: Dispatches, capacity: number) {
    this.#device = device;
    this.#memory = memory;
    this.#dispatches = dispatches;
    this.#capacity = capacity;
    this.#staging = device.createBuffer({ size: capacity, usage: Usage.mapRead | Usage.copyTarget });
  }

  /** Runs a kernel after all that is recorded. */
  run(kernel: number): void {
    this.#encoder ??= this.#device.createCommandEncoder();
    this.#pass ??= this.#encoder.beginComputePass();
    this.#dispatches.run(this.#pass, kernel);
  }

  /** Writes bytes; what is recorded is handed over first. */
  write(address: number, bytes: Uint8Array): void {
    this.#submit();
    const isWhole = bytes.length % 4 === 0;
    const whole = isWhole ? bytes : new Uint8Array(padded(bytes.length));
    if (!isWhole) whole.set(bytes);
    this.#device.queue.writeBuffer(this.#memory, address, whole);
  }

  /** Asks for the bytes that lie at an address then; `take` gets a copy at the next {@link finish}, or sooner. */
  async read(address: number, bytes: number, take: Wanted["take"]): Promise<void> {
    if (this.#used + padded(bytes) > this.#capacity) await this.finish();
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder ??= this.#device.createCommandEncoder();
    this.#encoder.copyBufferToBuffer(this.#memory, address, this.#staging, this.#used, padded(bytes));
    this.#wanted.push({ at: this.#used, bytes, take });
    this.#used += padded(bytes);
  }

  /** Executes all that is recorded, and hands out what was asked for. */
  async finish(): Promise<void> {
    this.#submit();
    const wanted = this.#wanted;
    this.#wanted = [];
    this.#used = 0;
    await this.#staging.mapAsync(MAP_READ);
    const mapped = this.#staging.getMappedRange();
    const copies = wanted.map(({ at, bytes }) => new Uint8Array(mapped.slice(at, at + bytes)));
    this.#staging.unmap();
    wanted.forEach(({ take }, k) => take(copies[k]!));
  }

  close(): void {
    this.#staging.destroy();
  }

  #submit(): void {
    this.#pass?.end();
    this.#pass = undefined;
    if (this.#encoder !== undefined) this.#device.queue.submit([this.#encoder.finish()]);
    this.#encoder = undefined;
  }
}
