import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import type { RunWiring } from "../../../src/compiler/runWiring.ts";
import { wrapDecoder } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { blocksOf } from "../../../src/executor/blocks/blocksOf.ts";
import { blockOrder } from "../../../src/executor/blocks/inPlace.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { DType, dtypeBytes } from "../../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { bytesOf, RunInputs, tensorsOf } from "../../../src/program/trace/runInputs.ts";
import type { Carried } from "../../../src/program/trace/runItems.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { blockedText } from "../../../testkit/decoders/blockedText.ts";
import { gpt2Decoder } from "../../../testkit/models/exports/language.ts";
import { gpt2Decoder as sizedDecoder } from "../../../testkit/models/gpt2.ts";
import { halfDecoder } from "../../../testkit/models/halfDecoder.ts";
import { LLAMA_TINY, llama } from "../../../testkit/models/llama.ts";
import { trainable, trainingInputs } from "../../../testkit/models/trainable.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { compareBlocks, oneByOne, RIGHT, wrongAt } from "../../../testkit/programs/compareBlocks.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { diffusionStep } from "../../../testkit/training/models.ts";

type Run = { model: CompiledModel; inputs: RunInputs };

const ITEMS = 10;
const LENGTHS = AT_LENGTH ? [1, 2, 3, 7] : [3, 7];

/** A run of a model's file, on small numbers that repeat. */
function runOfFile(bytes: Uint8Array, run: RunWiring): Run {
  const model = compile(readModel(bytes), { shapes: {}, run });
  const given = model.program.inputs.map((input, k) => {
    const count = tensorsOf(input, ITEMS) * (bytesOf(input) / dtypeBytes(input.dtype));
    return floatTensor(Array.from({ length: count }, (_, n) => ((5 * n + 3 * k) % 11) / 8 - 0.5)).bytes;
  });
  return { model, inputs: new RunInputs(model.program.inputs, { items: ITEMS, firstItem: 0 }, given) };
}

const vector = [1, 4];
const weights = (phase: number): ReturnType<typeof floatTensor> =>
  floatTensor(
    Array.from({ length: 16 }, (_, k) => Math.sin(k + phase)),
    [4, 4],
  );

/** h = tanh(x W + h U), and y = h V. The product with U is on a circle; the others are not. */
const recurrent = (): Run =>
  runOfFile(
    buildModel({
      inputs: ["x", "h"].map((name) => ({ name, dtype: DType.float32, shape: vector })),
      outputs: ["next", "y"].map((name) => ({ name, dtype: DType.float32 })),
      nodes: [
        { op: "MatMul", inputs: ["x", "w"], outputs: ["xw"] },
        { op: "MatMul", inputs: ["h", "u"], outputs: ["hu"] },
        { op: "Add", inputs: ["xw", "hu"], outputs: ["sum"] },
        { op: "Tanh", inputs: ["sum"], outputs: ["next"] },
        { op: "MatMul", inputs: ["next", "v"], outputs: ["y"] },
      ],
      initializers: { w: weights(1), u: weights(2), v: weights(3) },
    }),
    { each: ["x"], carried: { h: "next" }, eachOutputs: ["y"] },
  );

/** The sum so far of what each item has, read by a product that is on no circle. */
const counted = (): Run =>
  runOfFile(
    buildModel({
      inputs: ["x", "s"].map((name) => ({ name, dtype: DType.float32, shape: vector })),
      outputs: ["next", "y"].map((name) => ({ name, dtype: DType.float32 })),
      nodes: [
        { op: "MatMul", inputs: ["s", "w"], outputs: ["y"] },
        { op: "Add", inputs: ["x", "s"], outputs: ["next"] },
      ],
      initializers: { w: weights(1) },
    }),
    { each: ["x"], carried: { s: "next" }, eachOutputs: ["y"] },
  );

function diffusion(): Run {
  const shape = { pixels: 6, times: 3, hidden: 8 };
  const schedule = Array.from({ length: ITEMS }, (_, k) => ({
    times: [k / ITEMS, 1, -k],
    next: [0.5, 0.4, 0.1] as const,
  }));
  return runOfFile(diffusionStep(shape, 2, schedule), {
    each: ["noise"],
    index: ["step"],
    carried: { latent: "latent_next" },
    lastOutputs: ["latent_next"],
  });
}

function training(): Run {
  const own = trainable({ loss: "crossEntropy", optimiser: "adam" });
  const { model } = own.program;
  const bytes = trainingInputs(own, ITEMS, 0.1);
  return { model, inputs: new RunInputs(model.program.inputs, { items: ITEMS, firstItem: 0 }, bytes) };
}

function everySource(): Run {
  const { model } = runProgram();
  return { model, inputs: new RunInputs(model.program.inputs, { items: ITEMS, firstItem: 5 }, runInputBytes(ITEMS)) };
}

async function decoder(bytes: Uint8Array): Promise<Run> {
  const { program, inputs, executor } = await blockedText(bytes, [7, 20, 2, 9], ITEMS);
  await executor.close();
  return { model: program.model, inputs };
}

const KINDS: Readonly<Record<string, () => Run | Promise<Run>>> = {
  everySource,
  counted,
  recurrent,
  diffusion,
  training,
  gpt2: () => decoder(gpt2Decoder("input").bytes),
  llamaOfFourBits: () => decoder(llama(LLAMA_TINY)),
  halves: () => decoder(halfDecoder()),
};

