/** The used part of WebGPU, in browsers and in the package `webgpu`. */

export type GpuBuffer = {
  mapAsync(mode: number): Promise<void>;
  getMappedRange(): ArrayBuffer;
  unmap(): void;
  destroy(): void;
};

export type Pass = {
  setPipeline(pipeline: object): void;
  setBindGroup(index: number, group: object): void;
  dispatchWorkgroups(x: number, y: number): void;
  end(): void;
};

export type Encoder = {
  beginComputePass(): Pass;
  copyBufferToBuffer(from: GpuBuffer, fromAt: number, to: GpuBuffer, toAt: number, bytes: number): void;
  finish(): object;
};

type Lost = { reason: string; message: string };

export type GpuDevice = {
  readonly lost: Promise<Lost>;
  readonly queue: {
    submit(commands: readonly object[]): void;
    writeBuffer(buffer: GpuBuffer, at: number, bytes: Uint8Array | Uint32Array): void;
  };
  createBuffer(description: { size: number; usage: number }): GpuBuffer;
  createShaderModule(description: { code: string }): object;
  createBindGroupLayout(description: object): object;
  createPipelineLayout(description: object): object;
  createBindGroup(description: object): object;
  createComputePipelineAsync(description: object): Promise<object>;
  createCommandEncoder(): Encoder;
  pushErrorScope(filter: "validation" | "out-of-memory" | "internal"): void;
  popErrorScope(): Promise<{ message: string } | null>;
  destroy(): void;
};

export type GpuLimits = {
  maxStorageBufferBindingSize: number;
  maxBufferSize: number;
  maxUniformBufferBindingSize: number;
  maxStorageBuffersPerShaderStage: number;
};

export type GpuAdapter = {
  readonly limits: GpuLimits;
  readonly info: {
    vendor: string;
    architecture: string;
    device: string;
    description: string;
    isFallbackAdapter?: boolean;
  };
  requestDevice(description: { requiredLimits: Record<string, number> }): Promise<GpuDevice>;
};

export type GpuEntry = {
  /** The extensions to the shader language on this machine. */
  readonly wgslLanguageFeatures?: { has(name: string): boolean };
  requestAdapter(options?: { powerPreference?: "high-performance" | "low-power" }): Promise<GpuAdapter | null>;
};

/** Flags of WebGPU (GPUBufferUsage, GPUMapMode, GPUShaderStage), fixed by its specification. */
export const Usage = { mapRead: 1, copySource: 4, copyTarget: 8, uniform: 64, storage: 128 } as const;
export const MAP_READ = 1;
export const COMPUTE_STAGE = 4;
