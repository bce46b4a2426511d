import { expect } from "chai";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { ExecutionInputError, ExecutionThreadError } from "../../../src/executor/errors.ts";
import { ItemThreads } from "../../../src/executor/items/itemThreads.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import type { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { int32Words } from "../../../testkit/programs/int32Words.ts";
import { RUN_COUNT, runProgram } from "../../../testkit/programs/runProgram.ts";

const { model } = runProgram();
const inputsOf = (item: number): Uint8Array[] => [
  int32Words(RUN_COUNT, (k) => k * item),
  int32Words(RUN_COUNT, (k) => k + item),
  int32Words(RUN_COUNT, (k) => 7 * k),
  new Uint8Array(BigInt64Array.of(BigInt(item)).buffer),
];

describe("ItemThreads", function () {
  this.timeout(60_000);

  it("manyItemsAtOnce_areThoseOfTheDefinition_withTheirTrees", async () => {
    // An executor lets the constants lie in its memory, which the threads then read.
    const executor = await createExecutor(model, { threads: 1 });
    const threads = await ItemThreads.start(model, 3);
    const run = async (item: number): Promise<void> => {
      const trees = new Map<number, MerkleList>();
      const tensors = await threads.run(inputsOf(item), { keep: (step) => step === 0, trees });
      const expected = executeReference(model, inputsOf(item));
      // The step that is asked for, and those that are hashed.
      expect(Object.keys(tensors)).to.deep.equal(["0", "1", "3"]);
      tensors.forEach((tensor, step) => expect(toHex(tensor)).to.equal(toHex(expected[step]!)));
      for (const step of [1, 3]) expect(trees.get(step)!.root).to.equal(tensorRoot(expected[step]!));
    };
    await Promise.all(Array.from({ length: 50 }, (_, item) => run(item)));
    expect(threads.isIdle).to.equal(true);
    const all = await threads.run(inputsOf(3));
    expect(all.map(toHex)).to.deep.equal(executeReference(model, inputsOf(3)).map(toHex));
    await threads.close();
    await executor.close();
  });

  it("inputsThatDoNotFit_areRefused_andOthersGoOn", async () => {
    const threads = await ItemThreads.start(model, 2);
    const short = inputsOf(1).with(1, new Uint8Array(4));
    expect(await rejection((async () => threads.run(short))())).to.be.instanceOf(ExecutionInputError);
    expect(await threads.run(inputsOf(1))).to.have.length(4);
    await threads.close();
  });

  it("threadsThatEnd_finishWhatTheyHaveBegun_andFailTheRest", async () => {
    const threads = await ItemThreads.start(model, 2);
    const running = Array.from({ length: 40 }, (_, item) => threads.run(inputsOf(item)));
    const settled = Promise.allSettled(running);
    await threads.close();
    const results = await settled;
    expect(results.map(({ status }) => status)).to.deep.equal([
      ...Array.from({ length: 4 }, () => "fulfilled"),
      ...Array.from({ length: 36 }, () => "rejected"),
    ]);
    expect(results.at(-1)).to.have.property("reason").that.is.instanceOf(ExecutionThreadError);
    expect(await rejection(threads.run(inputsOf(1)))).to.be.instanceOf(ExecutionThreadError);
  });

  it("threadsThatCannotStart_sayWhy_andTheProcessLives", async () => {
    // The first one that fails ends the others, which may be loading the engine.
    for (let k = 0; k < (AT_LENGTH ? 5 : 2); k++) {
      const error = await rejection(ItemThreads.start({ ...model, constants: new Map() }, 3));
      expect(error).to.be.instanceOf(ExecutionThreadError);
      expect(error.message).to.include("constant");
    }
  });
});
