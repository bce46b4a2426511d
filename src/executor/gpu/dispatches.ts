import type { Prng } from "../../base/prng.ts";
import { Usage, type GpuBuffer } from "./api.ts";
import type { Gpu } from "./device.ts";
import type { Kernel } from "./kernel.ts";
import type { PagedMemory } from "./pagedMemory.ts";
import { boundText, GROUP, gridOf } from "./wgsl/library.ts";

/** Offsets of parameters that every adapter allows. */
const ALIGNMENT = 256;

/** Operations per dispatch: about 50 ms on a slow GPU. Drivers abort work after some seconds. */
export const MOST_OPERATIONS = 2 ** 33;

/** Options for cutting kernels into dispatches. Bits never depend on these options. */
export type Cutting = {
  /** The most operations of a dispatch, roughly. */
  mostOperations?: number;
  /** The order of a kernel's dispatches is drawn; by default they go in order. */
  order?: Prng;
};

/** A dispatch: some invocations of a kernel. */
export type Part = { pipeline: object; group: object; grid: [number, number]; operations: number };

/** Compiled kernels over a shared memory. Each kernel runs by number, cut into dispatches. */
export class Dispatches {
  readonly #parts: readonly (readonly Part[])[];
  readonly #parameters: GpuBuffer;
  readonly #order: Prng | undefined;

  private constructor(parts: readonly (readonly Part[])[], parameters: GpuBuffer, order: Prng | undefined) {
    this.#parts = parts;
    this.#parameters = parameters;
    this.#order = order;
  }

  /** Compiles kernels; equal texts once. */
  static async prepare(
    gpu: Gpu,
    memory: PagedMemory,
    kernels: readonly Kernel[],
    { mostOperations = MOST_OPERATIONS, order }: Cutting,
  ): Promise<Dispatches> {
    const { device } = gpu;
    const pages = memory.buffers.length;
    const cut = kernels.map((kernel) => cutOf(kernel, mostOperations));
    const places = placesOf(cut.flat());
    const all = device.createBuffer({ size: places.end, usage: Usage.uniform | Usage.copyTarget });
    const pipelines = await Promise.all(
      kernels.map(({ source, parameters }) =>
        gpu.pipeline(boundText(source, parameters.length / 4 + 1, pages, memory.pageBytes / 4), pages),
      ),
    ).catch((error: unknown) => {
      all.destroy();
      throw error;
    });
    const ready = kernels.map(({ operations }, k) =>
      cut[k]!.map((part): Part => {
        const { words, invocations } = part;
        const offset = places.of.get(part)!;
        device.queue.writeBuffer(all, offset, words);
        const buffers = memory.buffers.map((buffer) => ({ buffer }));
        const resources = [{ buffer: all, offset, size: words.byteLength }, ...buffers];
        const entries = resources.map((resource, binding) => ({ binding, resource }));
        const group = device.createBindGroup({ layout: gpu.groupLayout(pages), entries });
        return { pipeline: pipelines[k]!, group, grid: gridOf(invocations), operations: operations * invocations };
      }),
    );
    return new Dispatches(ready, all, order);
  }

  /** The dispatches of a kernel. They do not depend on each other. */
  partsOf(kernel: number): readonly Part[] {
    const parts = this.#parts[kernel]!;
    return this.#order === undefined ? parts : shuffled(parts, this.#order);
  }

  close(): void {
    this.#parameters.destroy();
  }
}

/** A part of a kernel: its parameters. */
type Cut = { words: Uint32Array<ArrayBuffer>; invocations: number };

/** Returns the bytes for a kernel's parameters and the first invocation's number. */
export const parameterBytes = ({ parameters }: Kernel): number => parameters.byteLength + 16;

/** Cuts a kernel into parts: the parameters, followed by the first invocation's number. */
function cutOf({ parameters, invocations, operations }: Kernel, mostOperations: number): Cut[] {
  const most = GROUP * Math.max(1, Math.floor(mostOperations / operations / GROUP));
  return Array.from({ length: Math.ceil(invocations / most) }, (_, k) => {
    const words = new Uint32Array(parameters.length + 4);
    words.set(parameters);
    words[parameters.length] = k * most;
    return { words, invocations: Math.min(most, invocations - k * most) };
  });
}

function placesOf(cuts: readonly Cut[]): { of: Map<Cut, number>; end: number } {
  const of = new Map<Cut, number>();
  let end = 0;
  for (const cut of cuts) {
    of.set(cut, end);
    end += Math.ceil(cut.words.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  return { of, end: Math.max(end, ALIGNMENT) };
}

/** The same in an order that is drawn. */
export function shuffled<T>(list: readonly T[], prng: Prng): T[] {
  const result = [...list];
  for (let k = result.length - 1; k > 0; k--) {
    const other = prng.below(k + 1);
    [result[k], result[other]] = [result[other]!, result[k]!];
  }
  return result;
}