describe("blocks of every kind of carried program", function () {
  this.timeout(120_000);

  for (const [name, make] of Object.entries(KINDS))
    it(`${name}_hasTheRootsOfItemsOneByOne`, async () => {
      const run = await make();
      const { inputs } = run.model.program;
      const all = inputs.flatMap(({ source }) => (source?.kind === "carried" ? [source.checkpoint] : []));
      // Nothing is guessed; everything; at length the first and the last of the carried tensors too.
      const some = AT_LENGTH ? [all.slice(0, 1), all.slice(-1)] : [];
      const choices = new Map([[], all, ...some].map((each) => [each.join(), each]));
      for (const guessed of choices.values()) {
        const executor = await createExecutor(run.model, { threads: 1, blocks: { lengths: LENGTHS, guessed } });
        const right = await oneByOne(run, executor);
        for (const length of LENGTHS) {
          const { wrong } = await compareBlocks(run, executor, right, { length, guessed, guess: RIGHT });
          expect(wrong, `length ${length}`).to.equal(0);
        }
        for (const isUnsure of [false, true])
          await compareBlocks(run, executor, right, {
            ...{ length: 7, guessed, isUnsure },
            guess: wrongAt((item) => item % 4 === 2),
          });
        await executor.close();
      }
    });

  it("cachesOfDecoders_areChangedInPlace_withStepsThatFollow", async () => {
    for (const [name, follow] of [
      ["gpt2", true],
      ["halves", true],
      ["llamaOfFourBits", false],
    ] as const) {
      const { program } = (await KINDS[name]!()).model;
      const { inPlace } = blockOrder(program, new Set([program.outputs[0]!]));
      const caches = program.inputs.flatMap(({ source }, k) =>
        source?.kind === "carried" && source.checkpoint !== program.outputs[0] ? [k] : [],
      );
      expect(
        [...inPlace.values()].map(({ input }) => input).sort((a, b) => a - b),
        name,
      ).to.deep.equal(caches);
      for (const { followers } of inPlace.values()) expect(followers.size, name).to.equal(Number(follow));
    }
    // Where the mask is no row's, or where nothing is masked, nothing is changed in place.
    for (const name of ["counted", "recurrent", "diffusion", "training", "everySource"])
      expect(blockOrder((await KINDS[name]!()).model.program, new Set()).inPlace.size, name).to.equal(0);
  });

  it("guessesAreComparedBitByBit_notByValue", async () => {
    const { model } = counted();
    const { inputs: given } = model.program;
    const carried = given.findIndex(({ source }) => source?.kind === "carried");
    const guessed = given.flatMap(({ source }) => (source?.kind === "carried" ? [source.checkpoint] : []));
    const executor = await createExecutor(model, { threads: 1, blocks: { lengths: LENGTHS, guessed } });
    // The sum of zeros is +0, and a sum with a NaN is the one NaN.
    for (const [value, bits] of [
      [0, 0x80000000],
      [NaN, 0x7fc00001],
      [NaN, 0xffc00000],
      [NaN, 0x7f800001],
    ] as const) {
      const bytes = given.map(
        (input) =>
          floatTensor(new Array<number>(tensorsOf(input, ITEMS) * 4).fill(input.source?.kind === "carried" ? 0 : value))
            .bytes,
      );
      const run = { model, inputs: new RunInputs(given, { items: ITEMS, firstItem: 0 }, bytes) };
      const right = await oneByOne(run, executor);
      const other = (item: number, taken: Carried): Carried => {
        if (item % 3 !== 2) return taken;
        const copy = Uint8Array.from(taken.get(carried)!);
        new DataView(copy.buffer).setUint32(4, bits, true);
        return new Map([[carried, copy]]);
      };
      const { wrong } = await compareBlocks(run, executor, right, { length: 7, guessed, guess: other });
      expect(wrong, `${value}, 0x${bits.toString(16)}`).to.be.greaterThan(0);
    }
    await executor.close();
  });

  it("longBlocks_haveEachCacheOnce", async () => {
    const [slots, width] = [256, 16];
    const shape = { layers: 2, width, heads: 2, tokens: slots, vocabulary: 20 };
    const { model: wrapped, run } = wrapDecoder(readModel(sizedDecoder(shape)), { slots, greedy: true });
    const model = compile(wrapped, { shapes: {}, run });
    const guessed = [model.program.outputs[0]!];
    // Attention and caches take most of the time: they take no longer in a block.
    expect(blocksOf(model.program, guessed)?.lengths).to.deep.equal([4, 8, 16, 32, 48, 64]);
    const bytesWith = async (length: number): Promise<number> => {
      const blocks = { lengths: [length], guessed };
      const executor = await createExecutor(model, { threads: 1, blocks });
      await executor.close();
      return executor.bytes;
    };
    // An item more takes scores of some heads, tokens and activations, but no cache.
    expect(((await bytesWith(64)) - (await bytesWith(8))) / 56).to.be.lessThan(slots * width * 4);
  });

  it("manyExecutorsAtOnce_haveShorterBlocks_orNone", async () => {
    const { program } = (await decoder(gpt2Decoder("input").bytes)).model;
    const guessed = [program.outputs[0]!];
    expect(blocksOf(program, guessed)?.lengths).to.deep.equal([4, 8, 16, 32, 48, 64]);
    const lengths = Array.from({ length: 160 }, (_, k) => blocksOf(program, guessed, 1.2 ** k)?.lengths);
    // Each length, from long to short, and then none.
    const longest = lengths.map((each) => each?.at(-1) ?? 0);
    expect([...longest].sort((a, b) => b - a)).to.deep.equal(longest);
    expect(new Set(longest)).to.deep.equal(new Set([64, 48, 32, 16, 8, 4, 0]));
  });
});
