import { Prng } from "../../testkit/random/prng.ts";

/** An input's numbers other than zero, and the input's class. */
export type Example = { label: number; inputs: readonly (readonly [at: number, value: number])[] };

type Sizes = { inputs: number; hidden: number; outputs: number };

/** A classifier of two layers, for samples: small, and learned in seconds without packages. */
export class Network {
  /** Rows of inputs, then of hidden units. */
  readonly first: number[];
  readonly second: number[];
  readonly firstBias: number[];
  readonly secondBias: number[];
  readonly #sizes: Sizes;
  readonly #activate: (value: number) => number;
  readonly #slope: (active: number) => number;

  /** @param slope The slope of the activation, from its result. */
  constructor(sizes: Sizes, activate: (value: number) => number, slope: (active: number) => number) {
    const prng = new Prng(1);
    const drawn = (count: number, size: number): number[] =>
      Array.from({ length: count }, () => ((prng.below(2_001) - 1_000) / 1_000) * size);
    [this.#sizes, this.#activate, this.#slope] = [sizes, activate, slope];
    this.first = drawn(sizes.inputs * sizes.hidden, 0.15);
    this.second = drawn(sizes.hidden * sizes.outputs, 0.3);
    this.firstBias = drawn(sizes.hidden, 0);
    this.secondBias = drawn(sizes.outputs, 0);
  }

  /** Gradient descent, an example at a time, at a rate that falls to 0. */
  train(examples: readonly Example[], { epochs, rate }: { epochs: number; rate: number }): void {
    const prng = new Prng(2);
    const total = epochs * examples.length;
    for (let k = 0; k < total; k++) this.#step(examples[prng.below(examples.length)]!, rate * (1 - k / total));
  }

  #step({ label, inputs }: Example, rate: number): void {
    const { hidden, outputs } = this.#sizes;
    const { first, second, firstBias, secondBias } = this;
    const active = firstBias.slice();
    for (const [at, value] of inputs) for (let h = 0; h < hidden; h++) active[h]! += value * first[at * hidden + h]!;
    for (let h = 0; h < hidden; h++) active[h] = this.#activate(active[h]!);
    const scores = secondBias.slice();
    for (let h = 0; h < hidden; h++)
      for (let o = 0; o < outputs; o++) scores[o]! += active[h]! * second[h * outputs + o]!;
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const sum = powers.reduce((a, b) => a + b, 0);
    const errors = powers.map((power, o) => power / sum - (o === label ? 1 : 0));
    for (let h = 0; h < hidden; h++) {
      let back = 0;
      for (let o = 0; o < outputs; o++) {
        back += errors[o]! * second[h * outputs + o]!;
        second[h * outputs + o]! -= rate * errors[o]! * active[h]!;
      }
      const change = rate * back * this.#slope(active[h]!);
      if (change === 0) continue;
      firstBias[h]! -= change;
      for (const [at, value] of inputs) first[at * hidden + h]! -= change * value;
    }
    for (let o = 0; o < outputs; o++) secondBias[o]! -= rate * errors[o]!;
  }
}
