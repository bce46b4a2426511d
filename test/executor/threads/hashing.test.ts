import { expect } from "chai";
import { createExecutor, type ExecutorOptions } from "../../../src/executor/createExecutor.ts";
import type { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { Op } from "../../../src/program/operations.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { stepModel } from "../../../testkit/programs/stepModel.ts";

const dtype = DType.float32;
const COUNT = 100_003;
const STEPS = 4;

/** What it reads, plus 1. */
const increment = (index: number): Step => ({
  dtype,
  count: COUNT,
  inputs: [{ kind: index === 0 ? "input" : "step", index: Math.max(0, index - 1), dtype, count: COUNT }],
  outDigits: [COUNT],
  redDigits: [],
  reduce: Reduce.none,
  constants: [{ dtype, value: 0x3f800000n }],
  termReads: [],
  epilogueReads: [
    { input: 0, fill: 0n, axes: [{ extent: COUNT, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }] },
  ],
  term: { code: [], outA: 0, outB: 0 },
  epilogue: { code: [{ op: Op.add, dtype, a: 0, b: 1, c: 0 }], out: 2 },
});

/** All steps but the third are checkpoints. */
function model(): CompiledModel {
  const plain = stepModel(Array.from({ length: STEPS }, (_, k) => increment(k)));
  const checkpoints = [
    { first: 0, step: 0 },
    { first: 1, step: 1 },
    { first: 2, step: 3 },
  ];
  return { ...plain, program: { ...plain.program, checkpoints } };
}

const inputs = [new Uint8Array(Float32Array.from({ length: COUNT }, (_, k) => Math.sin(k)).buffer)];

const VARIANTS: Record<string, ExecutorOptions> = {
  oneThread: { threads: 1 },
  twoThreads: { threads: 2, minSplit: 0, evenly: true },
  asManyAsThereAre: {},
};

describe("trees that are hashed during an execution", () => {
  for (const [name, options] of Object.entries(VARIANTS)) {
    it(`${name}_areThoseOfTheTensors_inEveryRun`, async () => {
      const compiled = model();
      const executor = await createExecutor(compiled, options);
      const plain = await executor.run(inputs);
      for (let run = 0; run < 5; run++) {
        const trees = new Map<number, MerkleList>();
        const { tensors } = await executor.run(inputs, { keep: () => false, trees });
        expect([...trees.keys()]).to.deep.equal([0, 1, 3]);
        for (const [step, tree] of trees) {
          expect(Buffer.compare(tensors[step]!, plain.tensors[step]!), `run ${run}, step ${step}`).to.equal(0);
          expect(tree.root, `run ${run}, step ${step}`).to.equal(tensorRoot(tensors[step]!));
        }
        const trace = new Trace(compiled.program, tensors, trees);
        expect(trace.root).to.equal(new Trace(compiled.program, plain.tensors).root);
      }
      await executor.close();
    });

    it(`${name}_areRight_afterARunThatFailed`, async () => {
      const executor = await createExecutor(model(), options);
      for (const failing of [0, 1, 3]) {
        let failure: unknown;
        const progress = (done: number): void => {
          if (done > failing) throw new RangeError("stopped");
        };
        await executor.run(inputs, { progress, trees: new Map() }).catch((error: unknown) => (failure = error));
        expect(failure).to.be.instanceOf(RangeError);
        const trees = new Map<number, MerkleList>();
        const { tensors } = await executor.run(inputs, { trees });
        for (const [step, tree] of trees) expect(tree.root).to.equal(tensorRoot(tensors[step]!));
      }
      await executor.close();
    });

    it(`${name}_ofAlteredTensors_areThoseOfWhatTheyWereAlteredTo`, async () => {
      const executor = await createExecutor(model(), options);
      const trees = new Map<number, MerkleList>();
      const onStep = (step: number, tensor: Uint8Array): void => {
        if (step === 1) tensor[5]! ^= 1;
      };
      const { tensors } = await executor.run(inputs, { onStep, trees });
      for (const [step, tree] of trees) expect(tree.root).to.equal(tensorRoot(tensors[step]!));
      await executor.close();
    });
  }
});
