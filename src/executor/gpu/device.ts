import { CannotRunHereError } from "../../base/platform.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { withPackages } from "../../base/optionalPackage.ts";
import { ExecutionDeviceError } from "../errors.ts";
import { COMPUTE_STAGE, type GpuAdapter, type GpuDevice, type GpuEntry, type GpuLimits } from "./api.ts";

/** What a GPU says of itself. */
export type GpuFacts = {
  /** Model and driver, as far as they are known. */
  name: string;
  vendor: string;
  /** The driver with its version; empty in browsers. */
  driver: string;
  /** Whether a program of the processors computes in place of a GPU. */
  isSoftware: boolean;
  /** The maximum bytes for a program on the GPU. */
  maxBytes: number;
};

const INSTALL = "install the driver of the GPU (on Debian, libvulkan1 and a Vulkan driver), or compute on the CPU";

/**
 * WebGPU's objects. The entry is kept for good: once collected, the package's threads end the process.
 * @throws MissingPackageError without the package `webgpu`
 */
let entry: Promise<GpuEntry> | undefined;
const packageEntry = (): Promise<GpuEntry> =>
  (entry ??= withPackages(["webgpu"], "computing on a GPU", async () => {
    // A browser has WebGPU, and Node has a package.
    const { gpu } = (globalThis as { navigator?: { gpu?: GpuEntry } }).navigator ?? {};
    if (gpu !== undefined) return gpu;
    const name = "webgpu";
    const { create } = (await import(/* @vite-ignore */ name)) as { create(this: void, flags: string[]): GpuEntry };
    return create([]);
  }));

/** The GPUs that this machine offers: the fast adapter and the frugal adapter, if both differ. */
async function adapters(): Promise<GpuAdapter[]> {
  const gpu = await packageEntry();
  const found = await Promise.all(
    (["high-performance", "low-power"] as const).map((powerPreference) => gpu.requestAdapter({ powerPreference })),
  );
  const known = new Map(found.flatMap((adapter) => (adapter === null ? [] : [[nameOf(adapter), adapter] as const])));
  return [...known.values()];
}

/** The package gives the model as `device` and the driver as `description`. */
const nameOf = ({ info }: GpuAdapter): string =>
  [info.device.replace(/-+$/, ""), info.description].filter((text) => text !== "").join(", ") ||
  info.vendor ||
  "unnamed GPU";

/** Kernels address 32-bit words with 32-bit numbers. */
const MOST_BYTES = 2 ** 34;

/** A GPU's limits. */
export type Bounds = {
  /** The maximum bytes per buffer. */
  pageBytes: number;
  /** The maximum buffers per kernel. */
  pages: number;
  /** The maximum bytes for a kernel's parameters. */
  uniformBytes: number;
  /** Whether shaders can multiply four bytes at once. */
  hasDot4: boolean;
};

function boundsOf(limits: GpuLimits): Omit<Bounds, "hasDot4"> {
  const bound = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  const pageBytes = Math.floor(bound / PAGE_ALIGNMENT) * PAGE_ALIGNMENT;
  return { pageBytes, pages: limits.maxStorageBuffersPerShaderStage, uniformBytes: limits.maxUniformBufferBindingSize };
}

const PAGE_ALIGNMENT = 256;
const DOT4 = "packed_4x8_integer_dot_product";

/** The maximum bytes for kernels, by buffers and by words. */
export const maxBytesOf = ({ pageBytes, pages }: Pick<Bounds, "pageBytes" | "pages">): number =>
  Math.min(MOST_BYTES, pageBytes * pages);

const factsOf = (adapter: GpuAdapter): GpuFacts => ({
  name: nameOf(adapter),
  vendor: adapter.info.vendor,
  driver: adapter.info.description,
  isSoftware: adapter.info.isFallbackAdapter ?? false,
  maxBytes: maxBytesOf(boundsOf(adapter.limits)),
});

/** The GPUs of this machine. @throws MissingPackageError */
export const listGpus = async (): Promise<GpuFacts[]> => (await adapters()).map(factsOf);

/**
 * Opens a GPU.
 * @param name A part of the GPU's name; by default the fastest GPU.
 * @throws MissingPackageError without the package `webgpu`; CannotRunHereError without such a GPU.
 */
export async function openGpu(name?: string): Promise<Gpu> {
  const found = await adapters();
  const adapter = found.find((each) => name === undefined || nameOf(each).toLowerCase().includes(name.toLowerCase()));
  if (adapter === undefined) {
    const others = found.map((each) => `"${nameOf(each)}"`).join(", ");
    throw new CannotRunHereError(
      found.length === 0
        ? `no GPU is found here: ${INSTALL}`
        : `no GPU here is named "${name!}": there is ${others}; name one of these`,
    );
  }
  const { limits } = adapter;
  const requiredLimits = {
    maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
    maxBufferSize: limits.maxBufferSize,
    maxUniformBufferBindingSize: limits.maxUniformBufferBindingSize,
    maxStorageBuffersPerShaderStage: limits.maxStorageBuffersPerShaderStage,
  };
  const device = await adapter.requestDevice({ requiredLimits }).catch((cause: Error) => {
    throw new CannotRunHereError(`${nameOf(adapter)} cannot be opened: ${cause.message}; ${INSTALL}`, { cause });
  });
  return new Gpu(device, factsOf(adapter), {
    ...boundsOf(limits),
    hasDot4: (await packageEntry()).wgslLanguageFeatures?.has(DOT4) ?? false,
  });
}

