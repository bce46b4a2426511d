import { expect } from "chai";
import fc from "fast-check";
import { onnxEngine } from "../../../src/executor/engine/onnxEngine.ts";
import type { MatMulEngine, MatrixShape } from "../../../src/executor/engine/matMulEngine.ts";
import { EngineFaultError } from "../../../src/executor/errors.ts";
import { Views } from "../../../src/executor/memory/views.ts";
import { byteCheck, makeWitness, witnessLength } from "../../../src/executor/product/byteCheck.ts";
import { wideProduct } from "../../../src/executor/product/byteProduct.ts";
import { ELEMENTS, elementVisits, floatCheck } from "../../../src/executor/product/floatCheck.ts";
import { SpotChecks } from "../../../src/executor/spotChecks.ts";
import { errorFactor } from "../../../src/numerics/kernels/certify.ts";
import { kernelMemory, PAGE_BYTES } from "../../../src/numerics/kernels/memory.ts";
import { productKernels } from "../../../src/numerics/kernels/productKernels.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const RUNS = Number(process.env.REFUTE_CHECKS ?? 150);
const MAX_TERMS = 100_000;
/** Bytes of each of five parts of the memory: two operands, results, norms of rows and of columns. */
const PART = 4 * MAX_TERMS * 8;
const [LEFT, RIGHT, VALUES, ROW_NORMS, COLUMN_NORMS] = [0, PART, 2 * PART, 3 * PART, 4 * PART];
const memory = kernelMemory(Math.ceil((5 * PART) / PAGE_BYTES));
const machine = { views: new Views(memory), kernels: productKernels(memory) };

/** Numbers of one kind for both operands: `[vectors, inner]`. */
type Kind = (prng: Prng, count: number, inner: number, side: "left" | "right") => Float32Array;
const uniform = (prng: Prng): number => prng.uint32() / 2 ** 31 - 1;
const from = (draw: (prng: Prng, k: number) => number): Kind => {
  return (prng, count) => Float32Array.from({ length: count }, (_, k) => draw(prng, k));
};

const KINDS: Record<string, Kind> = {
  ordinary: from(uniform),
  subnormal: from((prng) => uniform(prng) * 2 ** -130),
  largest: from((prng) => uniform(prng) * 2 ** 127),
  anyMagnitude: from((prng) => uniform(prng) * 2 ** (prng.below(270) - 143)),
  exactTies: from((prng) => (prng.below(2 ** 13) - 2 ** 12) / 2 ** 12),
  mostlyZeros: from((prng) => (prng.below(9) === 0 ? uniform(prng) : 0)),
  edgeWords: (prng, count) => new Float32Array(Uint32Array.from(float32Words(prng.uint32(), count), Number).buffer),
  withInfinitiesAndNaNs: from((prng) => [Infinity, -Infinity, NaN][prng.below(40)] ?? uniform(prng)),
  // The second half of each sum takes back the first, but for what the last term leaves.
  cancelling(prng, count, inner, side) {
    const half = Math.floor(inner / 2);
    const values = Float32Array.from({ length: count }, () => uniform(prng) * 2 ** prng.below(40));
    for (let k = 0; k < count; k++)
      if (k % inner >= half && k % inner < 2 * half) values[k] = (side === "left" ? -1 : 1) * values[k - half]!;
    return values;
  },
};

function place(kind: Kind, { rows, columns, inner }: MatrixShape, prng: Prng): void {
  const { views, kernels } = machine;
  views.float64(LEFT, rows * inner).set(kind(prng, rows * inner, inner, "left"));
  views.float64(RIGHT, columns * inner).set(kind(prng, columns * inner, inner, "right"));
  kernels.norms(LEFT, inner, rows, ROW_NORMS);
  kernels.norms(RIGHT, inner, columns, COLUMN_NORMS);
}

const addresses = { left: LEFT, right: RIGHT, values: VALUES, rowNorms: ROW_NORMS, columnNorms: COLUMN_NORMS };

