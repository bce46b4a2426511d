import { readEquation } from "../../operators/einsum.ts";
import type { Backward, Rule } from "../backward.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

const ones = (b: Backward, size: number): string =>
  b.tensor(
    Array.from({ length: size }, () => 1),
    [size],
  );

/** Zeros and, on the diagonal, ones. */
const eye = (b: Backward, size: number): string =>
  b.tensor(
    Array.from({ length: size * size }, (_, i) => Number(i % (size + 1) === 0)),
    [size, size],
  );

/**
 * An operand's gradient is an Einsum over the result's gradient and the other operands. A label only in the operand was
 * summed: the gradient is the same along the label. For a label twice in the operand only the diagonal was read. Along
 * a dimension of 1 the operand was repeated.
 */
export const einsum: Rule = (b) => {
  const { terms, output, sizes } = readEquation(b.attributes);
  const all = [...sizes.keys()];
  const letter = (label: string): string => LETTERS[all.indexOf(label)]!;
  const isWhole = (k: number, d: number): boolean => b.shape(k)[d] === sizes.get(terms[k]![d]!);
  const gradient = (own: number): string => {
    const others = terms.flatMap((_, k) => (k === own ? [] : [k]));
    const labels = [output, ...others.map((k) => terms[k]!.filter((_, d) => isWhole(k, d)))];
    const operands = [
      b.dy,
      ...others.map((k) => {
        const whole = b.shape(k).filter((_, d) => isWhole(k, d));
        return b.reshape(b.x(k), b.shape(k), whole);
      }),
    ];
    const equation = labels.map((term) => term.map(letter).join(""));
    const known = new Set(labels.flat());
    const [result, seen]: [string[], Set<string>] = [[], new Set()];
    terms[own]!.forEach((label, d) => {
      if (!isWhole(own, d)) return;
      const size = sizes.get(label)!;
      if (!seen.has(label)) {
        if (!known.has(label)) {
          operands.push(ones(b, size));
          equation.push(letter(label));
        }
        seen.add(label);
        result.push(letter(label));
        return;
      }
      const second = LETTERS[all.length + operands.length] ?? b.refuse("its equation has too many labels");
      operands.push(eye(b, size));
      equation.push(letter(label) + second);
      result.push(second);
    });
    const product = b.opWith("Einsum", { equation: `${equation.join(",")}->${result.join("")}` }, ...operands);
    return b.shaped(product, b.shape(own));
  };
  return terms.map((_, k) => b.if(k, () => gradient(k)));
};
