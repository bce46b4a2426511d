/** A JavaScript expression and the innermost loop level whose digits it depends on (0: none). */
export type Value = { source: string; level: number };

/** Collects statements by loop level, so that each is executed no more often than it has to be. */
export class Emitter {
  readonly levels: readonly string[][];
  #names = 0;

  constructor(loops: number) {
    this.levels = Array.from({ length: loops + 1 }, () => []);
  }

  /** Names an expression's value at its level. */
  define({ source, level }: Value): Value {
    const name = `v${this.#names++}`;
    this.levels[level]!.push(`const ${name} = ${source};`);
    return { source: name, level };
  }

  /** `start + sum of coeff * digit`, added up loop by loop. */
  linear(start: number, terms: readonly { name: string; level: number; coeff: number }[]): Value {
    let value: Value = { source: `${start}`, level: 0 };
    for (const { name, level, coeff } of [...terms].sort((a, b) => a.level - b.level)) {
      if (coeff !== 0) value = this.define({ source: `${value.source} + ${coeff} * ${name}`, level });
    }
    return value;
  }

  /** Folds values with an infix operator, outer levels first. */
  fold(values: readonly Value[], operator: string): Value {
    const [first, ...rest] = [...values].sort((a, b) => a.level - b.level);
    return rest.reduce(
      (left, right) => this.define({ source: `${left.source} ${operator} ${right.source}`, level: right.level }),
      first!,
    );
  }
}
