import { expect } from "chai";
import { createExecutor, type Executor, type ExecutorOptions } from "../../src/executor/createExecutor.ts";
import { SuccessiveTrees } from "../../src/executor/successiveTrees.ts";
import type { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { Step, TensorRef } from "../../src/program/types.ts";
import { NO_REDUCTION, axis, stepModel } from "../../testkit/programs/stepModel.ts";
import { Prng } from "../../testkit/random/prng.ts";

const dtype = DType.float32;
/** Some two units and a half, the last chunk short; of the second step, less than a chunk. */
const COUNTS = [10_001, 100];

/** Copies an input. */
const copied = (index: number): Step => {
  const count = COUNTS[index]!;
  const ref: TensorRef = { kind: "input", index, dtype, count };
  return {
    ...NO_REDUCTION,
    ...{ dtype, count, inputs: [ref], outDigits: [count] },
    epilogueReads: [{ input: 0, fill: 0n, axes: [axis(0, count, 1)] }],
    epilogue: { code: [], out: 0 },
  };
};

function model(): CompiledModel {
  const plain = stepModel([copied(0), copied(1)]);
  const checkpoints = [0, 1].map((step) => ({ first: step, step }));
  return { ...plain, program: { ...plain.program, checkpoints } };
}

const VARIANTS: Record<string, ExecutorOptions> = {
  oneThread: { threads: 1 },
  twoThreads: { threads: 2, minSplit: 0 },
};

/** Runs once over what was before, and compares with hashing the tensors anew. */
async function follow(executor: Executor, inputs: readonly Uint8Array[], trees: SuccessiveTrees): Promise<void> {
  const { tensors } = await executor.run(inputs, { keep: () => false, trees });
  const plain = await executor.run(inputs);
  for (const step of [0, 1]) {
    expect(Buffer.compare(tensors[step]!, plain.tensors[step]!), `step ${step}`).to.equal(0);
    expect(trees.get(step)!.root, `step ${step}`).to.equal(tensorRoot(plain.tensors[step]!));
  }
}

describe("trees of executions that follow each other", () => {
  for (const [name, options] of Object.entries(VARIANTS)) {
    it(`${name}_areThoseOfTheTensors_whateverChanged`, async () => {
      const executor = await createExecutor(model(), options);
      const [prng, trees] = [new Prng(3), new SuccessiveTrees()];
      const inputs = COUNTS.map(
        (count) => new Uint8Array(Float32Array.from({ length: count }, (_, k) => Math.sin(k)).buffer),
      );
      const words = inputs.map(({ buffer }) => new Uint32Array(buffer));
      const changes: (() => unknown)[] = [
        () => undefined,
        () => undefined,
        () => (words[0]![prng.below(COUNTS[0]!)]! ^= 1),
        () => (words[0]![0]! ^= 1),
        () => (words[0]![COUNTS[0]! - 1]! ^= 1),
        () => (words[1]![99]! ^= 1),
        () => words[0]!.forEach((word, k) => (words[0]![k] = word ^ 2)),
        // NaNs and zeros as programs read them: one of each.
        () => words[0]!.set([0x7fc00000, 0, 0x7fc00001, 0x80000000]),
        () => words[0]!.set([0xffc00000, 0x80000000, 0x7f800001, 0]),
      ];
      for (const change of changes) {
        change();
        await follow(executor, inputs, trees);
      }
      await executor.close();
    });
  }

  it("carriedTensors_areReadBeforeTheyAreOverwritten", async () => {
    const executor = await createExecutor(model(), { threads: 1 });
    const trees = new SuccessiveTrees();
    let inputs: readonly Uint8Array[] = COUNTS.map((count) => new Uint8Array(4 * count).fill(1));
    const expected = await executor.run(inputs);
    for (let item = 0; item < 3; item++) {
      inputs = (await executor.run(inputs, { keep: () => false, trees })).tensors;
      inputs.forEach((tensor, k) => expect(Buffer.compare(tensor, expected.tensors[k]!)).to.equal(0));
    }
    await executor.close();
  });

  it("afterARunThatFailed_areRight", async () => {
    const executor = await createExecutor(model(), { threads: 1 });
    const trees = new SuccessiveTrees();
    const inputs = COUNTS.map((count) => new Uint8Array(4 * count));
    await follow(executor, inputs, trees);
    inputs[0]!.fill(7);
    const progress = (): void => {
      throw new RangeError("stopped");
    };
    let failure: unknown;
    await executor.run(inputs, { trees, progress }).catch((error: unknown) => (failure = error));
    expect(failure).to.be.instanceOf(RangeError);
    await follow(executor, inputs, trees);
    await executor.close();
  });

  it("ofAlteredTensors_areThoseOfTheAlteredBytes", async () => {
    const executor = await createExecutor(model(), { threads: 1 });
    const trees = new SuccessiveTrees();
    const inputs = COUNTS.map((count) => new Uint8Array(4 * count));
    await follow(executor, inputs, trees);
    const onStep = (step: number, tensor: Uint8Array): void => {
      if (step === 0) tensor[5] = 9;
    };
    const { tensors } = await executor.run(inputs, { keep: () => false, trees, onStep });
    expect(tensors[0]![5]).to.equal(9);
    expect(trees.get(0)!.root).to.equal(tensorRoot(tensors[0]!));
    await executor.close();
  });

  it("anotherExecutor_beginsAnew", async () => {
    const trees = new SuccessiveTrees();
    const inputs = COUNTS.map((count) => new Uint8Array(4 * count).fill(2));
    const kept: MerkleList[] = [];
    for (let k = 0; k < 2; k++) {
      const executor = await createExecutor(model(), { threads: 1 });
      await follow(executor, inputs, trees);
      kept.push(trees.get(0)!);
      await executor.close();
    }
    expect(kept[0]).not.to.equal(kept[1]);
    expect(kept[0]!.root).to.equal(kept[1]!.root);
  });
});
