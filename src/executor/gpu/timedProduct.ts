import type { Gpu } from "./device.ts";
import { createGpuExecutor } from "./executor.ts";
import type { ResidueKind } from "./product/moduli.ts";
import { productStep, separateModel } from "./selfTest.ts";

/**
 * Executes a square product of float32, all of whose sums are settled by the certificate.
 * @param size Rows, columns and terms.
 * @returns The milliseconds of each time; kernels are compiled before the first
 */
export async function timedProduct(gpu: Gpu, kind: ResidueKind, size: number, times: number): Promise<number[]> {
  const model = separateModel([productStep(size, size, size)]);
  // Small whole numbers: their sums are exact.
  const numbers = Float32Array.from({ length: size * size }, (_, k) => (k % 7) + 1);
  const inputs = [numbers, numbers].map(({ buffer }) => new Uint8Array(buffer));
  const executor = await createGpuExecutor(model, gpu, { products: { kind } });
  const took: number[] = [];
  try {
    for (let k = 0; k <= times; k++) {
      const began = performance.now();
      await executor.run(inputs);
      took.push(performance.now() - began);
    }
  } finally {
    await executor.close();
  }
  return took.slice(1);
}
