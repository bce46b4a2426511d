import { expect } from "chai";
import { Circuit } from "../../src/circuits/circuit.ts";
import { SpanError } from "../../src/circuits/errors.ts";
import { inverse, residue } from "../../src/circuits/field.ts";
import type { Fixed } from "../../src/circuits/fixed.ts";
import { atLeastZero, isZero, multiply, roundedInteger, select } from "../../src/circuits/gadgets.ts";
import type { Linear } from "../../src/circuits/linear.ts";
import { Functions } from "../../src/circuits/lookups.ts";
import { roundBits } from "../../src/circuits/rounding.ts";
import { fitLine } from "../../src/circuits/stepFunctions.ts";
import { boundedLevel, lineLevel } from "../../src/circuits/stepGadgets.ts";
import { Tables } from "../../src/circuits/tables.ts";
import { ceilingOf, floorOf, nearest, quotientBy, truncated } from "../../src/circuits/whole.ts";
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

/** The whole part of eighths. */
const whole = (name: (circuit: Circuit, value: Fixed) => Fixed, of: (value: number) => number): Gadget =>
  gadget(
    (circuit) => name(circuit, given(circuit, 0, -43n, 43n, -3)).linear,
    ([value]) => BigInt(of(Number(value) / 8)),
    each(-43, 43),
  );

const halfToEven = (value: number): number => {
  const below = Math.floor(value);
  const isUp = value - below === 0.5 ? below % 2 !== 0 : value - below > 0.5;
  return isUp ? below + 1 : below;
};

/** Where the levels of 1 to 7 begin. */
const STARTS = [-15n, -8n, -7n, 0n, 6n, 6n, 19n];
const LEVELS = { starts: STARTS, before: STARTS.map((start) => start - 1n) };
const levelOf = (value: bigint): bigint => BigInt(STARTS.filter((start) => value >= start).length);
/** Starts that no line has: three numbers are exceptions. */
const CROOKED = [-15n, -10n, -4n, 0n, 6n, 10n, 15n];
const line = fitLine({ starts: CROOKED, before: CROOKED.map((start) => start - 1n) }, true)!;

/** Eighths to the nearest integer from 0 to 7, half to even or to odd. */
const eighths = (shift: number): Gadget => {
  const levelAt = (value: bigint): bigint => {
    const level = halfToEven(Number(value) / 8 + shift) - shift;
    return BigInt(Math.min(7, Math.max(0, level)));
  };
  const numbers = each(-30, 80).map(([value]) => value!);
  const starts = [1n, 2n, 3n, 4n, 5n, 6n, 7n].map((level) => numbers.find((value) => levelAt(value) >= level)!);
  const tied = fitLine({ starts, before: starts.map((start) => start - 1n) }, true)!;
  if (tied.ties === undefined) throw new Error("a line without ties");
  return gadget(
    (circuit) => lineLevel(circuit, given(circuit, 0, -30n, 80n), tied, 7n),
    ([value]) => levelAt(value!),
    each(-30, 80),
  );
};

Object.assign(GADGETS, {
  "levels with halves to even": eighths(0),
  "levels with halves to odd": eighths(1),
  floor: whole(floorOf, Math.floor),
  ceiling: whole(ceilingOf, Math.ceil),
  "nearest integer": whole(nearest, halfToEven),
  truncation: whole(truncated, Math.trunc),
  quotient: gadget(
    (circuit) => quotientBy(circuit, given(circuit, 0, -20n, 20n), { low: -5n, unit: 0 }).linear,
    ([value]) => {
      // 24 bits, one, and the divisor's three.
      const dividend = (value! < 0n ? -value! : value!) << 28n;
      const size = 2n * (dividend / 5n) + (dividend % 5n === 0n ? 0n : 1n);
      return value! < 0n ? size : -size;
    },
    each(-20, 20),
  ),
  "levels by a line": gadget(
    (circuit) => lineLevel(circuit, given(circuit, 0, -40n, 40n), line, 7n),
    ([value]) => BigInt(CROOKED.filter((start) => value! >= start).length),
    each(-40, 40),
  ),
  "levels by a line, to a number that is no power of two": gadget(
    (circuit) =>
      lineLevel(circuit, given(circuit, 0, 0n, 40n), { slope: 3n, offset: 1n, places: 3, exceptions: new Map() }, 9n),
    ([value]) => (3n * value! + 1n > 79n ? 9n : (3n * value! + 1n) >> 3n),
    each(0, 40),
  ),
  "levels by bounds": gadget(
    (circuit) => boundedLevel(circuit, given(circuit, 0, -25n, 25n), LEVELS),
    ([value]) => levelOf(value!),
    each(-25, 25),
  ),
  "levels by bounds, fewer than bits allow": gadget(
    (circuit) => boundedLevel(circuit, given(circuit, 0, -9n, 9n), { starts: [-3n, 4n], before: [-4n, 3n] }),
    ([value]) => (value! >= 4n ? 2n : value! >= -3n ? 1n : 0n),
    each(-9, 9),
  ),
  "table of bits": gadget(
    (circuit) => new Tables(circuit).read(given(circuit, 0, -3n, 20n), undefined, (k) => k * k * k - 7n * k),
    ([value]) => value! ** 3n - 7n * value!,
    each(-3, 20),
  ),
  "table of few": gadget(
    (circuit) => new Tables(circuit).read(given(circuit, 0, -3n, 4n), undefined, (k) => k * k * k),
    ([value]) => value! ** 3n,
    each(-3, 4),
  ),
  "read of values that vary": gadget(
    (circuit) => {
      const index = { fixed: given(circuit, 0, 0n, 3n) };
      const values = [1, 2].map((input) => ({ fixed: given(circuit, input, 0n, 99n) }));
      const at = [values[0]!, { word: 5n }, values[1]!, values[0]!];
      return numberAt(new Functions(circuit).valueAt(index, DType.int32, (k) => at[Number(k)]!));
    },
    ([index, a, b]) => [a!, 5n, b!, a!][Number(index)],
    each(0, 3).flatMap(([index]) => [
      [index!, 17n, 40n],
      [index!, 0n, 3n],
    ]),
  ),
} satisfies typeof GADGETS);

function numberAt(value: ReturnType<Functions["valueAt"]>): Linear {
  if ("word" in value) throw new Error("a constant");
  return value.fixed.linear;
}

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
  for (let wire = first; wire + 1 < circuit.wireCount; wire++) {
    // A bit that is turned, and half of the bit above it pays: their sum stays.
    const half = inverse(2n) * (honest[wire] === 0n ? -1n : 1n);
    yield new Map([
      [wire, 1n - honest[wire]!],
      [wire + 1, honest[wire + 1]! + half],
    ]);
    for (const other of [wire + 1, wire + 2])
      yield new Map([
        [wire, -1n],
        [other, -1n],
      ]);
  }
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
