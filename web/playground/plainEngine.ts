import type { MatMulEngine } from "../../src/executor/engine/matMulEngine.ts";

/** Columns that are computed side by side: a number of the left factor is read once for all of them. */
const SIDE = 4;

/** Matrix products in float64, each sum in the order of its terms: in a page there is no onnxruntime-node. */
export const plainEngine: MatMulEngine = {
  product: (left, right, out, { rows, columns, inner }) => {
    const whole = columns - (columns % SIDE);
    return () => {
      for (let row = 0; row < rows; row++) {
        const from = row * inner;
        for (let column = 0; column < whole; column += SIDE) {
          const [a, b, c, d] = [
            column * inner,
            (column + 1) * inner,
            (column + 2) * inner,
            (column + 3) * inner,
          ] as Four;
          let [w, x, y, z] = [0, 0, 0, 0];
          for (let k = 0; k < inner; k++) {
            const value = left[from + k]!;
            w += value * right[a + k]!;
            x += value * right[b + k]!;
            y += value * right[c + k]!;
            z += value * right[d + k]!;
          }
          const at = row * columns + column;
          [out[at], out[at + 1], out[at + 2], out[at + 3]] = [w, x, y, z];
        }
        for (let column = whole; column < columns; column++) {
          let sum = 0;
          for (let k = 0; k < inner; k++) sum += left[from + k]! * right[column * inner + k]!;
          out[row * columns + column] = sum;
        }
      }
    };
  },
  close: () => Promise.resolve(),
};

type Four = [number, number, number, number];
