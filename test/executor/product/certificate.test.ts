import { expect } from "chai";
import { createExecutor, type ExecutionResult } from "../../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../../src/executor/engine/onnxEngine.ts";
import type { MatMulEngine } from "../../../src/executor/engine/matMulEngine.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import type { Step } from "../../../src/program/types.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { matMulStep, rowSumStep, stepModel } from "../../../testkit/programs/stepModel.ts";
import { webEngine } from "../../../testkit/onnx/webEngine.ts";

type Matrices = { left: Float32Array; right: Float32Array; rows: number; inner: number; columns: number };

const fill = (length: number, value: (index: number) => number): Float32Array =>
  Float32Array.from({ length }, (_, index) => value(index));
const bytes = (array: Float32Array): Uint8Array => new Uint8Array(array.buffer);

/** About normally distributed. */
function noise(prng: Prng): number {
  let sum = 0;
  for (let k = 0; k < 4; k++) sum += prng.uint32() / 2 ** 32 - 0.5;
  return sum;
}

function noisy(rows: number, inner: number, columns: number, scale = 1, seed = 1): Matrices {
  const prng = new Prng(seed);
  const values = (length: number) => fill(length, () => scale * noise(prng));
  return { left: values(rows * inner), right: values(columns * inner), rows, inner, columns };
}

/** The second half of each row cancels the first, but for a last small term, which float64 loses on the way. */
function cancelling(): Matrices {
  const { left, right, ...shape } = noisy(16, 65, 16);
  for (let i = 0; i < left.length; i++) {
    const k = i % 65;
    if (k === 64) left[i] = left[i]! * 2 ** -50;
    else if (k >= 32) [left[i], right[i]] = [-left[i - 32]!, right[i - 32]!];
  }
  return { left, right, ...shape };
}

/** Rows orthogonal to columns: every exact sum is 0, of products that are not. */
function nullSpace(): Matrices {
  const { left, right, ...shape } = noisy(16, 64, 16);
  for (let i = 0; i < left.length; i += 2) {
    left[i + 1] = left[i]!;
    right[i + 1] = -right[i]!;
  }
  return { left, right, ...shape };
}

/** Small integers over 2^12: sums of many bits that are often exactly between two float32. */
function ties(): Matrices {
  const prng = new Prng(3);
  const values = () => fill(32 * 32, () => (prng.below(2 ** 13) - 2 ** 12) / 2 ** 12);
  return { left: values(), right: values(), rows: 32, inner: 32, columns: 32 };
}

function words(seed: number): Matrices {
  const values = (offset: number) => {
    const bits = Uint32Array.from(float32Words(seed + offset, 16 * 24), Number);
    return new Float32Array(bits.buffer);
  };
  return { left: values(0), right: values(1), rows: 16, inner: 24, columns: 16 };
}

/** Ordinary numbers, with one NaN, Infinity, 0 against Infinity and a pair of opposite infinities among them. */
function special(): Matrices {
  const matrices = noisy(12, 20, 12);
  const { left, right } = matrices;
  left[0] = NaN;
  left[20] = Infinity;
  left[40] = Infinity;
  left[41] = -Infinity;
  left[60] = 0;
  right[0] = Infinity;
  left.fill(0, 80, 100);
  return matrices;
}

const CASES: Record<string, () => Matrices> = {
  ordinary: () => noisy(32, 256, 32),
  cancelling,
  nullSpace,
  ties,
  subnormalProducts: () => noisy(16, 32, 16, 2 ** -74),
  subnormalInputs: () => noisy(16, 32, 16, 2 ** -140),
  vanishingNegativeProducts: () => ({ ...noisy(16, 4, 16, 2 ** -80), left: fill(64, () => -(2 ** -80)) }),
  overflowing: () => noisy(16, 32, 16, 2 ** 64),
  edgeWords: () => words(11),
  special,
  singleTerm: () => noisy(16, 1, 16),
};

async function execute(
  step: Step,
  inputs: Uint8Array[],
  engine?: MatMulEngine & { begin?: () => void },
): Promise<ExecutionResult> {
  const executor = await createExecutor(stepModel([step]), {
    ...(engine === undefined ? { threads: 1 } : { engine }),
    minEngineWork: 0,
    checksAll: true,
  });
  engine?.begin?.();
  const execution = await executor.run(inputs);
  await executor.close();
  return execution;
}

/**
 * Another legal engine: exact products, each result off by `direction` times the bound (K - 1) u S, once it has begun:
 * the test at the start has sums that are exact in any order.
 */
