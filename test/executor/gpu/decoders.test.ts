import { expect } from "chai";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { everyFourth } from "../../../testkit/atLength.ts";
import { compareEntry } from "../../../testkit/gpu/compareModel.ts";
import { compareText } from "../../../testkit/gpu/compareText.ts";
import { softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { gpt2Decoder } from "../../../testkit/models/gpt2.ts";
import { halfDecoder } from "../../../testkit/models/halfDecoder.ts";
import { llama, llamaInputs } from "../../../testkit/models/llama.ts";

const GPT2 = { layers: 1, width: 24, heads: 3, tokens: 8, vocabulary: 40 };
const LLAMA = { vocabulary: 96, width: 128, layers: 1, heads: 4, kvHeads: 2, hidden: 96, positions: 16 };
const DRAWING = { temperature: 1.2, topK: 30, topP: 0.9, seed: 4n };

describe("text from decoders on a GPU", function () {
  this.timeout(600_000);
  let gpu: Gpu;
  before(async function () {
    gpu = await softwareGpu(this);
  });

  const decoders: [name: string, file: () => Uint8Array, drawing?: typeof DRAWING][] = [
    ["llamaOfFourBits_withGroupedQueriesAndRotaryPositions", () => llama(LLAMA)],
    ["gpt2InFloat32", () => gpt2Decoder(GPT2)],
    ["gpt2InFloat16", () => gpt2Decoder({ ...GPT2, floats: DType.float16 })],
    ["gpt2InBfloat16", () => gpt2Decoder({ ...GPT2, floats: DType.bfloat16 })],
    ["oneHeadInFloat16", halfDecoder],
    ["llamaOfEightBits", () => llama({ ...LLAMA, bits: 8 })],
    ["llamaWithZeroPointsAndAPackedTable", () => llama({ ...LLAMA, zeroPoints: true, packedTable: true })],
    ["llamaThatDraws", () => llama(LLAMA), DRAWING],
  ];
  for (const [name, file, drawing] of everyFourth(decoders, 0))
    it(`${name}_hasTheBitsOfTheCpu_oneByOneAndInAChain`, async () => {
      const { single, chain, turns, unpacked } = await compareText(file(), gpu, drawing);
      expect(turns).to.equal(1);
      expect(chain).to.be.below(single);
      // Weights of a few bits are read as they lie in the file.
      if (name.startsWith("llama")) expect(unpacked).to.be.above(0);
    });

  it("aPromptInOnePass_readsPackedWeights_inProductsByResidues", async () => {
    const entry = { name: "prompt", bytes: () => llama(LLAMA), bind: {}, inputs: () => llamaInputs(LLAMA, 5) };
    const { products, unpacked } = await compareEntry(entry, gpu);
    expect(products).to.not.deep.equal([]);
    expect(unpacked).to.not.deep.equal([]);
  });
});