/** The names of errors that WebGPU's own promises end with. */
const ERRORS = ["OperationError", "AbortError", "GPUPipelineError"];

/** Without a result for so many milliseconds, the driver counts as hanging. */
const MAX_MS = 600_000;

type Layout = { group: object; pipeline: object };

/** An open GPU, and the kernels compiled for it. Programs share kernels of the same text. */
export class Gpu {
  readonly device: GpuDevice;
  readonly facts: GpuFacts;
  readonly bounds: Bounds;
  readonly #maxMs: number;
  readonly #layouts = new Map<number, Layout>();
  readonly #pipelines = new Map<string, Promise<object>>();
  #fault: ExecutionDeviceError | undefined;
  #watched: Promise<unknown> = Promise.resolve();
  #hangs = false;
  #isClosed = false;

  constructor(device: GpuDevice, facts: GpuFacts, bounds: Bounds, maxMs = MAX_MS) {
    this.device = device;
    this.#maxMs = maxMs;
    this.facts = facts;
    this.bounds = bounds;
    void device.lost.then(({ reason, message }) => {
      if (!this.#isClosed) this.fail(`the GPU was lost (${reason}): ${message}`);
    });
  }

  /** Returns the compiled kernel for a whole shader and a memory with this number of buffers. */
  pipeline(source: string, pages: number): Promise<object> {
    return getOrAdd(this.#pipelines, source, () => {
      const module = this.device.createShaderModule({ code: source });
      const compute = { module, entryPoint: "main" };
      return this.device.createComputePipelineAsync({ layout: this.#layoutOf(pages).pipeline, compute });
    });
  }

  /** Returns the binding layout: parameters, and a memory with this number of buffers. */
  groupLayout(pages: number): object {
    return this.#layoutOf(pages).group;
  }

  #layoutOf(pages: number): Layout {
    return getOrAdd(this.#layouts, pages, () => {
      const types = ["uniform", ...new Array<string>(pages).fill("storage")];
      const entries = types.map((type, binding) => ({ binding, visibility: COMPUTE_STAGE, buffer: { type } }));
      const group = this.device.createBindGroupLayout({ entries });
      return { group, pipeline: this.device.createPipelineLayout({ bindGroupLayouts: [group] }) };
    });
  }

  /** Ends the use of this GPU for good. @param Kind The error for the finding. */
  fail(finding: string, Kind = ExecutionDeviceError): ExecutionDeviceError {
    this.#fault ??= new Kind(
      `${this.facts.name}: ${finding}; nothing more is computed there: compute on the CPU (--device cpu)`,
    );
    return this.#fault;
  }

  /** @throws ExecutionDeviceError if this GPU failed before */
  requireWell(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /**
   * Runs something and throws WebGPU's errors about memory and about use. One work comes after another, because the
   * scopes of errors are a stack of the device: works side by side would end each other's scopes.
   * @throws ExecutionDeviceError
   */
  watched<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#watched.then(() => this.#watch(work));
    this.#watched = result.catch(() => undefined);
    return result;
  }

  async #watch<T>(work: () => T | Promise<T>): Promise<T> {
    this.requireWell();
    this.device.pushErrorScope("out-of-memory");
    this.device.pushErrorScope("validation");
    this.device.pushErrorScope("internal");
    let result: T | undefined;
    let thrown: Error | undefined;
    try {
      result = await this.#inTime(work);
    } catch (error) {
      // A hanging driver would not answer below.
      if (this.#hangs) throw error;
      thrown = error as Error;
    }
    const errors = [await this.device.popErrorScope(), await this.device.popErrorScope()];
    const error = errors.find((each) => each !== null) ?? (await this.device.popErrorScope());
    this.requireWell();
    if (error) throw this.fail(error.message.split("\n")[0]!);
    if (thrown !== undefined) throw ERRORS.includes(thrown.name) ? this.fail(thrown.message.split("\n")[0]!) : thrown;
    return result as T;
  }

  /** @throws ExecutionDeviceError without a result in time */
  async #inTime<T>(work: () => T | Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#hangs = true;
        reject(this.fail(`no result after ${this.#maxMs / 1_000} seconds`));
      }, this.#maxMs);
    });
    try {
      return await Promise.race([work(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.device.destroy();
  }
}
