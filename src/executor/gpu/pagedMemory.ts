import { Usage, type GpuBuffer } from "./api.ts";
import type { Gpu } from "./device.ts";

/** The part of an address range in a single buffer. */
type Piece = { buffer: GpuBuffer; at: number; from: number; bytes: number };

/** A program's memory: consecutive addresses across several buffers. */
export class PagedMemory {
  readonly pageBytes: number;
  readonly buffers: readonly GpuBuffer[];

  /** @param bytes At most what the GPU allows: see `gpuMemory`. */
  constructor({ device, bounds }: Gpu, bytes: number) {
    const { pageBytes } = bounds;
    this.pageBytes = pageBytes;
    this.buffers = Array.from({ length: Math.ceil(bytes / pageBytes) }, (_, k) =>
      device.createBuffer({
        size: Math.ceil(Math.min(pageBytes, bytes - k * pageBytes) / 4) * 4,
        usage: Usage.storage | Usage.copySource | Usage.copyTarget,
      }),
    );
  }

  /** Returns a range's parts in order; `from` counts from the range's start. */
  pieces(address: number, bytes: number): Piece[] {
    const pieces: Piece[] = [];
    for (let from = 0; from < bytes;) {
      const page = Math.floor((address + from) / this.pageBytes);
      const at = address + from - page * this.pageBytes;
      const length = Math.min(bytes - from, this.pageBytes - at);
      pieces.push({ buffer: this.buffers[page]!, at, from, bytes: length });
      from += length;
    }
    return pieces;
  }

  close(): void {
    for (const buffer of this.buffers) buffer.destroy();
  }
}
