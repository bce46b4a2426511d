import { expect } from "chai";
import type { Executor } from "../../../src/executor/createExecutor.ts";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import { SuccessiveTrees } from "../../../src/executor/successiveTrees.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import type { Step } from "../../../src/program/types.ts";
import { faultyGpu, shrunkenGpu, softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { axis, NO_REDUCTION, stepModel } from "../../../testkit/programs/stepModel.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { rejection } from "../../../testkit/rejection.ts";

const dtype = DType.float32;
/** Some 157 chunks, the last one short; of the second step, less than a chunk. */
const COUNTS = [20_001, 100];
const CHUNK = 128;

/** Copies two carried inputs, each into a checkpoint. */
function copies(): CompiledModel {
  const steps = COUNTS.map((count, index): Step => ({
    ...NO_REDUCTION,
    ...{ dtype, count, inputs: [{ kind: "input", index, dtype, count }], outDigits: [count] },
    epilogueReads: [{ input: 0, fill: 0n, axes: [axis(0, count, 1)] }],
    epilogue: { code: [], out: 0 },
  }));
  const plain = stepModel(steps);
  const inputs = COUNTS.map((count, checkpoint) => ({
    dtype,
    count,
    source: { kind: "carried", checkpoint } as const,
  }));
  const checkpoints = [0, 1].map((step) => ({ first: step, step }));
  return { ...plain, program: { ...plain.program, inputs, checkpoints } };
}

const sines = (): Uint8Array[] =>
  COUNTS.map((count) => new Uint8Array(Float32Array.from({ length: count }, (_, k) => Math.sin(k)).buffer));

describe("trees of executions that follow each other on a GPU", function () {
  this.timeout(120_000);
  let gpu: Gpu;
  let executor: Pick<Executor, "run" | "close">;
  before(async function () {
    gpu = await softwareGpu(this);
  });
  beforeEach(async () => {
    executor = await createGpuExecutor(copies(), gpu);
  });
  afterEach(() => executor.close());

  async function follow(inputs: readonly Uint8Array[], trees: SuccessiveTrees): Promise<Uint8Array[]> {
    const { tensors } = await executor.run(inputs, { keep: () => false, trees });
    const plain = await executor.run(inputs);
    for (const step of [0, 1]) {
      expect(Buffer.compare(tensors[step]!, plain.tensors[step]!), `step ${step}`).to.equal(0);
      expect(trees.get(step)!.equals(tensorTree(plain.tensors[step]!)), `step ${step}`).to.equal(true);
    }
    return tensors;
  }

  it("areThoseOfTheTensors_whateverChanged", async () => {
    const [prng, trees, inputs] = [new Prng(3), new SuccessiveTrees(), sines()];
    const words = inputs.map(({ buffer }) => new Uint32Array(buffer));
    const changes: (() => unknown)[] = [
      () => undefined,
      () => undefined,
      () => (words[0]![prng.below(COUNTS[0]!)]! ^= 1),
      () => (words[0]![0]! ^= 1),
      () => [1, 130, 9_000, COUNTS[0]! - 1].forEach((k) => (words[0]![k]! ^= 1)),
      () => (words[1]![99]! ^= 1),
      () => words[0]!.forEach((word, k) => (words[0]![k] = word ^ 2)),
      () => words[0]!.set([0x7fc00000, 0, 0x7fc00001, 0x80000000]),
      () => words[0]!.set([0xffc00000, 0x80000000, 0x7f800001, 0]),
    ];
    for (const change of changes) {
      change();
      await follow(inputs, trees);
    }
  });

  it("onlyChangedChunksAreHashed", async () => {
    // Leaves that an execution hashes after the first one get a mark in place of the hash.
    const marking = "if (differs) { if (peek(P[1].z) != 0u) { hashChunk(c); } else { poke(P[0].w + 8u * c, 77u); } }";
    await executor.close();
    executor = await createGpuExecutor(copies(), faultyGpu(gpu, "if (differs) { hashChunk(c); }", marking));
    const [trees, inputs] = [new SuccessiveTrees(), sines()];
    await executor.run(inputs, { trees });
    const changed = [3, 4, 150];
    for (const chunk of changed) inputs[0]!.fill(1, 4 * CHUNK * chunk + 8, 4 * CHUNK * chunk + 12);
    await executor.run(inputs, { trees });
    const { leaves } = trees.get(0)!;
    const own = tensorTree(inputs[0]!).leaves;
    for (let chunk = 0; chunk < leaves.length / 32; chunk++) {
      const [leaf, expected] = [leaves, own].map((list) => Buffer.from(list.subarray(32 * chunk, 32 * chunk + 32)));
      expect(leaf!.equals(expected!), `chunk ${chunk}`).to.equal(!changed.includes(chunk));
      if (changed.includes(chunk)) expect(leaf!.readUInt32LE()).to.equal(77);
    }
  });

  it("carriedTensors_areReadBeforeTheyAreOverwritten", async () => {
    const trees = new SuccessiveTrees();
    let inputs: readonly Uint8Array[] = sines();
    const expected = await executor.run(inputs);
    for (let item = 0; item < 3; item++) {
      inputs = (await executor.run(inputs, { keep: () => false, trees })).tensors;
      inputs.forEach((tensor, k) => expect(Buffer.compare(tensor, expected.tensors[k]!)).to.equal(0));
    }
  });

  it("ofTwoOwnersInTurn_areTheirs", async () => {
    const owners = [0, 1].map((k) => ({ trees: new SuccessiveTrees(), inputs: sines().map((bytes) => bytes.fill(k)) }));
    const roots = owners.map(({ inputs }) => tensorTree(inputs[0]!).root);
    for (let turn = 0; turn < 4; turn++) {
      const { trees, inputs } = owners[turn % 2]!;
      await follow(inputs, trees);
      owners.slice(0, turn + 1).forEach((owner, k) => expect(owner.trees.get(0)!.root).to.equal(roots[k]));
    }
  });

  it("afterAnExecutionWithTreesOfItsOwn_areRight", async () => {
    const [trees, inputs] = [new SuccessiveTrees(), sines()];
    await follow(inputs, trees);
    await executor.run(
      inputs.map((bytes) => Uint8Array.from(bytes).fill(1)),
      { trees: new Map() },
    );
    inputs[0]![4] = 9;
    await follow(inputs, trees);
  });

  it("afterARunThatFailed_orAltersTensors_areRight", async () => {
    const [trees, inputs] = [new SuccessiveTrees(), sines()];
    await follow(inputs, trees);
    inputs[0]!.fill(7);
    const stop = (): void => {
      throw new RangeError("stopped");
    };
    expect(await rejection(executor.run(inputs, { trees, progress: stop }))).to.be.instanceOf(RangeError);
    await follow(inputs, trees);
    const onStep = (step: number, tensor: Uint8Array): void => void (step === 0 && (tensor[5] = 9));
    const { tensors } = await executor.run(inputs, { keep: () => false, trees, onStep });
    expect(tensors[0]![5]).to.equal(9);
    expect(trees.get(0)!.root).to.equal(tensorTree(tensors[0]!).root);
  });

  it("withoutRoomForThat_areHashedAnew", async () => {
    await executor.close();
    const bytes = COUNTS.reduce((sum, count) => sum + 8 * count, 20_000);
    const small = shrunkenGpu(gpu, { pageBytes: 256 * Math.ceil(bytes / 256), pages: 1 });
    executor = await createGpuExecutor(copies(), small);
    const [trees, inputs] = [new SuccessiveTrees(), sines()];
    await follow(inputs, trees);
    inputs[0]![4] = 9;
    await follow(inputs, trees);
    expect(trees.get(0)).to.be.instanceOf(MerkleList);
  });
});
