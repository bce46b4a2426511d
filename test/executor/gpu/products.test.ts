import { expect } from "chai";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import { moduliFor, type ResidueKind } from "../../../src/executor/gpu/product/moduli.ts";
import type { ProductOptions } from "../../../src/executor/gpu/product/product.ts";
import { executeStepReference } from "../../../src/executor/referenceStep.ts";
import { cast } from "../../../src/numerics/cast.ts";
import { DType, writeWord } from "../../../src/numerics/dtype.ts";
import type { Step } from "../../../src/program/types.ts";
import { itAtLength } from "../../../testkit/atLength.ts";
import { faultyGpu, softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { matMulStep, stepModel } from "../../../testkit/programs/stepModel.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const KINDS: readonly ResidueKind[] = ["bytes", "floats"];
const ALWAYS = { least: { terms: 1, rows: 1, columns: 1 } };
const NEVER = { least: { terms: Infinity, rows: Infinity, columns: Infinity } };

const prng = new Prng(47);
const unit = (): number => (prng.uint32() + 0.5) / 2 ** 32;
const gauss = (): number => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
const rounded = (value: number): number => Math.fround(value);

const floats = new Float32Array(1);
const words = new Uint32Array(floats.buffer);
const bitsOf = (value: number): number => {
  floats[0] = value;
  return words[0]!;
};

/** Kinds of rows, by how an element's bits are drawn. */
const ROWS: Record<string, () => number> = {
  gaussian: () => bitsOf(gauss()),
  positive: () => bitsOf(unit()),
  withZeros: () => bitsOf(Math.max(0, gauss())),
  likeSoftmax: () => bitsOf(Math.exp(4 * gauss() - 8)),
  wide: () => bitsOf(gauss() * 2 ** Math.floor(40 * unit() - 20)),
  huge: () => bitsOf(gauss() * 2 ** Math.floor(250 * unit() - 125)),
  subnormal: () => bitsOf(gauss() * 2 ** -140),
  integers: () => bitsOf(Math.round(20 * gauss())),
  bfloat16: () => bitsOf(gauss()) & 0xffff0000,
  anyBits: () => prng.uint32(),
  largest: () => bitsOf(rounded(2 - 2 ** -23)),
  special: () => prng.pick([0x7f800000, 0xff800000, 0x7fc00000, 0, bitsOf(gauss()), bitsOf(gauss()), bitsOf(gauss())]),
};

/** Rows of all kinds, one of each. The second half of each other row cancels the first. */
function rowsOf(terms: number, cancels: boolean): Uint8Array {
  const bits = Object.values(ROWS).flatMap((draw, kind) => {
    const row = Array.from({ length: terms }, draw);
    const half = terms >> 1;
    if (kind % 2 === 0) for (let k = 0; k < half; k++) row[half + k] = cancels ? row[k]! ^ 0x80000000 : row[k]!;
    return row;
  });
  return new Uint8Array(Uint32Array.from(bits.map((word) => word >>> 0)).buffer);
}

describe("products on a GPU", function () {
  this.timeout(600_000);
  let gpu: Gpu;
  before(async function () {
    gpu = await softwareGpu(this);
  });

  async function compute(
    step: Step,
    tensors: readonly Uint8Array[],
    options: Parameters<typeof createGpuExecutor>[2],
    on = gpu,
  ): Promise<{ tensor: Uint8Array; isProduct: boolean }> {
    const executor = await createGpuExecutor(stepModel([step]), on, { seed: 1, ...options });
    const result = await executor.run(tensors).finally(() => executor.close());
    return { tensor: result.tensors[0]!, isProduct: executor.products.length === 1 };
  }

  function wrongOf(expected: Uint8Array, tensor: Uint8Array): number[] {
    const [a, b] = [expected, tensor].map(({ buffer }) => new Uint32Array(buffer));
    return [...a!.keys()].filter((k) => a![k] !== b![k]);
  }

  async function compare(step: Step, tensors: readonly Uint8Array[], products: Partial<ProductOptions>): Promise<void> {
    const { tensor, isProduct } = await compute(step, tensors, { products });
    expect(isProduct).to.equal(true);
    expect(wrongOf(executeStepReference(step, tensors), tensor), JSON.stringify(products)).to.deep.equal([]);
  }

  const count = Object.keys(ROWS).length;

  it("sumsThatLanesShare_haveTheBitsOfTheDefinition_forAllPairsOfKindsOfRows", async () => {
    for (const terms of [1, 63, 64, 65, 1_025]) {
      const step = matMulStep(count, terms, count);
      const tensors = [rowsOf(terms, false), rowsOf(terms, true)];
      const options = { products: NEVER, kernels: { leastShared: 1 } };
      const { tensor, isProduct } = await compute(step, tensors, options);
      expect(isProduct).to.equal(false);
      expect(wrongOf(executeStepReference(step, tensors), tensor), `${terms} terms`).to.deep.equal([]);
    }
  });

  itAtLength("aLaneWithManyTerms_carriesInTime", async () => {
    const terms = 64 * 2 ** 14 + 65;
    const step = matMulStep(1, terms, 1);
    const tensors = [2 - 2 ** -23, 2 - 2 ** -23].map((x) => new Uint8Array(new Float32Array(terms).fill(x).buffer));
    const { tensor } = await compute(step, tensors, { products: NEVER });
    expect(wrongOf(executeStepReference(step, tensors), tensor)).to.deep.equal([]);
  });

  for (const kind of KINDS) {
    it(`${kind}_allPairsOfKindsOfRows_haveTheBitsOfTheDefinition`, async () => {
      for (const terms of [1, 33, 384, 1_025]) {
        const step = matMulStep(count, terms, count);
        await compare(step, [rowsOf(terms, false), rowsOf(terms, true)], { ...ALWAYS, kind });
      }
    });

    it(`${kind}_anyNumberOfModuli_givesTheSameBits`, async () => {
      const terms = 64;
      const step = matMulStep(count, terms, count);
      const tensors = [rowsOf(terms, false), rowsOf(terms, true)];
      const counts = Array.from({ length: 12 }, (_, k) => k + 1).filter((n) => moduliFor(kind, terms, n) !== undefined);
      expect(counts).to.include.members([8, 12]);
      for (const moduli of counts) await compare(step, tensors, { ...ALWAYS, kind, moduli });
    });

    it(`${kind}_theLongestSums_areExact`, async () => {
      for (const terms of [4_096, 8_193, 32_768, 32_769, 65_535]) {
        const step = matMulStep(4, terms, 4);
        const largest = new Uint8Array(new Float32Array(4 * terms).fill(2 - 2 ** -23).buffer);
        const negative = new Uint8Array(new Float32Array(4 * terms).fill(2 ** -23 - 2).buffer);
        await compare(step, [largest, negative], { ...ALWAYS, kind });
      }
    });

    it(`${kind}_halves_areRoundedOnce`, async () => {
      for (const dtype of [DType.float16, DType.bfloat16]) {
        const terms = 40;
        const plain = matMulStep(count, terms, count);
        const inputs = plain.inputs.map((input) => ({ ...input, dtype }));
        const tensors = [false, true].map((cancels) => {
          const wide = new Uint32Array(rowsOf(terms, cancels).buffer);
          const bytes = new Uint8Array(2 * wide.length);
          wide.forEach((word, k) => writeWord(bytes, k, dtype, cast(BigInt(word), DType.float32, dtype)));
          return bytes;
        });
        await compare({ ...plain, dtype, inputs, reduceType: dtype }, tensors, { ...ALWAYS, kind });
      }
    });
  }

  it("sumsThatAreTooLongForACertificate_areSummedTermByTerm", async () => {
    for (const terms of [65_536, 131_071]) {
      const step = matMulStep(4, terms, 4);
      const tensors = [0, 1].map(() => new Uint8Array(new Float32Array(4 * terms).fill(2 - 2 ** -23).buffer));
      const { tensor, isProduct } = await compute(step, tensors, { products: ALWAYS });
      expect(isProduct).to.equal(false);
      expect(wrongOf(executeStepReference(step, tensors), tensor)).to.deep.equal([]);
    }
  });

  it("anyCutAndAnyOrderOfDispatches_giveTheSameBits", async () => {
    const terms = 50;
    const step = matMulStep(count, terms, count);
    const tensors = [rowsOf(terms, false), rowsOf(terms, true)];
    const expected = executeStepReference(step, tensors);
    for (const [seed, mostBytes] of [16_000, 24_000, 2 ** 20].entries())
      for (const mostOperations of [1, 2 ** 16]) {
        const products = { ...ALWAYS, mostBytes };
        const cutting = { mostOperations, order: new Prng(seed) };
        const { tensor, isProduct } = await compute(step, tensors, { products, cutting });
        expect(isProduct).to.equal(true);
        expect(wrongOf(expected, tensor), `${mostBytes} bytes, seed ${seed}`).to.deep.equal([]);
      }
  });

  for (const kind of KINDS)
    it(`${kind}_aCertificateThatIsNeverEnough_orTooWeak_isTold`, async () => {
      const terms = 3;
      const step = matMulStep(count, terms, count);
      const tensors = [rowsOf(terms, false), rowsOf(terms, false)];
      const expected = executeStepReference(step, tensors);
      const products = { ...ALWAYS, kind, moduli: kind === "bytes" ? 7 : 5 };
      const settled = faultyGpu(gpu, "let isOpen = ", "let isOpen = true || ");
      expect(wrongOf(expected, (await compute(step, tensors, { products }, settled)).tensor)).to.deep.equal([]);
      const weak = faultyGpu(gpu, "e[j] = (bound[j", "e[j] = (shr64(bound, 3u)[j");
      const executor = await createGpuExecutor(stepModel([step]), weak, { seed: 1, products });
      let found: number | string = 0;
      try {
        found = wrongOf(expected, (await executor.run(tensors)).tensors[0]!).length;
      } catch (error) {
        found = (error as Error).message;
      }
      await executor.close();
      expect(found).not.to.equal(0);
    });
});
