/**
 * Decisions read from a list of numbers, 0 after the list's end. A shorter list and smaller numbers make a simpler
 * thing. Therefore anything built from the decisions shrinks.
 */
export class Choices {
  readonly #stream: readonly number[];
  #at = 0;

  constructor(stream: readonly number[]) {
    this.#stream = stream;
  }

  /** In 0 .. bound - 1. */
  below(bound: number): number {
    return (this.#stream[this.#at++] ?? 0) % Math.max(1, bound);
  }

  /** In low .. high. */
  int(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  flag(): boolean {
    return this.below(2) === 1;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Returns some axes for a rank, at least one axis, in increasing order. */
  axes(rank: number): number[] {
    const kept = Array.from({ length: rank }, (_, axis) => axis).filter(() => this.flag());
    return kept.length > 0 ? kept : [rank - 1];
  }

  permutation(rank: number): number[] {
    const rest = Array.from({ length: rank }, (_, axis) => axis);
    return Array.from({ length: rank }, () => rest.splice(this.below(rest.length), 1)[0]!);
  }

  shape(rank: number, largest: number): number[] {
    return Array.from({ length: rank }, () => this.int(1, largest));
  }
}
