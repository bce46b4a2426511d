import { EngineUnfitError } from "../errors.ts";
import type { MatMulEngine } from "./matMulEngine.ts";

const SMALLEST = 2 ** -149;
const SIDE = 64;
const INNER = 33;

/**
 * Rejects an engine or a process without IEEE 754 arithmetic. An addon built with -ffast-math flushes subnormals for
 * the whole process and makes results wrong.
 * @throws EngineUnfitError
 */
export async function selfTest(engine: MatMulEngine): Promise<void> {
  const [smallest, half] = Float32Array.of(SMALLEST, 0.5) as unknown as [number, number];
  const [tiny, two] = Float64Array.of(2 ** -1074, 2) as unknown as [number, number];
  if (Math.fround(smallest * two * half) !== SMALLEST || (tiny * two) / two !== tiny)
    throw new EngineUnfitError("this process flushes subnormal numbers to zero; run without the addon that sets this");

  // Sums of products at the lower end of the range, in enough rows to reach every thread.
  const left = new Float64Array(SIDE * INNER).fill(smallest);
  const right = new Float64Array(SIDE * INNER).fill(smallest);
  const product = new Float64Array(SIDE * SIDE);
  await engine.product(left, right, product, { rows: SIDE, columns: SIDE, inner: INNER })();
  if (product.some((value) => value !== INNER * 2 ** -298))
    throw new EngineUnfitError("the matrix product engine does not give exact sums of exact float64 products");
}
