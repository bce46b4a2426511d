import { expect } from "chai";
import { SharesError, TrainingError } from "../../../src/compiler/errors.ts";
import { cutSum, type SumForm } from "../../../src/compiler/passes/shares/sumSteps.ts";
import { parseShare, shareText, type TrainSpec } from "../../../src/compiler/wraps/trainSpec.ts";
import { TRAINING } from "../../../src/compiler/wraps/wrapTraining.ts";
import { createExecutor, type Executor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { itAtLength } from "../../../testkit/atLength.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { rowSumStep } from "../../../testkit/programs/stepModel.ts";
import { Builder } from "../../../testkit/training/builder.ts";
import { buildScores, cutOf, dense, SHARE_CASES } from "../../../testkit/training/randomShares.ts";
import { digitsTraining } from "../../../testkit/training/digitsExample.ts";
import { SharedTraining, type ExecuteProgram } from "../../../testkit/training/shares.ts";

const OPTIMISERS = ["sgd", "momentum", "nesterov", "adagrad", "adam"] as const;

/** Executors that are made once for each program. */
class Fast {
  readonly #made = new Map<CompiledModel, Executor>();

  readonly execute: ExecuteProgram = async (compiled, inputs) => {
    const executor = this.#made.get(compiled) ?? (await createExecutor(compiled));
    this.#made.set(compiled, executor);
    return (await executor.run(inputs)).tensors;
  };

  async close(): Promise<void> {
    for (const executor of this.#made.values()) await executor.close();
  }
}

/** Plays steps of a worker alone, and of shares. @returns names whose bits differ, with the step */
async function differences(kind: keyof typeof SHARE_CASES, seed: number, steps: number): Promise<string[]> {
  const prng = new Prng(seed);
  const { onnx, batch, loss, x, labels } = SHARE_CASES[kind](prng);
  const spec: TrainSpec = { loss, optimiser: OPTIMISERS[prng.below(5)]! };
  const training = new SharedTraining(readModel(onnx), spec);
  const fast = new Fast();
  let state = new Map([...training.initial].map(([name, { bytes }]) => [name, bytes]));
  const found: string[] = [];
  for (let step = 0; step < steps; step++) {
    const given = new Map([...state, ["x", x], ["labels", labels], ["rates", floatTensor([0.25]).bytes]]);
    given.set(TRAINING.index, int64Tensor([step]).bytes);
    const alone = await training.whole(given, fast.execute);
    const cut = cutOf(prng, batch);
    for (const execute of [fast.execute, executeReference as ExecuteProgram]) {
      const joined = await training.cut(given, cut, execute);
      for (const [name, bytes] of alone)
        if (!Buffer.from(bytes).equals(joined.get(name)!))
          found.push(`seed ${seed}, step ${step}: ${name}, ${cut.join()}`);
    }
    state = new Map([...state.keys()].map((name) => [name, alone.get(TRAINING.next(name))!]));
  }
  await fast.close();
  return found;
}

/**
 * The states after a step, by the fast executor and by the definition, for random cuts.
 * @returns one entry for each cut: its bits, equal for both executors
 */
async function bitsOfCuts(kind: keyof typeof SHARE_CASES, seed: number, sums: SumForm, cuts: number) {
  const prng = new Prng(seed);
  const { onnx, batch, loss, x, labels } = SHARE_CASES[kind](prng);
  const training = new SharedTraining(readModel(onnx), { loss, optimiser: OPTIMISERS[prng.below(5)]! });
  const fast = new Fast();
  const given = new Map([...training.initial].map(([name, { bytes }]) => [name, bytes]));
  for (const [name, bytes] of Object.entries({ x, labels, rates: floatTensor([0.25]).bytes })) given.set(name, bytes);
  given.set(TRAINING.index, int64Tensor([0]).bytes);
  const textOf = (made: ReadonlyMap<string, Uint8Array>): string =>
    [...made].map(([name, bytes]) => `${name} ${Buffer.from(bytes).toString("hex")}`).join();
  const found: string[] = [];
  for (let k = 0; k < cuts; k++) {
    const cut = cutOf(prng, batch);
    const made = await training.cut(given, cut, fast.execute, { sums });
    const defined = await training.cut(given, cut, executeReference, { sums });
    expect(textOf(made), `${kind} ${seed} ${sums} ${cut.join()}`).to.equal(textOf(defined));
    found.push(textOf(made));
  }
  await fast.close();
  return found;
}

describe("training over shares of a batch", () => {
  for (const kind of ["dense", "pictures"] as const)
    it(`anyCutOfABatch_givesTheBitsOfOneWorker_${kind}`, async () => {
      expect(await differences(kind, 1, 1)).to.deep.equal([]);
    });

  for (const kind of ["dense", "pictures", "tokens"] as const)
    itAtLength(`manyCutsOfManyModels_giveTheBitsOfOneWorker_${kind}`, async () => {
      for (let seed = 100; seed < 130; seed++) expect(await differences(kind, seed, 2)).to.deep.equal([]);
    });

  it("fixedSums_haveTheSameBitsForAnyCut", async () => {
    expect(new Set(await bitsOfCuts("dense", 3, "fixed", 3)).size).to.equal(1);
  });

  it("roundedSumsAndBytes_areThoseOfTheDefinition", async () => {
    for (const sums of ["rounded", "bytes"] as const) await bitsOfCuts("dense", 4, sums, 1);
  });

  itAtLength("manyFixedSums_haveTheSameBitsForAnyCut_andBytesThoseOfTheDefinition", async () => {
    for (const kind of Object.keys(SHARE_CASES) as (keyof typeof SHARE_CASES)[])
      for (let seed = 200; seed < 210; seed++) {
        expect(new Set(await bitsOfCuts(kind, seed, "fixed", 4)).size, `${kind} ${seed}`).to.equal(1);
        await bitsOfCuts(kind, seed, "bytes", 2);
      }
  });

  itAtLength("digits_1_2_4_8Shares_giveTheStateOfOneWorker_afterSeveralSteps", async () => {
    const steps = 3;
    const { onnx, spec, rates, batch } = digitsTraining(steps);
    const training = new SharedTraining(readModel(onnx), { ...spec, rates: steps });
    const fast = new Fast();
    const first = new Map([...training.initial].map(([name, { bytes }]) => [name, bytes]));
    const stateAfter = async (shares: number): Promise<Map<string, Uint8Array>> => {
      let given = first;
      for (let step = 0; step < steps; step++) {
        const all = new Map([...given, ...Object.entries(batch(step)), [TRAINING.rates, new Uint8Array(rates.buffer)]]);
        all.set(TRAINING.index, int64Tensor([step]).bytes);
        const made =
          shares === 0
            ? await training.whole(all, fast.execute)
            : await training.cut(all, new Array<number>(shares).fill(64 / shares), fast.execute);
        given = new Map([...given.keys()].map((name) => [name, made.get(TRAINING.next(name))!]));
        given.set(TRAINING.loss, made.get(TRAINING.loss)!);
      }
      return given;
    };
    const alone = await stateAfter(0);
    for (const shares of [1, 2, 4, 8]) {
      const joined = await stateAfter(shares);
      for (const [name, bytes] of alone)
        expect(Buffer.from(joined.get(name)!).equals(bytes), `${name} ${shares}`).to.equal(true);
    }
    await fast.close();
  });

  it("theJoinedStateDoesNotDependOnWhoComputedWhichShare_butARoundedOneMay", async () => {
    const prng = new Prng(5);
    const { onnx, batch, x, labels } = dense(prng);
    const training = new SharedTraining(readModel(onnx), { loss: "mse", optimiser: "sgd" });
    expect(batch).to.be.greaterThan(2);
    const given = new Map([...training.initial].map(([name, { bytes }]) => [name, bytes]));
    for (const [name, bytes] of Object.entries({ x, labels, rates: floatTensor([1]).bytes })) given.set(name, bytes);
    given.set(TRAINING.index, int64Tensor([0]).bytes);
    const cuts = [[1, batch - 1], [batch - 1, 1], [batch], new Array<number>(batch).fill(1)];
    const bits = async (sums?: SumForm): Promise<Set<string>> => {
      const all = cuts.map((cut) => training.cut(given, cut, executeReference as ExecuteProgram, { sums }));
      return new Set((await Promise.all(all)).map((made) => Buffer.from(made.get("weights_next")!).toString("hex")));
    };
    expect((await bits()).size).to.equal(1);
    expect((await bits("fixed")).size).to.equal(1);
    expect((await bits("rounded")).size).to.be.greaterThan(1);
  });
});

describe("training steps that cannot be cut", () => {
  const refused = (b: Builder, shape: readonly number[], share: string, loss: TrainSpec["loss"] = "mse"): string => {
    const training = new SharedTraining(readModel(buildScores(b, shape)), { loss, optimiser: "sgd" });
    try {
      training.program(parseShare(share));
    } catch (error) {
      expect(error).to.be.instanceOf(SharesError);
      return (error as Error).message;
    }
    throw new Error("it was cut");
  };
  const centred = (): Builder => {
    const b = new Builder();
    const mean = b.node("ReduceMean", ["x", b.constant(int64Tensor([0]))], { keepdims: 1 });
    b.dense(b.node("Sub", ["x", mean]), 3, 2, { name: "scores" });
    return b;
  };

  it("aNodeThatReadsAResultOfAllExamples_isNamed", () => {
    expect(refused(centred(), [4, 3], "part=2")).to.match(
      /Sub.* \(node .*\) cannot be cut along the batch of 4 examples/,
    );
    expect(refused(centred(), [4, 3], "join=2")).to.match(/each example reads a result of all examples/);
  });

  it("aBatchNormalisationInTraining_isNamed", () => {
    const b = new Builder();
    const one = (): string => b.weights([3], 1);
    const outputs = ["n", "mean_out", "var_out"];
    b.nodes.push({
      ...{ op: "BatchNormalization", inputs: ["x", one(), one(), b.zeros([3]), one()], outputs },
      attributes: { training_mode: 1 },
    });
    b.dense("n", 3, 2, { name: "scores" });
    expect(refused(b, [4, 3], "part=2")).to.match(/BatchNormalization/);
  });

  it("aMaximumOverTheBatch_andExamplesThatMeetInAProduct_areNamed", () => {
    const most = new Builder();
    const each = most.dense("x", 3, 2);
    most.named("scores", "Sub", [each, most.node("ReduceMax", [each, most.constant(int64Tensor([0]))])]);
    expect(refused(most, [4, 3], "part=2")).to.match(/ReduceMax.*no sum, but another reduction/);
    const product = new Builder();
    const y = product.dense("x", 3, 2);
    product.named("scores", "MatMul", [y, product.node("Transpose", [y], { perm: [1, 0] })]);
    expect(refused(product, [4, 3], "part=2")).to.match(/MatMul.*meet otherwise than in a sum/);
  });

  it("anExamplesNumberInTheResult_andReversedOrPickedExamples_areNamed", () => {
    const rows = new Builder();
    const table = rows.constant(floatTensor([1, 2, 3, 4, 5, 6, 7, 8], [4, 2]));
    rows.named("scores", "Add", [rows.dense("x", 3, 2), rows.node("Mul", [table, rows.weights([2], 1)])]);
    expect(refused(rows, [4, 3], "part=2")).to.match(/the number of the example/);
    const picked = new Builder();
    const all = picked.dense("x", 3, 2);
    const first = picked.node("Slice", [all, ...[0, 1, 0].map((at) => picked.constant(int64Tensor([at])))]);
    picked.named("scores", "Sub", [all, first]);
    expect(refused(picked, [4, 3], "part=2")).to.match(/meet otherwise than in a sum/);
  });

  it("sharesThatDoNotFitTheBatch_andInputsOfOtherLengths_areRefused", () => {
    const plain = (): Builder => {
      const b = new Builder();
      b.dense("x", 3, 2, { name: "scores" });
      return b;
    };
    expect(refused(plain(), [4, 3], "part=5")).to.match(/from 1 to the 4 examples/);
    expect(refused(plain(), [4, 3], "join=5")).to.match(/from 1 to the 4 examples/);
    expect(refused(plain(), [1, 3], "part=1")).to.match(/two examples or more/);
  });

  it("aModelInputWithANameThatSharesUse_isNamed_andOthersAreCut", () => {
    const programOf = (name: string, share: string): CompiledModel => {
      const b = new Builder();
      b.dense(name, 3, 2, { name: "scores" });
      const float = DType.float32;
      const onnx = b.build([{ name, dtype: float, shape: [4, 3] }], [{ name: "scores", dtype: float }]);
      return new SharedTraining(readModel(onnx), { loss: "mse", optimiser: "sgd" }).program(parseShare(share));
    };
    for (const share of ["part=2", "join=2", "part=2,signs", "join=2,signs"]) {
      for (const name of ["feedback_1", "sum_0", "sum_12", "scale_1"])
        expect(() => programOf(name, share), share).to.throw(SharesError, `input "${name}" has a name that shares use`);
      for (const name of ["feedback", "sum_x", "my_scale_1", "feedback_1_next"])
        expect(programOf(name, share).inputs.some((input) => input.name === name)).to.equal(share.startsWith("part"));
    }
  });

  it("aFormOfSumsThatIsNone_isRefusedInCodeToo_forAnySum", () => {
    const none = [
      "",
      "top",
      "top=0",
      "top=1",
      "top=257",
      "top=1000",
      "top=1.5",
      "top=02",
      "top=-1",
      "top=3\n",
      "Fixed",
    ];
    for (const sum of [rowSumStep(300, 8), rowSumStep(1, 8)]) {
      for (const form of none)
        expect(() => cutSum(sum, form as SumForm, 2, 1), form).to.throw(
          SharesError,
          `sums ${JSON.stringify(form)}: expected exact, fixed, rounded, bytes, signs, top=K with K from 2 to 256`,
        );
      for (const form of ["exact", "fixed", "top=2", "top=256"] as const)
        expect(cutSum(sum, form, 2, 1).feedback, form).to.equal(
          form.startsWith("top") && sum.count > 1 ? 3 : undefined,
        );
    }
  });

  it("aShareIsReadAndWritten_andAnythingElseIsRefused", () => {
    for (const text of [
      "part=16",
      "join=4",
      "part=1,rounded",
      "join=2,fixed",
      "part=3,bytes",
      "part=2,signs",
      "join=3,top=16",
    ])
      expect(shareText(parseShare(text))).to.equal(text);
    for (const text of [
      "",
      "part",
      "part=0",
      "join=-1",
      "part=1.5",
      "part=4,exact",
      "part=4,top=1",
      "join=4,top=257",
      "all=3",
      "part=9999999999",
    ])
      expect(() => parseShare(text), text).to.throw(TrainingError);
  });
});
