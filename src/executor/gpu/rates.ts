import { MAP_READ, Usage, type GpuBuffer } from "./api.ts";
import type { Gpu } from "./device.ts";

/** What kernels measured on a GPU. */
export type GpuRates = {
  /** Products of bytes that are added, a second; undefined where shaders have no products of four bytes. */
  int8: number | undefined;
  /** Fused products and sums of float32, a second. */
  float32: number;
  /** Bytes read a second: the median over the filled buffers, and the slowest buffer. */
  memory: number;
  slowestMemory: number;
  /** Bytes that were filled at the same time and read back right, and words that were read back wrong. */
  filledBytes: number;
  wrongWords: number;
};

type RateOptions = {
  /** The most bytes to fill. Drivers may take the machine's memory once the card's is full: slow buffers show it. */
  fillBytes: number;
  /** How long a measurement lasts at least. Drivers with time limits allow some two seconds. */
  milliseconds?: number;
};

const GROUP = 64;
/** Workgroups of a dispatch: more than any GPU executes at the same time. */
const GROUPS = 4_096;
const LANES = GROUP * GROUPS;
/** The largest buffer that is filled. */
const MAX_BUFFER = 2 ** 30;
const MAX_ROUNDS = 2 ** 24;

const head = (buffers: readonly string[]): string =>
  [
    "@group(0) @binding(0) var<uniform> P: vec4u;",
    ...buffers.map((type, k) => `@group(0) @binding(${k + 1}) var<storage, read_write> b${k}: array<${type}>;`),
    `@compute @workgroup_size(${GROUP}) fn main(@builtin(global_invocation_id) id: vec3u) {`,
  ].join("\n");

/** Products per lane in a round of a kernel. */
const INT8 = 4 * 16;
const INT8_ROUND = `s += vec4i(${["y", "z", "w", "x"].map((n) => `dot4I8Packed(a, u32(s.${n}))`).join(", ")});`;
const INT8_TEXT = `${head(["u32"])}
  let a = id.x * 0x9e3779b1u + P.y;
  var s = vec4i(i32(a), 1, 2, 3);
  for (var k = 0u; k < P.x; k++) {
    ${INT8_ROUND.repeat(INT8 / 16)}
  }
  b0[id.x] = u32(s.x ^ s.y ^ s.z ^ s.w);
}`;
const FLOAT = 4 * 8;
const FLOAT_TEXT = `${head(["u32"])}
  let a = vec4f(f32(id.x) * 1e-9 + 0.5);
  var s = array(a, a + 0.1, a + 0.2, a + 0.3);
  for (var k = 0u; k < P.x; k++) {
    ${[0, 1, 2, 3, 0, 1, 2, 3].map((n) => `s[${n}] = fma(s[${n}], a, a);`).join(" ")}
  }
  b0[id.x] = bitcast<u32>(dot(s[0] + s[1], s[2] + s[3]));
}`;

/** A word for each place, made of the buffer's number: no driver can give it without keeping it. */
const WORD = "((i + P.y) * 0x9e3779b1u) ^ ((i >> 15u) * 0x85ebca6bu)";
const FILL_TEXT = `${head(["u32", "u32"])}
  for (var i = id.x; i < P.x; i += ${LANES}u) { b0[i] = ${WORD}; }
}`;
const CHECK_TEXT = `${head(["u32", "atomic<u32>"])}
  var wrong = 0u;
  for (var i = id.x; i < P.x; i += ${LANES}u) { wrong += select(0u, 1u, b0[i] != (${WORD})); }
  if (wrong != 0u) { atomicAdd(&b1[0], wrong); }
}`;

/**
 * Measures a GPU: rates for the operations in products, and memory by filling the memory. Owners of machines can forge
 * drivers and names; work that was done in a time cannot be forged by these, only lent by another GPU.
 * @throws ExecutionDeviceError
 */
export async function measureRates(gpu: Gpu, { fillBytes, milliseconds = 250 }: RateOptions): Promise<GpuRates> {
  const bench = new Bench(gpu);
  try {
    const int8 = gpu.bounds.hasDot4 ? LANES * INT8 * (await bench.roundsASecond(INT8_TEXT, milliseconds)) : undefined;
    const float32 = LANES * FLOAT * (await bench.roundsASecond(FLOAT_TEXT, milliseconds));
    return { int8, float32, ...(await bench.fill(fillBytes)) };
  } finally {
    bench.close();
  }
}

/** Runs single kernels, and waits for each. */
class Bench {
  readonly #gpu: Gpu;
  readonly #parameters: GpuBuffer;
  readonly #out: GpuBuffer;
  readonly #staging: GpuBuffer;

