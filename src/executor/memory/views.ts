import { DType, dtypeBytes, type DType as DTypeCode } from "../../numerics/dtype.ts";
import type { TensorArray } from "../arrays.ts";
import { ExecutionMemoryError } from "../errors.ts";

/** Typed views for a whole memory that never grows, and for parts. Addresses are in bytes. */
export class Views {
  readonly buffer: ArrayBufferLike;
  readonly bytes: Uint8Array;

  constructor(memory: WebAssembly.Memory) {
    this.buffer = memory.buffer;
    this.bytes = new Uint8Array(this.buffer);
  }

  float64(address: number, length: number): Float64Array {
    return new Float64Array(this.buffer as ArrayBuffer, address, length);
  }

  float32(address: number, length: number): Float32Array {
    return new Float32Array(this.buffer as ArrayBuffer, address, length);
  }

  uint32(address: number, length: number): Uint32Array {
    return new Uint32Array(this.buffer as ArrayBuffer, address, length);
  }

  int32(address: number, length: number): Int32Array {
    return new Int32Array(this.buffer as ArrayBuffer, address, length);
  }

  /** `count` elements of a type; bigints for the 64-bit ones, four lanes a limb. */
  elements(address: number, dtype: DTypeCode, count: number): TensorArray {
    const buffer = this.buffer as ArrayBuffer;
    switch (dtype) {
      case DType.float32:
        return new Float32Array(buffer, address, count);
      case DType.int32:
        return new Int32Array(buffer, address, count);
      case DType.uint32:
        return new Uint32Array(buffer, address, count);
      case DType.int16:
        return new Int16Array(buffer, address, count);
      case DType.uint16:
        return new Uint16Array(buffer, address, count);
      case DType.int8:
        return new Int8Array(buffer, address, count);
      case DType.int64:
        return new BigInt64Array(buffer, address, count);
      case DType.uint64:
      case DType.limb:
        return new BigUint64Array(buffer, address, (count * dtypeBytes(dtype)) / 8);
      default:
        return new Uint8Array(buffer, address, count);
    }
  }

  /** Returns the bytes in a part of the memory, without copying. */
  part(address: number, length: number): Uint8Array {
    return new Uint8Array(this.buffer as ArrayBuffer, address, length);
  }
}

const PAGE_BYTES = 2 ** 16;

/**
 * Allocates a memory for exactly `bytes`, rounded up to pages. Worker threads share it to compute in it.
 * @throws ExecutionMemoryError if the machine cannot provide enough memory.
 */
export function memoryOf(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  } catch (cause) {
    const mebibytes = Math.ceil(bytes / 2 ** 20);
    throw new ExecutionMemoryError(
      `the program needs ${mebibytes} MiB of memory, which this process is not given (${(cause as Error).message}); ` +
        "raise the limit of the process or use smaller input shapes",
      { cause },
    );
  }
}

/** A program's memories: the memory for computation, and further memories for reading constants only. */
export type ProgramMemories = { memory: WebAssembly.Memory; far: readonly WebAssembly.Memory[] };
