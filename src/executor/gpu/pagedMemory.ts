import { Usage, type GpuBuffer } from "./api.ts";
import type { Gpu } from "./device.ts";

/** A part of a range of addresses that lies in one buffer. */
type Piece = { buffer: GpuBuffer; at: number; from: number; bytes: number };

/** The memory of a program: one row of bytes over as many buffers as it takes. */
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

  /** The parts of a range, in order; `from` counts from the range's start. */
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