/** The numbers of the elements that the check refuses. */
function refused(shape: MatrixShape): number[] {
  const check = floatCheck(machine, shape, addresses);
  return Array.from({ length: shape.rows * shape.columns }, (_, index) => index).filter((index) => {
    try {
      check(index);
      return false;
    } catch (error) {
      if (error instanceof EngineFaultError) return true;
      throw error;
    }
  });
}

/** A finite float64 as an integer times 2^-1074. */
function units(x: number): bigint {
  let [value, exponent] = [x, 0];
  for (; !Number.isInteger(value); exponent--) value *= 2;
  return BigInt(value) << BigInt(1074 + exponent);
}

/** The exact sum of an element's products, in units of 2^-2148, without a line of the code under test. */
function exactly({ columns, inner }: MatrixShape, index: number): bigint {
  const { views } = machine;
  const a = views.float64(LEFT + Math.floor(index / columns) * inner * 8, inner);
  const b = views.float64(RIGHT + (index % columns) * inner * 8, inner);
  return a.reduce((sum, value, k) => sum + units(value) * units(b[k]!), 0n);
}

const kinds = fc.constantFrom(...Object.keys(KINDS));
const shapes = fc
  .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 0, max: 17 }), fc.nat())
  .map(([rows, columns, size, more]): MatrixShape => {
    const inner = Math.min(MAX_TERMS, 2 ** size + (more % 2 ** size));
    const room = Math.max(1, Math.floor((PART / 8 - 1) / inner));
    return { rows: Math.min(rows, room), columns: Math.min(columns, room), inner };
  });
const seeds = fc.integer({ min: 0, max: 2 ** 31 });

