import type { MatMulEngine } from "../../src/executor/engine/matMulEngine.ts";

/** Columns that are computed side by side: a number of the left factor is read once for all of them. */
const SIDE = 4;

/** Matrix products in float64, each sum in the order of its terms: in a page there is no onnxruntime-node. */
export const plainEngine: MatMulEngine = {
  product: (left, right, out, { rows, columns, inner, isByTerms = false }) => {
    const [apart, next] = isByTerms ? [1, columns] : [inner, 1];
    const whole = columns - (columns % SIDE);
    return () => {
      for (let row = 0; row < rows; row++) {
        const from = row * inner;
        for (let column = 0; column < whole; column += SIDE) {
          let [a, b, c, d] = [0, 1, 2, 3].map((k) => (column + k) * apart) as Four;
          let [w, x, y, z] = [0, 0, 0, 0];
          for (let k = 0; k < inner; k++) {
            const value = left[from + k]!;
            w += value * right[a]!;
            x += value * right[b]!;
            y += value * right[c]!;
            z += value * right[d]!;
            a += next;
            b += next;
            c += next;
            d += next;
          }
          const at = row * columns + column;
          [out[at], out[at + 1], out[at + 2], out[at + 3]] = [w, x, y, z];
        }
        for (let column = whole; column < columns; column++) {
          let sum = 0;
          for (let k = 0; k < inner; k++) sum += left[from + k]! * right[column * apart + k * next]!;
          out[row * columns + column] = sum;
        }
      }
    };
  },
  close: () => Promise.resolve(),
};

type Four = [number, number, number, number];
