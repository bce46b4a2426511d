import { expect } from "chai";
import { Circuit } from "../../src/circuits/circuit.ts";
import { SpanError } from "../../src/circuits/errors.ts";
import { inverse, residue } from "../../src/circuits/field.ts";
import type { Fixed } from "../../src/circuits/fixed.ts";
import { atLeastZero, isZero, multiply, roundedInteger, select } from "../../src/circuits/gadgets.ts";
import type { Linear } from "../../src/circuits/linear.ts";
import { roundBits } from "../../src/circuits/rounding.ts";
import { decodeFloat32, decodeInteger, encodeFloat32, encodeInteger } from "../../src/circuits/words.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { fromNumber } from "../../src/numerics/float32.ts";
import { Prng } from "../../testkit/random/prng.ts";

/** A circuit with one result, public; its inputs are wires without any constraint of their own. */
type Gadget = { circuit: Circuit; results: (inputs: readonly bigint[]) => bigint | undefined; cases: bigint[][] };

/** An input that a test gives, as a number within bounds. */
const given = (circuit: Circuit, input: number, low: bigint, high: bigint, unit = 0): Fixed => ({
  linear: circuit.wire((_, inputs) => inputs[input]!),
  unit,
  low,
  high,
});

function gadget(
  build: (circuit: Circuit) => Linear,
  results: Gadget["results"],
  cases: readonly (readonly bigint[])[],
): Gadget {
  const circuit = new Circuit(1);
  circuit.publish(0, build(circuit));
  return { circuit, results, cases: cases.map((each) => [...each]) };
}

const each = (low: number, high: number): bigint[][] =>
  Array.from({ length: high - low + 1 }, (_, k) => [BigInt(low + k)]);

/** Rounds to 3 bits, from 6: the shape of the rounding of a sum to float32, small enough to try many lies. */
const rounding = (coarser: number): Gadget =>
  gadget(
    (circuit) => roundBits(circuit, given(circuit, 0, -63n, 63n), 3, coarser).linear,
    ([value]) => {
      const absolute = value! < 0n ? -value! : value!;
      const isTooFine = absolute < 1n << BigInt(2 + coarser) && absolute % (1n << BigInt(coarser)) !== 0n;
      return isTooFine ? undefined : roundedInteger(value!, 3) >> BigInt(coarser);
    },
    each(-63, 63),
  );

const floats = [0, 1, -1, 1.5, -1.25, 3.75, 0.5, -0.5, 0.75, 2, 3.9999998, -3.5, 0.50000006].map((x) => [
  fromNumber(x),
]);

const GADGETS: Record<string, Gadget> = {
  rounding: rounding(0),
  "rounding to a coarser unit": rounding(2),
  "word of a float32": gadget(
    (circuit) => encodeFloat32(circuit, given(circuit, 0, -(2n ** 26n), 2n ** 26n, -3)),
    ([value]) => fromNumber(Number(value) / 8),
    [0n, 1n, -1n, 2n, 3n, -5n, 8n, 2n ** 20n + 1n, -(2n ** 24n) + 1n, 2n ** 25n + 4n, -(2n ** 26n), 2n ** 26n - 8n].map(
      (value) => [value],
    ),
  ),
  "float32 of a word": gadget(
    (circuit) => decodeFloat32(circuit, 0, { lowest: -1, highest: 2, signed: true }).word,
    ([word]) => word,
    floats,
  ),
  "integer of a word": gadget(
    (circuit) => decodeInteger(circuit, 0, DType.int8).word,
    ([word]) => BigInt.asUintN(8, word!),
    each(-128, 127),
  ),
  "word of an integer": gadget(
    (circuit) => encodeInteger(circuit, given(circuit, 0, -20n, 20n), DType.int8),
    ([value]) => BigInt.asUintN(8, value!),
    each(-20, 20),
  ),
  comparison: gadget(
    (circuit) => atLeastZero(circuit, given(circuit, 0, -20n, 20n)),
    ([value]) => (value! >= 0n ? 1n : 0n),
    each(-20, 20),
  ),
  equality: gadget(
    (circuit) => isZero(circuit, given(circuit, 0, -20n, 20n)),
    ([value]) => (value === 0n ? 1n : 0n),
    each(-20, 20),
  ),
  choice: gadget(
    (circuit) =>
      select(circuit, given(circuit, 0, 0n, 1n).linear, given(circuit, 1, 0n, 9n), given(circuit, 2, 0n, 9n)).linear,
    ([condition, a, b]) => (condition === 1n ? a : b),
    [
      [0n, 3n, 5n],
      [1n, 3n, 5n],
    ],
  ),
  product: gadget(
    (circuit) => multiply(circuit, given(circuit, 0, -9n, 9n), given(circuit, 1, -9n, 9n)).linear,
    ([a, b]) => a! * b!,
    [
      [3n, -5n],
      [0n, 7n],
    ],
  ),
};

