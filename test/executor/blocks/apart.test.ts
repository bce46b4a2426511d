import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { decoderInputs } from "../../../src/compiler/wraps/decoderInputs.ts";
import { wrapDecoder } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { apartLengths } from "../../../src/executor/blocks/blocksOf.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { carriedTensors, keptSteps, type Carried } from "../../../src/program/trace/runItems.ts";
import { gpt2Decoder } from "../../../testkit/models/exports/language.ts";
import { gpt2Decoder as sizedDecoder } from "../../../testkit/models/gpt2.ts";
import { halfDecoder } from "../../../testkit/models/halfDecoder.ts";
import { LLAMA_TINY, llama } from "../../../testkit/models/llama.ts";
import { trainable, trainingInputs } from "../../../testkit/models/trainable.ts";
import { apartAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";

/** Runs of the same program, with different inputs. */
type Runs = { model: CompiledModel; runs: readonly RunInputs[] };
type Item = { inputs: readonly Uint8Array[]; tensors: readonly Uint8Array[] };

const ITEMS = 6;
const LENGTHS = [2, 4, 8];

function runsOf(model: CompiledModel, firstItem: number, given: readonly (readonly Uint8Array[])[]): Runs {
  const runs = given.map((bytes) => new RunInputs(model.program.inputs, { items: ITEMS, firstItem }, [...bytes]));
  return { model, runs };
}

function decoder(bytes: Uint8Array): Runs {
  const { model: wrapped, run } = wrapDecoder(readModel(bytes), { slots: ITEMS });
  const model = compile(wrapped, { shapes: {}, run });
  const prompts = [[7, 20, 2, 9], [3], [1, 1]];
  return runsOf(
    model,
    0,
    prompts.map((prompt, k) => decoderInputs(model, { prompt, temperature: k / 2, topK: 4 * k, seed: BigInt(k) })),
  );
}

function everySource(): Runs {
  const bytes = runInputBytes(ITEMS);
  const changed = bytes.map((each, k) => (k === 2 ? each.map((byte) => byte ^ 5) : each));
  return runsOf(runProgram().model, 3, [bytes, changed]);
}

function apartItems(): Runs {
  return runsOf(apartAnswers("two").model, 0, [runInputBytes(ITEMS)]);
}

function training(): Runs {
  const own = trainable({ loss: "crossEntropy", optimiser: "adam" });
  return runsOf(
    own.program.model,
    0,
    [0.1, 0.2].map((rate) => trainingInputs(own, ITEMS, rate)),
  );
}

const KINDS: Readonly<Record<string, () => Runs>> = {
  everySource,
  apartItems,
  training,
  gpt2: () => decoder(gpt2Decoder("input").bytes),
  llamaOfFourBits: () => decoder(llama(LLAMA_TINY)),
  halves: () => decoder(halfDecoder()),
};

describe("items of different runs, executed together", function () {
  this.timeout(120_000);

  for (const [name, make] of Object.entries(KINDS))
    it(`${name}_haveTheBitsOfItemsOneByOne`, async () => {
      const { model, runs } = make();
      const { program } = model;
      const executor = await createExecutor(model, {
        threads: 1,
        blocks: { lengths: [4], guessed: [], apart: LENGTHS },
      });
      const kept = keptSteps(program);
      const items: Item[] = [];
      for (const run of runs) {
        let carried: Carried = new Map();
        for (let item = 0; item < ITEMS; item++) {
          const inputs = run.of(item, carried);
          const { tensors } = await executor.run(inputs, { keep: (step) => kept.has(step) });
          carried = carriedTensors(program, (step) => tensors[step]!);
          items.push({ inputs, tensors });
        }
      }
      // Items of different runs and places stand beside each other.
      const mixed = items.map((_, k) => items[(5 * k) % items.length]!);
      for (const count of [1, 2, 3, 5, 8])
        for (let from = 0; from < mixed.length;) {
          const some = mixed.slice(from, from + count);
          const results = await executor.runApart(some.map(({ inputs }) => inputs));
          expect(results.length).to.be.within(1, some.length);
          results.forEach((tensors, k) => {
            for (const step of kept)
              expect(Buffer.compare(tensors[step]!, some[k]!.tensors[step]!), `${count}: ${k}, ${step}`).to.equal(0);
          });
          from += results.length;
        }
      // Single items and blocks of a run are as before.
      const [first] = items;
      const again = await executor.run(first!.inputs, { keep: (step) => kept.has(step) });
      for (const step of kept) expect(Buffer.compare(again.tensors[step]!, first!.tensors[step]!)).to.equal(0);
      await executor.close();
    });

  it("withoutBlocksForThem_areLeftToItemsOneByOne", async () => {
    const { model, runs } = everySource();
    const executor = await createExecutor(model, { threads: 1, blocks: { lengths: [4], guessed: [] } });
    expect(await executor.runApart(runs.map((run) => run.of(0)))).to.deep.equal([]);
    await executor.close();
  });

  it("longCaches_makeBlocksShort_orNone", () => {
    const lengthsAt = (slots: number): readonly number[] => {
      const shape = { layers: 1, width: 64, heads: 2, tokens: slots, vocabulary: 20 };
      const { model, run } = wrapDecoder(readModel(sizedDecoder(shape)), { slots, greedy: true });
      const { program } = compile(model, { shapes: {}, run });
      const inputs = program.inputs.map((input) => (input.count >= slots * 64 ? { ...input, count: 2 ** 27 } : input));
      return apartLengths(slots > 32 ? { ...program, inputs } : program);
    };
    expect(lengthsAt(32)).to.deep.equal([2, 4, 8]);
    // Two caches of half a GiB for each item.
    expect(lengthsAt(64)).to.deep.equal([]);
  });
});
