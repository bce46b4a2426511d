import { DType, dtypeBytes } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { writeWord } from "../../src/numerics/dtype.ts";
import type { Prng } from "./prng.ts";

/** Seeded tensors of ordinary numbers, and shapes. */
export class RandomTensors {
  readonly prng: Prng;

  constructor(prng: Prng) {
    this.prng = prng;
  }

  /** Uniform in low .. high. */
  int(low: number, high: number): number {
    return low + this.prng.below(high - low + 1);
  }

  pick<T>(choices: readonly T[]): T {
    return this.prng.pick(choices);
  }

  shape(rank: number, largest = 5): number[] {
    return Array.from({ length: rank }, () => this.int(1, largest));
  }

  /** Multiples of 1/64 in low .. high: plain numbers that are rarely equal. */
  float(shape: readonly number[], low = -4, high = 4): TensorData {
    const values = Array.from({ length: elementCount(shape) }, () => this.int(low * 64, high * 64) / 64);
    return floatTensor(values, shape);
  }

  integer(dtype: DType, shape: readonly number[], low: number, high: number): TensorData {
    const count = elementCount(shape);
    const bytes = new Uint8Array(count * 8);
    for (let i = 0; i < count; i++) writeWord(bytes, i, dtype, BigInt(this.int(low, high)));
    return { dtype, shape, bytes: bytes.slice(0, count * dtypeBytes(dtype)) };
  }

  bool(shape: readonly number[]): TensorData {
    return this.integer(DType.bool, shape, 0, 1);
  }

  /** A shape that broadcasts to `shape`. */
  broadcastable(shape: readonly number[]): number[] {
    const kept = shape.slice(this.int(0, shape.length));
    return kept.map((dim) => (this.int(0, 2) === 0 ? 1 : dim));
  }

  permutation(rank: number): number[] {
    const perm = Array.from({ length: rank }, (_, i) => i);
    for (let i = rank - 1; i > 0; i--) {
      const j = this.int(0, i);
      [perm[i], perm[j]] = [perm[j]!, perm[i]!];
    }
    return perm;
  }
}