/** Minus one half: with this for a top bit and 1 for the bit below, bits are zero together. */
const MINUS_HALF = -inverse(2n);
/** Pairs of lies that are tried for one input. */
const PAIRS = 200;
/** Inputs with which lies are tried. */
const ROUNDS = 60;

/** Values that a liar may try in the place of an honest one. */
function liesAbout(value: bigint): bigint[] {
  const shifts = [1n, 3n, 15n].flatMap((one) => [3n, 7n, 15n, 31n, 63n].map((other) => other * inverse(one)));
  return [0n, 1n, 2n, 3n, -1n, value + 1n, value - 1n, value + 2n, value - 2n, 1n - value, -value, 7n, ...shifts];
}

/** Lies about each wire, and some about wires in pairs. */
function* lies({ circuit }: Gadget, honest: readonly bigint[], random: Prng): Generator<Map<number, bigint>> {
  const first = 1 + circuit.publicCount;
  const count = circuit.wireCount - first;
  for (let wire = first; wire < circuit.wireCount; wire++)
    for (const lie of liesAbout(honest[wire]!)) yield new Map([[wire, lie]]);
  for (let wire = first; wire + 1 < circuit.wireCount; wire++)
    yield new Map([
      [wire, 1n],
      [wire + 1, MINUS_HALF],
    ]);
  for (let pair = 0; pair < PAIRS; pair++) {
    const [wire, other] = [first + random.below(count), first + random.below(count)];
    const [a, b] = [liesAbout(honest[wire]!), liesAbout(honest[other]!)];
    yield new Map([
      [wire, a[random.below(a.length)]!],
      [other, b[random.below(b.length)]!],
    ]);
    // Neighbours are bits of one sum, which stays as before.
    const sign = random.below(2) === 0 ? 1n : -1n;
    yield new Map([
      [wire, honest[wire]! + 2n * sign],
      [wire + 1, (honest[wire + 1] ?? 0n) - sign],
    ]);
  }
}

describe("soundness of circuits", () => {
  for (const [name, each] of Object.entries(GADGETS)) {
    it(`${name}_honestWitness_givesTheResult`, () => {
      for (const inputs of each.cases) {
        const values = each.circuit.solve(inputs, []);
        const expected = each.results(inputs);
        const violated = each.circuit.violated(values);
        if (expected === undefined) expect(violated, `${inputs.join()}`).to.not.be.empty;
        else {
          expect(violated, `${inputs.join()}`).to.deep.equal([]);
          expect(values[1]).to.equal(residue(expected));
        }
      }
    });

    it(`${name}_everyConstraint_isNoticedWhenDropped`, () => {
      const random = new Prng(7);
      const missed = new Set(each.circuit.constraints.keys());
      // The last one says what the public value is, and a prover names any.
      missed.delete(each.circuit.constraints.length - 1);
      for (let round = 0; missed.size > 0 && round < ROUNDS; round++) {
        const inputs = each.cases[random.below(each.cases.length)]!;
        const honest = each.circuit.solve(inputs, []);
        if (each.circuit.violated(honest).length > 0) continue;
        for (const lie of lies(each, honest, random)) {
          const violated = each.circuit.violated(each.circuit.solve(inputs, [], lie));
          if (violated.length === 1) missed.delete(violated[0]!);
          if (missed.size === 0) break;
        }
      }
      expect([...missed]).to.deep.equal([]);
    });
  }

  const long = (circuit: Circuit): Fixed => given(circuit, 0, 0n, 2n ** 252n);
  const tooLong: Record<string, (circuit: Circuit) => unknown> = {
    equality: (circuit) => isZero(circuit, long(circuit)),
    comparison: (circuit) => atLeastZero(circuit, { ...long(circuit), low: -1n }),
    product: (circuit) => multiply(circuit, long(circuit), given(circuit, 0, 0n, 3n)),
    rounding: (circuit) => roundBits(circuit, given(circuit, 0, 0n, 2n ** 140n), 24, 0),
    "word of a float32": (circuit) => encodeFloat32(circuit, given(circuit, 0, 0n, 2n ** 127n)),
    "word of a subnormal": (circuit) => encodeFloat32(circuit, given(circuit, 0, 0n, 9n, -130)),
  };
  for (const [name, build] of Object.entries(tooLong)) {
    it(`${name}_ofANumberTooLongForTheField_isRefused`, () => {
      expect(() => build(new Circuit(1)))
        .to.throw(SpanError)
        .with.property("code", "CIRCUIT_REFUSED");
    });
  }
});
