import { centred, ORDER, residue } from "./field.ts";
import { constant, minus, ONE, type Linear } from "./linear.ts";

/** The product of `a` and `b` must be `c`. */
type Constraint = { a: Linear; b: Linear; c: Linear };

/** Reads a combination as the integer nearest to zero; the wires must have values. */
export type Reader = (combination: Linear) => bigint;

/** Computes a wire's value for an honest prover. @param inputs The words of the program's inputs, in order. */
export type Hint = (read: Reader, inputs: readonly bigint[]) => bigint;

/**
 * A rank-1 constraint system, with a hint for each wire. Wires 1 .. `publicCount` are public; their values are set
 * last, from combinations of the other wires.
 */
export class Circuit {
  readonly constraints: Constraint[] = [];
  readonly publicCount: number;
  readonly #publics: (Linear | undefined)[];
  readonly #hints: Hint[] = [];

  /** @param publicCount Public values. The prover may choose any value without a definition. */
  constructor(publicCount: number) {
    this.publicCount = publicCount;
    this.#publics = new Array<Linear | undefined>(publicCount).fill(undefined);
  }

  /** Number of wires, with the constant 1. */
  get wireCount(): number {
    return 1 + this.publicCount + this.#hints.length;
  }

  /** A new private wire. */
  wire(hint: Hint): Linear {
    this.#hints.push(hint);
    return new Map([[this.wireCount - 1, 1n]]);
  }

  /** A new wire that is 0 or 1. */
  bit(hint: Hint): Linear {
    const bit = this.wire(hint);
    this.require(bit, minus(bit, ONE), constant(0n));
    return bit;
  }

  /** Requires two combinations' product to equal a third. */
  require(a: Linear, b: Linear, c: Linear): void {
    this.constraints.push({ a, b, c });
  }

  /** A new wire for the product of two combinations. */
  product(a: Linear, b: Linear): Linear {
    const product = this.wire((read) => read(a) * read(b));
    this.require(a, b, product);
    return product;
  }

  /** Makes a public value equal to a combination of private wires. */
  publish(index: number, value: Linear): void {
    this.#publics[index] = value;
    this.require(value, ONE, new Map([[1 + index, 1n]]));
  }

  /**
   * Computes all wires.
   * @param inputs The words of the program's inputs.
   * @param free Values for public wires without a definition, in order.
   * @param lies Values in place of the hints' values, by wire, for tests.
   * @returns Residues, one a wire.
   */
  solve(inputs: readonly bigint[], free: readonly bigint[], lies: ReadonlyMap<number, bigint> = new Map()): bigint[] {
    const first = 1 + this.publicCount;
    const values = new Array<bigint>(this.wireCount).fill(0n);
    values[0] = 1n;
    const read: Reader = (combination) => centred(evaluate(combination, values));
    this.#hints.forEach((hint, k) => {
      values[first + k] = residue(lies.get(first + k) ?? hint(read, inputs));
    });
    let given = 0;
    this.#publics.forEach((value, k) => {
      values[1 + k] = value === undefined ? residue(free[given++]!) : evaluate(value, values);
    });
    return values;
  }

  /** The numbers of the constraints that values violate. */
  violated(values: readonly bigint[]): number[] {
    return this.constraints.flatMap(({ a, b, c }, k) =>
      (evaluate(a, values) * evaluate(b, values)) % ORDER === evaluate(c, values) ? [] : [k],
    );
  }
}

/** A combination's residue. */
export function evaluate(combination: Linear, values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const [wire, coefficient] of combination) sum += coefficient * values[wire]!;
  return residue(sum);
}
