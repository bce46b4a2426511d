import { expect } from "chai";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { executeStepReference } from "../../../src/executor/referenceStep.ts";
import { DType, dtypeBytes, writeWord, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { Op, type OpName } from "../../../src/program/operations.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { stepsModel } from "../../../testkit/gpu/stepsModel.ts";
import { hardOperands, hardPowPairs, relevantOperands, UNIVARIATE } from "../../../testkit/numerics/elementaryCases.ts";
import { edgeWords } from "../../../testkit/numerics/floatWords.ts";

const RANDOM = 200;

/** A step that applies an operation to pairs of words. */
function pairStep(name: OpName, dtype: DTypeCode, pairs: readonly (readonly [Word, Word])[], arity: 1 | 2) {
  const count = pairs.length;
  const axes = [{ extent: count, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }];
  const slots = arity === 1 ? [0] : [0, 1];
  const step: Step = {
    ...{ dtype, count, outDigits: [count], redDigits: [], reduce: Reduce.none, constants: [], termReads: [] },
    inputs: slots.map((index) => ({ kind: "input", index, dtype, count })),
    term: { code: [], outA: 0, outB: 0 },
    epilogueReads: slots.map((input) => ({ input, fill: 0n, axes })),
    epilogue: { code: [{ op: Op[name], dtype, a: 0, b: arity - 1, c: 0 }], out: arity },
  };
  const tensors = slots.map((slot) => {
    const bytes = new Uint8Array(count * dtypeBytes(dtype));
    pairs.forEach((pair, k) => writeWord(bytes, k, dtype, pair[slot]!));
    return bytes;
  });
  return { step, tensors };
}

describe("functions on a GPU", function () {
  this.timeout(600_000);
  let gpu: Gpu;
  before(async function () {
    gpu = await softwareGpu(this);
  });

  async function compare(cases: readonly { name: string; step: Step; tensors: Uint8Array[] }[]): Promise<void> {
    const { model, inputs } = stepsModel(cases);
    const executor = await createGpuExecutor(model, gpu, { seed: 1 });
    expect(executor.cpuSteps).to.deep.equal([]);
    const { tensors } = await executor.run(inputs);
    await executor.close();
    cases.forEach(({ name, step, tensors: sources }, s) => {
      const expected = executeStepReference(step, sources);
      const size = dtypeBytes(step.dtype);
      const wrong = Array.from({ length: step.count }, (_, k) => k).filter(
        (k) =>
          Buffer.compare(
            tensors[s]!.subarray(k * size, (k + 1) * size),
            expected.subarray(k * size, (k + 1) * size),
          ) !== 0,
      );
      expect(
        wrong,
        `${name}: the first has ${Buffer.from(sources[0]!)
          .subarray((wrong[0] ?? 0) * size)
          .toString("hex", 0, size)}`,
      ).to.deep.equal([]);
    });
  }

  for (const name of UNIVARIATE)
    it(`${name}_ofHardOperands_hasTheBitsOfTheDefinition`, async () => {
      const operands = [...hardOperands(), ...edgeWords(DType.float32)].map((word): [Word, Word] => [word, 0n]);
      await compare([
        { name, ...pairStep(name, DType.float32, [...operands, ...relevantOperands(name, 7, RANDOM)], 1) },
      ]);
    });

  it("pow_ofHardPairs_hasTheBitsOfTheDefinition", async () => {
    const pairs = [...hardPowPairs(), ...relevantOperands("pow", 7, RANDOM)];
    await compare([{ name: "pow", ...pairStep("pow", DType.float32, pairs, 2) }]);
  });

  it("arithmetic_ofEdges_hasTheBitsOfTheDefinition", async () => {
    const binary = ["add", "sub", "mul", "div", "fmod"] as const;
    const types = [DType.float16, DType.bfloat16, DType.float32, DType.float64];
    await compare(
      types.flatMap((dtype) => {
        const edges = edgeWords(dtype);
        const pairs = edges.flatMap((a) => edges.map((b): [Word, Word] => [a, b]));
        return [
          ...binary.map((name) => ({ name: `${name} ${dtype}`, ...pairStep(name, dtype, pairs, 2) })),
          { name: `sqrt ${dtype}`, ...pairStep("sqrt", dtype, pairs, 1) },
        ];
      }),
    );
  });
});
