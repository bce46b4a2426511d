import { expect } from "chai";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../src/executor/engine/onnxEngine.ts";
import { exactSums } from "../../src/executor/exactSums.ts";
import { executeStepReference } from "../../src/executor/referenceStep.ts";
import { DType, dtypeName, readWord, type Word } from "../../src/numerics/dtype.ts";
import { makeProvable } from "../../src/compiler/passes/provable/makeProvable.ts";
import { joinedSum } from "../../src/executor/plan/joinedSum.ts";
import { estimateStepProof } from "../../src/program/gas.ts";
import { MAX_STEP_BYTES } from "../../src/program/limits.ts";
import { Op } from "../../src/program/operations.ts";
import { validateStep } from "../../src/program/validate.ts";
import { evaluateElement } from "../../src/program/evaluate.ts";
import { Reduce, type Step } from "../../src/program/types.ts";
import { AT_LENGTH } from "../../testkit/atLength.ts";
import { randomStep } from "../../testkit/programs/randomStep.ts";
import { matMulStep, stepModel } from "../../testkit/programs/stepModel.ts";
import { tensorOf } from "../../testkit/programs/tensorOf.ts";
import { Prng } from "../../testkit/random/prng.ts";

/** Words of 16 bits whose products of pairs lie half-way between two others, or next to that. */
const NEAR_TIES = {
  [DType.float16]: { tie: [0x6800n, 0x3c00n], min: [0x0001n, 0x8001n, 0n] },
  [DType.bfloat16]: { tie: [0x4380n, 0x3f80n], min: [0x0001n, 0x8001n, 0n] },
} as const;

function expectDefinition(step: Step, tensors: readonly Uint8Array[], bytes: Uint8Array, what: string): void {
  const read = (input: number, offset: number): Word => readWord(tensors[input]!, offset, step.inputs[input]!.dtype);
  for (let i = 0; i < step.count; i++)
    expect(readWord(bytes, i, step.dtype), `${what}, element ${i}`).to.equal(evaluateElement(step, i, read));
}

describe("exact sums of whole steps", function () {
  this.timeout(60_000);

  it("anyRandomStep_hasTheBitsOfTheDefinition", () => {
    const prng = new Prng(77);
    const found = new Map<number, number>();
    for (let n = 0; [...found.values()].reduce((all, count) => all + count, 0) < (AT_LENGTH ? 60 : 30); n++) {
      const { step, tensors } = randomStep(prng);
      if (exactSums(step, tensors) === undefined) continue;
      found.set(step.reduceType!, (found.get(step.reduceType!) ?? 0) + 1);
      expectDefinition(step, tensors, executeStepReference(step, tensors), `step ${n}`);
    }
    expect([...found.keys()].sort((a, b) => a - b)).to.deep.equal([DType.float32, DType.float16, DType.bfloat16]);
  });

  it("splitSumOf16Bits_isJoinedOnlyIfItsTermsAreAsTheyAreRead", () => {
    const dtype = DType.float16;
    const product = matMulStep(2, 9000, 2);
    const bare: Step = {
      ...product,
      ...{ dtype, reduceType: dtype, inputs: product.inputs.map((ref) => ({ ...ref, dtype })) },
    };
    const code = [{ op: Op.neg, dtype, a: 0, b: 0, c: 0 }];
    for (const [step, isJoined] of [
      [bare, true],
      [{ ...bare, term: { code, outA: 2, outB: 1 } }, false],
    ] as const) {
      const gas = Math.floor(estimateStepProof(step).gas / 2);
      const [partial, total] = makeProvable([step], { gas, bytes: MAX_STEP_BYTES }).steps as [Step, Step];
      expect(joinedSum(partial, total) !== undefined).to.equal(isJoined);
    }
  });

  it("totalOfALimbConstant_isTheDefinitions", async () => {
    for (const reduceType of [DType.float32, DType.float16]) {
      const step: Step = {
        ...matMulStep(1, 4, 1),
        ...{ dtype: reduceType, count: 2, inputs: [], outDigits: [2], redDigits: [4], termReads: [] },
        ...{ reduce: Reduce.total, reduceType, constants: [{ dtype: DType.limb, value: 8n }] },
        term: { code: [], outA: 0, outB: 0 },
      };
      validateStep(step);
      const executor = await createExecutor(stepModel([step]), { threads: 1 });
      expectDefinition(step, [], (await executor.run([])).tensors[0]!, "executor");
      await executor.close();
    }
  });

  for (const dtype of [DType.float16, DType.bfloat16] as const) {
    it(`sumsNextToTheMiddleOfTwo${dtypeName(dtype)}_areRoundedOnce`, async () => {
      const [rows, terms, columns] = [6, 40, 5];
      const product = matMulStep(rows, terms, columns);
      const inputs = product.inputs.map((ref) => ({ ...ref, dtype }));
      const step: Step = { ...product, dtype, reduceType: dtype, inputs };
      const { tie, min } = NEAR_TIES[dtype];
      const one = tie[1];
      const a = Array.from({ length: rows * terms }, (_, k) => {
        const [row, term] = [Math.floor(k / terms), k % terms];
        return term < 2 ? tie[term]! : term === 2 + row ? min[row % 3]! : 0n;
      });
      const tensors = [
        tensorOf(dtype, a),
        tensorOf(
          dtype,
          Array.from({ length: terms * columns }, () => one),
        ),
      ];
      const engine = await onnxEngine();
      const executor = await createExecutor(stepModel([step]), { engine });
      const run = await executor.run(tensors);
      expectDefinition(step, tensors, run.tensors[0]!, "executor");
      await executor.close();
      await engine.close();
      const words = new Set(Array.from({ length: step.count }, (_, i) => readWord(run.tensors[0]!, i, dtype)));
      expect([...words].sort()).to.deep.equal([tie[0], tie[0] + 1n]);
    });
  }
});