  constructor(gpu: Gpu) {
    this.#gpu = gpu;
    const { device } = gpu;
    this.#parameters = device.createBuffer({ size: 16, usage: Usage.uniform | Usage.copyTarget });
    this.#out = device.createBuffer({ size: 4 * LANES, usage: STORAGE });
    this.#staging = device.createBuffer({ size: 4, usage: Usage.mapRead | Usage.copyTarget });
  }

  close(): void {
    for (const buffer of [this.#parameters, this.#out, this.#staging]) buffer.destroy();
  }

  /** Repeats more rounds, until they take long enough to be measured. */
  async roundsASecond(source: string, milliseconds: number): Promise<number> {
    const buffers = [this.#out];
    // The first run compiles.
    await this.#run(source, buffers, 1, 0);
    for (let rounds = 1; ; rounds *= 4) {
      const took = await this.#run(source, buffers, rounds, rounds);
      if (took >= milliseconds || rounds >= MAX_ROUNDS) return (rounds * 1_000) / took;
    }
  }

  /** Fills buffers until no more is given, and reads them all. */
  async fill(most: number): Promise<Pick<GpuRates, "memory" | "slowestMemory" | "filledBytes" | "wrongWords">> {
    const filled: { buffer: GpuBuffer; words: number }[] = [];
    try {
      for (let left = most; left >= 4;) {
        const size = 4 * Math.floor(Math.min(left, MAX_BUFFER, this.#gpu.bounds.pageBytes) / 4);
        const buffer = await this.#given(size);
        if (buffer === undefined) break;
        const words = size / 4;
        filled.push({ buffer, words });
        await this.#run(FILL_TEXT, [buffer, this.#out], words, filled.length);
        left -= size;
      }
      await this.#clear();
      const rates: number[] = [];
      for (const [k, { buffer, words }] of filled.entries()) {
        const took = await this.#run(CHECK_TEXT, [buffer, this.#out], words, k + 1);
        rates.push((4 * words * 1_000) / took);
      }
      rates.sort((a, b) => a - b);
      return {
        memory: rates[rates.length >> 1] ?? 0,
        slowestMemory: rates[0] ?? 0,
        filledBytes: 4 * filled.reduce((sum, { words }) => sum + words, 0),
        wrongWords: filled.length === 0 ? 0 : await this.#first(),
      };
    } finally {
      for (const { buffer } of filled) buffer.destroy();
    }
  }

  /** A buffer; undefined if the GPU has no room for it. */
  async #given(size: number): Promise<GpuBuffer | undefined> {
    const { device } = this.#gpu;
    device.pushErrorScope("out-of-memory");
    const buffer = device.createBuffer({ size, usage: STORAGE });
    if ((await device.popErrorScope()) === null) return buffer;
    buffer.destroy();
    return undefined;
  }

  #clear(): Promise<void> {
    return this.#gpu.watched(() => this.#gpu.device.queue.writeBuffer(this.#out, 0, new Uint32Array(1)));
  }

  /** The first word of the results. */
  #first(): Promise<number> {
    const { device } = this.#gpu;
    return this.#gpu.watched(async () => {
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(this.#out, 0, this.#staging, 0, 4);
      device.queue.submit([encoder.finish()]);
      await this.#staging.mapAsync(MAP_READ);
      const [word] = new Uint32Array(this.#staging.getMappedRange());
      this.#staging.unmap();
      return word!;
    });
  }

  /** Runs a kernel and waits for its end. @returns milliseconds */
  #run(source: string, buffers: readonly GpuBuffer[], x: number, y: number): Promise<number> {
    const { device } = this.#gpu;
    return this.#gpu.watched(async () => {
      const pipeline = await this.#gpu.pipeline(source, buffers.length);
      device.queue.writeBuffer(this.#parameters, 0, Uint32Array.of(x, y, 0, 0));
      const resources = [this.#parameters, ...buffers].map((buffer, binding) => ({ binding, resource: { buffer } }));
      const group = device.createBindGroup({ layout: this.#gpu.groupLayout(buffers.length), entries: resources });
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(GROUPS, 1);
      pass.end();
      encoder.copyBufferToBuffer(this.#out, 0, this.#staging, 0, 4);
      const began = performance.now();
      device.queue.submit([encoder.finish()]);
      await this.#staging.mapAsync(MAP_READ);
      const took = performance.now() - began;
      this.#staging.unmap();
      return took;
    });
  }
}

const STORAGE = Usage.storage | Usage.copySource | Usage.copyTarget;
