import { depthOf, HASH_BYTES, nodesAt } from "../../program/merkle/sizes.ts";
import { chunksOf } from "../../program/merkle/levels.ts";
import { Usage, type GpuBuffer, type Pass } from "./api.ts";
import type { Gpu } from "./device.ts";
import { gridOf, shaderOf } from "./wgsl/library.ts";
import { LEAVES, NODES } from "./wgsl/sha256.ts";

/** A kernel to run: the shader's text, its parameters, and the number of invocations. */
export type Kernel = { source: string; parameters: Uint32Array<ArrayBuffer>; invocations: number };

/** Offsets of parameters that every adapter allows. */
const ALIGNMENT = 256;

/** The kernels that hash a tensor into the nodes of its tree. All addresses are in bytes. */
export function hashKernels(tensor: number, bytes: number, nodes: number, zeros: number): Kernel[] {
  const width = chunksOf(bytes);
  const [leaves, above] = [shaderOf(LEAVES, 1), shaderOf(NODES, 1)];
  const words = [tensor / 4, Math.ceil(bytes / 4), width, nodes / 4];
  const kernels = [{ source: leaves, parameters: Uint32Array.from(words), invocations: width }];
  let at = nodes;
  for (let height = 0; height < depthOf(width); height++) {
    const below = nodesAt(width, height);
    const next = at + below * HASH_BYTES;
    const parameters = Uint32Array.of(at / 4, (zeros + height * HASH_BYTES) / 4, next / 4, below);
    kernels.push({ source: above, parameters, invocations: nodesAt(width, height + 1) });
    at = next;
  }
  return kernels;
}

type Ready = { pipeline: object; group: object; grid: [number, number] };

/** Compiled kernels over a shared memory. Each kernel runs by number. */
export class Dispatches {
  readonly #ready: readonly Ready[];
  readonly #parameters: GpuBuffer;

  private constructor(ready: readonly Ready[], parameters: GpuBuffer) {
    this.#ready = ready;
    this.#parameters = parameters;
  }

  /** Compiles kernels; equal texts once. */
  static async prepare(gpu: Gpu, memory: GpuBuffer, kernels: readonly Kernel[]): Promise<Dispatches> {
    const { device } = gpu;
    let end = 0;
    const places = kernels.map(({ parameters }) => {
      const offset = end;
      end += Math.ceil(parameters.byteLength / ALIGNMENT) * ALIGNMENT;
      return offset;
    });
    const all = device.createBuffer({ size: Math.max(end, ALIGNMENT), usage: Usage.uniform | Usage.copyTarget });
    const ready: Ready[] = [];
    for (const [k, { source, parameters, invocations }] of kernels.entries()) {
      device.queue.writeBuffer(all, places[k]!, parameters);
      const pipeline = await gpu.pipeline(source);
      const group = device.createBindGroup({
        layout: gpu.layout,
        entries: [
          { binding: 0, resource: { buffer: memory } },
          { binding: 1, resource: { buffer: all, offset: places[k]!, size: parameters.byteLength } },
        ],
      });
      ready.push({ pipeline, group, grid: gridOf(invocations) });
    }
    return new Dispatches(ready, all);
  }

  /** Runs a kernel after all earlier ones of the pass. */
  run(pass: Pass, kernel: number): void {
    const { pipeline, group, grid } = this.#ready[kernel]!;
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(...grid);
  }

  close(): void {
    this.#parameters.destroy();
  }
}