const worstLegalEngine = (direction: number, isOff = false): MatMulEngine & { begin: () => void } => ({
  begin: () => void (isOff = true),
  product:
    (left, right, out, { columns, inner, isByTerms = false }) =>
    () => {
      for (let index = 0; index < out.length; index++) {
        const [row, column] = [Math.floor(index / columns), index % columns];
        let sum = 0;
        let magnitude = 0;
        for (let k = 0; k < inner; k++) {
          const term = left[row * inner + k]! * right[isByTerms ? k * columns + column : column * inner + k]!;
          sum += term;
          magnitude += Math.abs(term);
        }
        out[index] = isOff ? sum + direction * (inner - 1) * 2 ** -53 * magnitude * 0.9 : sum;
      }
    },
  close: () => Promise.resolve(),
});

describe("certificate of float32 sums and products", function () {
  this.timeout(60_000);
  let web: MatMulEngine;
  let native: MatMulEngine;

  before(async () => {
    web = await webEngine();
    native = await onnxEngine();
  });
  after(async () => {
    await web.close();
    await native.close();
  });

  for (const [name, make] of Object.entries(CASES)) {
    it(`${name}_products_haveTheBitsOfTheReference`, async () => {
      const { left, right, rows, inner, columns } = make();
      const step = matMulStep(rows, inner, columns);
      const inputs = [bytes(left), bytes(right)];
      const [expected] = executeReference(stepModel([step]), inputs);
      for (const engine of [undefined, native, web]) {
        const { tensors, stats } = await execute(step, inputs, engine);
        expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
        expect(stats.elements).to.equal(rows * columns);
      }
    });

    it(`${name}_sums_haveTheBitsOfTheReference`, async () => {
      const { left, rows, inner } = make();
      const step = rowSumStep(rows, inner);
      const [expected] = executeReference(stepModel([step]), [bytes(left)]);
      const { tensors } = await execute(step, [bytes(left)]);
      expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
    });
  }

  for (const direction of [-1, 1]) {
    it(`ordinaryProducts_offByNearlyTheBound_${direction}_areStillRight`, async () => {
      const { left, right, rows, inner, columns } = noisy(32, 300, 32);
      const step = matMulStep(rows, inner, columns);
      const inputs = [bytes(left), bytes(right)];
      const [expected] = executeReference(stepModel([step]), inputs);
      const { tensors } = await execute(step, inputs, worstLegalEngine(direction));
      expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
    });
  }

  it("ordinaryProducts_areSeldomFlagged", async () => {
    const { left, right, rows, inner, columns } = noisy(64, 256, 64);
    const { stats } = await execute(matMulStep(rows, inner, columns), [bytes(left), bytes(right)]);
    expect(stats.flagged).to.be.below(0.01 * stats.elements);
  });

  it("cancellingProducts_areSettledByCompensatedSumsAndPatched", async () => {
    const { left, right, rows, inner, columns } = cancelling();
    const { stats } = await execute(matMulStep(rows, inner, columns), [bytes(left), bytes(right)]);
    expect(stats.compensated).to.be.above(stats.elements / 2);
    expect(stats.patched).to.be.above(0);
  });

  it("productsThatCancelEntirely_areRecomputedInIntegers", async () => {
    const { left, right, rows, inner, columns } = nullSpace();
    const { stats } = await execute(matMulStep(rows, inner, columns), [bytes(left), bytes(right)]);
    expect(stats.exact).to.equal(stats.elements);
  });

  it("exactTies_areSettledWithoutRecomputing", async () => {
    const { left, right, rows, inner, columns } = ties();
    const { stats } = await execute(matMulStep(rows, inner, columns), [bytes(left), bytes(right)]);
    expect(stats.ties).to.be.above(0);
    expect(stats.ties).to.equal(stats.flagged);
  });

  it("sumsOfNaN_areSettledWithoutRecomputing", async () => {
    const { left, rows, inner } = noisy(16, 32, 1);
    for (let row = 0; row < rows; row++) left[row * inner + 2 * row] = NaN;
    const { tensors, stats } = await execute(rowSumStep(rows, inner), [bytes(left)]);
    expect([...new Uint32Array(new Uint8Array(tensors[0]!).buffer)]).to.deep.equal(
      new Array<number>(rows).fill(0x7fc00000),
    );
    expect([stats.flagged, stats.ties, stats.exact]).to.deep.equal([rows, rows, 0]);
  });
});
