import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { chosenToken, decoderInputs, type Generation } from "../../../src/compiler/wraps/decoderInputs.ts";
import { decoderInterface } from "../../../src/compiler/wraps/decoderInterface.ts";
import { wrapDecoder, type DecoderOptions } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { DecoderError, DecoderRequestError } from "../../../src/compiler/errors.ts";
import { checkDecoder } from "../../../src/native/plain/decoder/checkDecoder.ts";
import { generate } from "../../../src/native/plain/decoder/generate.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType, dtypeBytes } from "../../../src/numerics/dtype.ts";
import type { Model, TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { programTerms } from "../../../src/program/work.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { carriedTensors, runItems } from "../../../src/program/trace/runItems.ts";
import { everyFourth, itAtLength, itInTime } from "../../../testkit/atLength.ts";
import { gpt2Decoder } from "../../../testkit/models/exports/language.ts";
import { halfDecoder } from "../../../testkit/models/halfDecoder.ts";
import { LLAMA_TINY, llama } from "../../../testkit/models/llama.ts";
import { runOnnxruntime } from "../../../testkit/onnx/onnxruntime.ts";
import { rejection } from "../../../testkit/rejection.ts";

const SLOTS = 12;
const PROMPT = [7, 30, 2];

const wrapped = (bytes: Uint8Array, options: Partial<DecoderOptions> = {}): CompiledModel => {
  const { model, run } = wrapDecoder(readModel(bytes), { slots: SLOTS, ...options });
  return compile(model, { shapes: {}, run });
};

/** The tokens that items choose, those of the prompt included. */
async function chosenBy(model: CompiledModel, given: Generation, items = SLOTS): Promise<number[]> {
  const executor = await createExecutor(model, { threads: 1 });
  const tokens: number[] = [];
  for await (const { token } of generate(model, executor, given, items)) tokens.push(token);
  await executor.close();
  return tokens;
}

/** Greedy tokens of the model itself in onnxruntime, token by token with caches that grow. */
async function plainTokens(bytes: Uint8Array, prompt: readonly number[], items: number): Promise<number[]> {
  const { inputs } = readModel(bytes).graph;
  const given = new Map<string, TensorData>();
  for (const { name, dtype, shape } of inputs)
    if (name.startsWith("past"))
      given.set(name, { dtype, shape: [1, shape![1] as number, 0, shape![3] as number], bytes: new Uint8Array() });
  const text = [...prompt];
  for (let place = 0; place < items; place++) {
    given.set("input_ids", int64Tensor([text[place]!], [1, 1]));
    given.set("attention_mask", int64Tensor(new Array<number>(place + 1).fill(1), [1, place + 1]));
    if (inputs.some(({ name }) => name === "position_ids")) given.set("position_ids", int64Tensor([place], [1, 1]));
    const outputs = await runOnnxruntime(bytes, given);
    const { bytes: raw } = outputs.get("logits")!;
    const logits = new Float32Array(Uint8Array.from(raw).buffer);
    if (place + 1 === text.length) text.push(logits.indexOf(Math.max(...logits)));
    for (const name of given.keys())
      if (name.startsWith("past")) given.set(name, outputs.get(name.replace(/^past(_key_values)?/, "present"))!);
  }
  return text.slice(1);
}

describe("decoders as runs", () => {
  const MODELS: readonly [name: string, bytes: () => Uint8Array][] = [
    ["llamaOfFourBits", () => llama(LLAMA_TINY)],
    ["llamaWithZeroPoints", () => llama({ ...LLAMA_TINY, zeroPoints: true, packedTable: true }, 3)],
    ["gpt2WithPositionIds", () => gpt2Decoder("input").bytes],
    ["gpt2WithPositionsFromTheMask", () => gpt2Decoder("mask").bytes],
  ];
  for (const [name, bytesOf] of everyFourth(MODELS, 0))
    it(`${name}_choosesTheTokensOfAPlainLoopInOnnxruntime`, async () => {
      const bytes = bytesOf();
      const [model, greedy] = [wrapped(bytes), wrapped(bytes, { greedy: true })];
      for (const prompt of [PROMPT, [41], [3, 1, 4, 15, 9, 26, 5]]) {
        const plain = await plainTokens(bytes, prompt, SLOTS);
        if (prompt === PROMPT) expect(new Set(plain).size).to.be.above(2);
        expect(await chosenBy(model, { prompt })).to.deep.equal(plain);
        expect(await chosenBy(greedy, { prompt })).to.deep.equal(plain);
      }
    });

  itInTime("wrappedAndPlainLogits_agree", async () => {
    for (const [, bytesOf] of MODELS) {
      const bytes = bytesOf();
      const { tokens, difference } = await checkDecoder(bytes, wrapped(bytes), decoderInterface(readModel(bytes)));
      expect(tokens).to.equal(6);
      expect(difference).to.be.below(1e-4);
    }
  });

  itInTime("positionsFromTheLengthOfThePast_areRefused", async () => {
    const { bytes } = gpt2Decoder("past");
    const error = await rejection(checkDecoder(bytes, wrapped(bytes), decoderInterface(readModel(bytes))));
    expect(error).to.be.instanceOf(DecoderError);
    expect(error.message).to.match(/place 0 of random tokens.*position_ids/);
  });

  itInTime("cachesOfFloat16WithInputsOfInt32_giveTheLogitsOfTheModel", async () => {
    const bytes = halfDecoder();
    const model = wrapped(bytes);
    const { difference } = await checkDecoder(bytes, model, decoderInterface(readModel(bytes)));
    expect(difference).to.be.below(0.005);
    const prompt = [7, 20, 2];
    const tokens = await chosenBy(model, { prompt });
    expect(await chosenBy(model, { prompt, temperature: 3, topK: 1 })).to.deep.equal(tokens);
  });

  describe("of one model", () => {
    const bytes = llama(LLAMA_TINY);
    let model: CompiledModel;
    let greedy: number[];
    before(async () => {
      model = wrapped(bytes);
      greedy = await chosenBy(model, { prompt: PROMPT });
    });

    itInTime("itsOnlyOutput_isTheTokens", () => {
      expect(model.outputs.map(({ name, shape }) => [name, ...shape])).to.deep.equal([["tokens", SLOTS]]);
      const kinds = Object.fromEntries(
        model.inputs.map(({ name }, k) => [name, model.program.inputs[k]!.source?.kind]),
      );
      expect(kinds).to.include({ prompt: undefined, seed: undefined, index: "index", tokens_before: "carried" });
      expect(kinds["past_key_values.1.value"]).to.equal("carried");
    });

    itInTime("endOfText_isKeptOnceItIsChosen", async () => {
      const at = PROMPT.length + 1;
      const end = greedy[at]!;
      const first = greedy.indexOf(end, PROMPT.length - 1);
      const ended = await chosenBy(wrapped(bytes, { endTokens: [95, end] }), { prompt: PROMPT });
      expect(ended).to.deep.equal(greedy.map((token, place) => (place > first ? end : token)));
      // In a prompt it ends nothing.
      const prompt = [PROMPT[0]!, end, PROMPT[2]!];
      const [one, other] = [model, wrapped(bytes, { endTokens: [end] })];
      const items = prompt.length;
      expect(await chosenBy(other, { prompt }, items)).to.deep.equal(await chosenBy(one, { prompt }, items));
    });

    itInTime("drawnTokens_followTheSeed_andAreTheSameOnBothExecutors", async () => {
      const given = { prompt: PROMPT, temperature: 1.5, topK: 40, topP: 0.95, seed: 5n };
      const drawn = await chosenBy(model, given);
      expect(await chosenBy(model, { ...given, seed: 2n ** 63n + 6n })).not.to.deep.equal(drawn);
      const { program } = model;
      const reference: number[] = [];
      const inputs = new RunInputs(program.inputs, { items: 5, firstItem: 0 }, decoderInputs(model, given));
      for await (const tensors of runItems(program, inputs, (taken) => Promise.resolve(executeReference(model, taken))))
        reference.push(chosenToken(tensors[program.checkpoints[program.outputs[0]!]!.step]!, reference.length));
      expect(reference).to.deep.equal(drawn.slice(0, 5));
    });

    itInTime("drawnFromTheMostProbableOne_isGreedy", async () => {
      expect(await chosenBy(model, { prompt: PROMPT, temperature: 2, topK: 1, seed: 9n })).to.deep.equal(greedy);
      expect(await chosenBy(model, { prompt: PROMPT, temperature: 2, topP: 0, seed: 9n })).to.deep.equal(greedy);
      expect(await chosenBy(model, { prompt: PROMPT, temperature: 2, seed: 9n })).not.to.deep.equal(greedy);
    });

    itInTime("segments_continueWhereTheOneBeforeEnded", async () => {
      const { program } = model;
      const executor = await createExecutor(model, { threads: 1 });
      const execute = async (inputs: readonly Uint8Array[]) => (await executor.run(inputs)).tensors;
      const inputs = decoderInputs(model, { prompt: PROMPT });
      let last: readonly Uint8Array[] = [];
      const segment = (items: number, firstItem: number, given: readonly Uint8Array[]) =>
        runItems(program, new RunInputs(program.inputs, { items, firstItem }, given), execute);
      for await (const tensors of segment(5, 0, inputs)) last = tensors;
      const carried = carriedTensors(program, (step) => last[step]!);
      const joined = inputs.map((bytes, k) => carried.get(k) ?? bytes);
      for await (const tensors of segment(SLOTS - 5, 5, joined)) last = tensors;
      await executor.close();
      const { bytes: expected } = int64Tensor(greedy);
      expect(Buffer.from(last[program.checkpoints[program.outputs[0]!]!.step]!)).to.deep.equal(Buffer.from(expected));
    });

    itInTime("promptsAndTextsThatDoNotFit_areRefused", async () => {
      expect(() => decoderInputs(model, { prompt: [] })).to.throw(DecoderRequestError, "0 tokens, expected 1 to 12");
      expect(() => decoderInputs(wrapped(bytes, { greedy: true }), { prompt: [1], temperature: 1 })).to.throw(
        DecoderRequestError,
        "--greedy",
      );
      expect(() => decoderInputs(model, { prompt: [1, LLAMA_TINY.vocabulary] })).to.throw(
        DecoderRequestError,
        `token ${LLAMA_TINY.vocabulary}: the model knows tokens from 0 to ${LLAMA_TINY.vocabulary - 1}`,
      );
      const error = await rejection(chosenBy(model, { prompt: PROMPT }, SLOTS + 1));
      expect(error.message).to.contain("needs 13 slots, the program has 12");
    });
  });

  itAtLength("workOfDrawing_isLinearInTheVocabulary", function () {
    this.timeout(60_000);
    const drawing = (vocabulary: number): number => {
      const bytes = llama({ ...LLAMA_TINY, vocabulary });
      const [all, greedy] = [wrapped(bytes), wrapped(bytes, { greedy: true })];
      return Number(programTerms(all.program.steps) - programTerms(greedy.program.steps));
    };
    const [small, large] = [drawing(4_000), drawing(32_000)];
    expect(large / small).to.be.within(6, 9);
    expect(large / 32_000).to.be.below(200);
  });

  describe("refusals", () => {
    const own = readModel(llama(LLAMA_TINY));
    const changed = (change: (graph: Model["graph"]) => Partial<Model["graph"]>): Model => ({
      ...own,
      graph: { ...own.graph, ...change(own.graph) },
    });
    const without = (name: string) => changed(({ inputs }) => ({ inputs: inputs.filter((i) => i.name !== name) }));
    const past = "past_key_values.0.key";
    const as = (name: string, more: object) =>
      changed(({ inputs }) => ({ inputs: inputs.map((i) => (i.name === name ? { ...i, ...more } : i)) }));
    const extra = { name: "use_cache_branch", dtype: DType.bool, shape: [1] };
    for (const [what, model, message] of [
      ["noIds", without("input_ids"), /no input "input_ids"/],
      ["noMask", without("attention_mask"), /no input "attention_mask".*masked/],
      ["noLogits", changed(() => ({ outputs: [] })), /no output "logits"/],
      ["noCaches", changed(({ inputs }) => ({ inputs: inputs.slice(0, 2) })), /no inputs such as "past_key/],
      ["noPresent", changed(({ outputs }) => ({ outputs: outputs.slice(0, 2) })), /no output "present.0.value"/],
      ["anotherInput", changed(({ inputs }) => ({ inputs: [...inputs, extra] })), /"use_cache_branch".*--bind/],
      ["cacheOfThreeDimensions", as(past, { shape: ["b", "p", 32] }), /"past_key_values.0.key" is float32/],
      ["cacheOfUnknownSize", as(past, { shape: ["b", 2, "p", "s"] }), /"past_key_values.0.key".*known/],
      ["cacheOfTwoTexts", as(past, { shape: [2, 2, "p", 16] }), /"past_key_values.0.key"/],
      [
        "aNameThatIsTaken",
        changed(({ initializers }) => ({ initializers: new Map([...initializers, ["seed", int64Tensor([1])]]) })),
        /"seed"/,
      ],
    ] as const)
      itInTime(`${what}_isRefusedByName`, () => {
        expect(() => wrapDecoder(model, { slots: SLOTS })).to.throw(DecoderError, message);
      });

    itInTime("noSlots_areRefused", () => {
      expect(() => wrapDecoder(own, { slots: 0 })).to.throw(DecoderRequestError, "0 slots");
    });
  });

  itInTime("caches_areZerosAtFirst", () => {
    const model = wrapped(llama(LLAMA_TINY));
    const inputs = decoderInputs(model, { prompt: PROMPT });
    model.inputs.forEach(({ name, dtype, shape }, k) => {
      if (!name.startsWith("past")) return;
      expect(inputs[k]).to.deep.equal(new Uint8Array(shape.reduce((product, dim) => product * dim, dtypeBytes(dtype))));
    });
  });
});