describe("spot checks", function () {
  this.timeout(300_000);
  let engine: MatMulEngine;
  before(async () => void (engine = await onnxEngine()));
  after(() => engine.close());

  async function multiply(shape: MatrixShape): Promise<Float64Array> {
    const { rows, columns, inner } = shape;
    const { views } = machine;
    const values = views.float64(VALUES, rows * columns).fill(NaN);
    await engine.product(views.float64(LEFT, rows * inner), views.float64(RIGHT, columns * inner), values, shape)();
    return values;
  }

  it("onnxruntime_isNeverRefused", async () => {
    await fc.assert(
      fc.asyncProperty(kinds, shapes, seeds, async (kind, shape, seed) => {
        place(KINDS[kind]!, shape, new Prng(seed));
        await multiply(shape);
        expect(refused(shape)).to.deep.equal([]);
      }),
      { numRuns: RUNS },
    );
  });

  it("whateverTheValue_itIsRefused_whereItIsFartherFromTheExactSumThanTheCertificateAllows", async () => {
    const finite = fc.constantFrom(...Object.keys(KINDS).filter((kind) => !/edge|Infinit/.test(kind)));
    const few = shapes.filter(({ inner }) => inner <= 200);
    let [within, beyond] = [0, 0];
    await fc.assert(
      fc.asyncProperty(finite, few, seeds, async (kind, shape, seed) => {
        const prng = new Prng(seed);
        place(KINDS[kind]!, shape, prng);
        const values = await multiply(shape);
        const { views } = machine;
        const bounds = Array.from(values, (_, index) => {
          const [row, column] = [Math.floor(index / shape.columns), index % shape.columns];
          const norms = [views.float64(ROW_NORMS, row + 1)[row]!, views.float64(COLUMN_NORMS, column + 1)[column]!];
          return errorFactor(shape.inner) * norms[0]! * norms[1]!;
        });
        for (let index = 0; index < values.length; index++) values[index]! += bounds[index]! * 3 * uniform(prng);
        const wrong = new Set(refused(shape));
        values.forEach((value, index) => {
          const difference = (units(value) << 1074n) - exactly(shape, index);
          const isBeyond = (difference < 0n ? -difference : difference) > units(bounds[index]!) << 1074n;
          if (isBeyond) expect(wrong.has(index), `${kind} ${JSON.stringify(shape)} ${seed}`).to.equal(true);
          // Where no partial sum can be rounded, nothing but the exact sum passes.
          else if (wrong.has(index)) expect(difference).not.to.equal(0n);
          if (isBeyond) beyond++;
          else within++;
        });
      }),
      { numRuns: RUNS },
    );
    expect(Math.min(within, beyond)).to.be.above(RUNS);
  });

  it("anythingButANumber_isRefused_andAnySumThatIsNotFinitePasses", async () => {
    const shape = { rows: 4, columns: 4, inner: 20 };
    place(KINDS.ordinary!, shape, new Prng(1));
    const values = await multiply(shape);
    values[3] = NaN;
    values[9] = Infinity;
    values[12] = 2 ** 900;
    expect(refused(shape)).to.deep.equal([3, 9, 12]);
    machine.views.float64(LEFT, 80)[25] = Infinity;
    machine.kernels.norms(LEFT, 20, 4, ROW_NORMS);
    values.fill(7, 4, 8);
    expect(refused(shape)).to.deep.equal([3, 9, 12]);
  });

  it("aSumThatNoOrderRounds_mustBeExact", async () => {
    const shape = { rows: 4, columns: 4, inner: 32 };
    place(KINDS.exactTies!, shape, new Prng(2));
    const values = await multiply(shape);
    values[5]! += 2 ** -48;
    expect(refused(shape)).to.deep.equal([5]);
  });

  it("rowsOfBytes_areRefused_exactlyWhereTheyAreWrong", () => {
    fc.assert(
      fc.property(
        fc.record({ rows: fc.integer({ min: 1, max: 9 }), columns: fc.integer({ min: 1, max: 40 }) }),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        seeds,
        (sides, inner, isSigned, seed) => {
          const shape = { ...sides, inner };
          const { rows, columns } = shape;
          const prng = new Prng(seed);
          const drawn = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => prng.uint32());
          const [left, leftZero, bytes] = [drawn(rows * inner), drawn(1), drawn(inner * columns)];
          const right = isSigned ? new Int8Array(bytes.buffer) : bytes;
          const zero = right[prng.below(right.length)]!;
          const results = new Int32Array(rows * columns);
          wideProduct(left, right, { left: leftZero[0]!, right: zero }, results, shape);
          const witness = new Int32Array(witnessLength(columns, inner));
          makeWitness(right, zero, shape, witness, prng);
          const check = byteCheck({ left, leftZero, results }, shape, witness);
          for (let row = 0; row < rows; row++) check(row);
          const wrong = prng.below(results.length);
          results[wrong]! ^= 1 << prng.below(32);
          for (let row = 0; row < rows; row++) {
            if (row === Math.floor(wrong / columns)) expect(() => check(row)).to.throw(EngineFaultError, `row ${row} `);
            else check(row);
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("eachElement_isCheckedWithTheSameChance_andAsManyAsExpected", () => {
    const [shape, products, count] = [{ rows: 10, columns: 10, inner: 700 }, 8_000_000, 100];
    const checks = new SpotChecks({ seed: 5 });
    const times = new Array<number>(count).fill(0);
    const visits = elementVisits(shape);
    for (let k = 0; k < products; k++) checks.run(count, visits, ELEMENTS, (index) => times[index]!++);
    const total = times.reduce((sum, each) => sum + each, 0);
    const mean = products * visits;
    // Six standard deviations of a Poisson distribution: with this seed, and nearly every other.
    expect(total / ELEMENTS).to.be.within(mean - 6 * Math.sqrt(mean), mean + 6 * Math.sqrt(mean));
    const each = total / count;
    for (const one of times) expect(one).to.be.within(each - 6 * Math.sqrt(each), each + 6 * Math.sqrt(each));
    expect(total / (products * count)).to.be.below(2 ** -17);
    const all: number[] = [];
    new SpotChecks({ areAll: true }).run(5, 0, 1, (index) => all.push(index));
    expect(all).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it("whatIsChecked_differsFromStartToStart", () => {
    const drawn = (): string => {
      const list: number[] = [];
      new SpotChecks().run(2 ** 30, 20, 2, (part) => list.push(part));
      return list.join();
    };
    expect(drawn()).not.to.equal(drawn());
  });
});
