import { MAP_READ, Usage, type Encoder, type GpuBuffer, type Pass } from "./api.ts";
import type { Gpu } from "./device.ts";
import { MOST_OPERATIONS, type Dispatches, type Part } from "./dispatches.ts";
import type { PagedMemory } from "./pagedMemory.ts";

/** Requested bytes: the place in the buffer, and the target. */
type Wanted = { at: number; to: Uint8Array };

/** What was read of a GPU's memory: turns in which the CPU waits for the GPU, and bytes. */
export type Readings = { turns: number; bytes: number };

const padded = (bytes: number): number => Math.ceil(bytes / 4) * 4;

/** The most bytes that wait for being read. */
const MOST_WAITING = 2 ** 28;

/**
 * Returns the bytes for the buffer between GPU and reader.
 * @param sizes The expected sizes; with a smaller buffer, reading takes several turns.
 */
const stagingBytes = ({ bounds }: Gpu, sizes: readonly number[]): number =>
  Math.min(
    MOST_WAITING,
    bounds.pageBytes,
    sizes.reduce((sum, size) => sum + padded(size), 4),
  );

/** The work of one execution: recorded, handed to the GPU in order, and read in as few turns as possible. */
export class Session {
  readonly #device: Gpu["device"];
  readonly #memory: PagedMemory;
  readonly #dispatches: Dispatches;
  readonly #staging: GpuBuffer;
  readonly #capacity: number;
  readonly #readings: Readings;
  #encoder: Encoder | undefined;
  #pass: Pass | undefined;
  #recorded = 0;
  #wanted: Wanted[] = [];
  #used = 0;

  /**
   * @param sizes The expected sizes for reading.
   * @param readings Adds up what is read.
   */
  constructor(
    gpu: Gpu,
    memory: PagedMemory,
    dispatches: Dispatches,
    sizes: readonly number[],
    readings: Readings = { turns: 0, bytes: 0 },
  ) {
    this.#device = gpu.device;
    this.#readings = readings;
    this.#memory = memory;
    this.#dispatches = dispatches;
    this.#capacity = stagingBytes(gpu, sizes);
    this.#staging = gpu.device.createBuffer({ size: this.#capacity, usage: Usage.mapRead | Usage.copyTarget });
  }

  /** Runs a kernel after all that is recorded. */
  run(kernel: number): void {
    for (const part of this.#dispatches.partsOf(kernel)) this.#record(part);
  }

  #record({ pipeline, group, grid, operations }: Part): void {
    if (this.#recorded + operations > MOST_OPERATIONS) this.#submit();
    this.#recorded += operations;
    this.#encoder ??= this.#device.createCommandEncoder();
    this.#pass ??= this.#encoder.beginComputePass();
    this.#pass.setPipeline(pipeline);
    this.#pass.setBindGroup(0, group);
    this.#pass.dispatchWorkgroups(...grid);
  }

  /** Writes bytes; what is recorded is handed over first. */
  write(address: number, bytes: Uint8Array): void {
    this.#submit();
    const isWhole = bytes.length % 4 === 0;
    const whole = isWhole ? bytes : new Uint8Array(padded(bytes.length));
    if (!isWhole) whole.set(bytes);
    for (const { buffer, at, from, bytes: length } of this.#memory.pieces(address, whole.length))
      this.#device.queue.writeBuffer(buffer, at, whole.subarray(from, from + length));
  }

  /** Requests the current bytes at an address; the next {@link finish} fills `to`, if not an earlier turn. */
  async read(address: number, to: Uint8Array): Promise<void> {
    for (const { buffer, at, from, bytes } of this.#memory.pieces(address, to.length)) {
      for (let begun = 0; begun < bytes;) {
        if (this.#used === this.#capacity) await this.finish();
        const length = Math.min(bytes - begun, this.#capacity - this.#used);
        this.#pass?.end();
        this.#pass = undefined;
        this.#encoder ??= this.#device.createCommandEncoder();
        this.#encoder.copyBufferToBuffer(buffer, at + begun, this.#staging, this.#used, padded(length));
        this.#wanted.push({ at: this.#used, to: to.subarray(from + begun, from + begun + length) });
        this.#used += padded(length);
        begun += length;
      }
    }
  }

  /** Executes everything recorded, and fills every target. */
  async finish(): Promise<void> {
    this.#submit();
    const wanted = this.#wanted;
    this.#wanted = [];
    this.#used = 0;
    await this.#staging.mapAsync(MAP_READ);
    const mapped = new Uint8Array(this.#staging.getMappedRange());
    for (const { at, to } of wanted) to.set(mapped.subarray(at, at + to.length));
    this.#staging.unmap();
    this.#readings.turns++;
    for (const { to } of wanted) this.#readings.bytes += to.length;
  }

  close(): void {
    this.#staging.destroy();
  }

  #submit(): void {
    this.#pass?.end();
    this.#pass = undefined;
    if (this.#encoder !== undefined) this.#device.queue.submit([this.#encoder.finish()]);
    this.#encoder = undefined;
    this.#recorded = 0;
  }
}
