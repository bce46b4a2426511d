import { expect } from "chai";
import { decoderInputs } from "../../../src/compiler/wraps/decoderInputs.ts";
import { measureErrors } from "../../../src/native/measureErrors.ts";
import { nativeAnswer } from "../../../src/native/nativeAnswer.ts";
import { int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { nativeExecutions } from "../../../src/runs/native/nativeExecutions.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { gpt2Decoder } from "../../../testkit/models/gpt2.ts";
import { halfDecoder } from "../../../testkit/models/halfDecoder.ts";
import { LLAMA_TINY, llama } from "../../../testkit/models/llama.ts";
import { calibrationOf, garbage } from "../../../testkit/native/nativePrograms.ts";
import { openDecoder, type OpenedDecoder } from "../../../testkit/native/openedDecoder.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const SLOTS = 8;
const GPT2 = { layers: 2, width: 24, heads: 3, tokens: SLOTS, vocabulary: 50 };

/** What a runtime takes of a text. */
const text = (prompt: readonly number[], items: number): Uint8Array[] => [
  int64Tensor([...prompt, ...new Array<number>(SLOTS - prompt.length).fill(0)]).bytes,
  int64Tensor([prompt.length]).bytes,
  int64Tensor([items - 1]).bytes,
];
const tokensOf = (bytes: Uint8Array): number[] => Array.from(new BigInt64Array(Uint8Array.from(bytes).buffer), Number);

describe("a decoder in native onnxruntime", function () {
  this.timeout(60_000);

  for (const [name, file] of [
    ["llama", () => llama(LLAMA_TINY)],
    ["gpt2, one token a step", () => gpt2Decoder(GPT2)],
    ["halves", () => halfDecoder()],
  ] as const)
    describe(`in the shape of ${name}`, () => {
      let opened: OpenedDecoder;
      before(async () => (opened = await openDecoder(file(), { slots: SLOTS, greedy: true })));
      after(() => opened.close());

      it("tokensAndLogits_randomPrompts_areThoseOfExactExecution", async () => {
        const { native, exact, subject } = opened;
        const prng = new Prng(1);
        const { high } = opened.box[0]!;
        for (let n = 0; n < 6; n++) {
          const prompt = Array.from({ length: 1 + prng.below(4) }, () => prng.below(high + 1));
          const inputs = text(prompt, 1 + prng.below(SLOTS));
          const [own, other] = subject.aligned!(inputs, [await exact.run(inputs), await native.run(inputs)]);
          expect(other.outputs).to.deep.equal(own.outputs);
          const [a, b] = [own.deciding.get("logits")!, other.deciding.get("logits")!];
          expect(a.dims).to.deep.equal(b.dims);
          a.data.forEach((value, i) => expect(value).to.be.closeTo(b.data[i]!, 0.02));
        }
      });
    });

  it("calibration_gpt2_hasErrorsOfFloat32AndAcceptsTexts", async () => {
    const opened = await openDecoder(gpt2Decoder(GPT2), { slots: SLOTS, greedy: true });
    const { native, exact, signature, outputs, box, subject } = opened;
    const { aligned, measured } = subject;
    const found = await measureErrors(
      { native, exact: exact.run, signature, outputs, box: measured(box), aligned },
      { given: [], random: 6, search: 6, seed: 1 },
    );
    const { relative } = found.tensors[0]!;
    expect(relative)
      .to.be.above(2 ** -26)
      .and.below(2 ** -14);
    expect(found.thick(16).differing).to.equal(0);
    expect(found.thick(16).all).to.be.above(6);
    expect(found.thick(1e7).all).to.equal(0);
    await opened.close();
  });

  it("text_endTokenChosen_goesOnWithIt", async () => {
    const first = await openDecoder(gpt2Decoder(GPT2), { slots: SLOTS, greedy: true });
    const [chosen] = tokensOf((await first.exact.run(text([5], 1))).outputs[0]!);
    await first.close();
    const ended = await openDecoder(gpt2Decoder(GPT2), { slots: SLOTS, greedy: true, endTokens: [chosen!, 5] });
    const [own, other] = [await ended.exact.run(text([5], 6)), await ended.native.run(text([5], 6))];
    expect(tokensOf(own.outputs[0]!)).to.deep.equal([...new Array<number>(6).fill(chosen!), 0, 0]);
    expect(other.outputs).to.deep.equal(own.outputs);
    expect(other.deciding.get("logits")!.dims).to.deep.equal([1, GPT2.vocabulary]);
    expect(own.deciding.get("logits")!.dims).to.deep.equal([1, GPT2.vocabulary]);
    await ended.close();
  });

  it("answer_thickThinOutsideAndGarbage_areTold", async () => {
    const opened = await openDecoder(gpt2Decoder(GPT2), { slots: SLOTS, greedy: true });
    const calibration = calibrationOf(opened, opened.box);
    const program = { runtime: opened.native, calibration, outputs: opened.outputs, factor: 16 };
    const inputs = text([5, 9], 6);
    const exact = (await opened.exact.run(inputs)).outputs;
    expect(await nativeAnswer(program, inputs)).to.deep.equal({ kind: "native", outputs: exact });
    expect((await nativeAnswer({ ...program, factor: 1e7 }, inputs)).kind).to.equal("thin");
    expect((await nativeAnswer(program, text([5, GPT2.vocabulary], 6))).kind).to.equal("outside");
    expect((await nativeAnswer(program, text([5, 9], SLOTS + 1))).kind).to.equal("outside");
    const wrong = await nativeAnswer({ ...program, runtime: garbage(opened.native) }, inputs);
    expect(wrong.kind).to.equal("native");
    expect(wrong).not.to.deep.equal({ kind: "native", outputs: exact });
    // A text of which every token is given has nothing to decide.
    expect(await nativeAnswer({ ...program, factor: 1e7 }, text([5, 9, 7], 2))).to.deep.equal({
      kind: "native",
      outputs: [int64Tensor([9, 7, 0, 0, 0, 0, 0, 0]).bytes],
    });
    await opened.close();
  });

  it("job_drawnOrContinuedOrWithStateOfItsOwn_isNoText", async () => {
    const opened = await openDecoder(gpt2Decoder(GPT2), { slots: SLOTS });
    const { compiled } = opened;
    const made = (bytes: readonly Uint8Array[], firstItem = 0) =>
      nativeExecutions(compiled, new RunInputs(compiled.program.inputs, { items: 4, firstItem }, bytes));
    const greedy = decoderInputs(compiled, { prompt: [5, 9], seed: 3n, topK: 2 });
    const one = made(greedy);
    expect(typeof one === "string" ? one : one.inputs(0)).to.deep.equal(text([5, 9], 4));
    expect(made(decoderInputs(compiled, { prompt: [5, 9], temperature: 0.5 }))).to.equal("its tokens are drawn");
    expect(made(greedy, 1)).to.include("begins with item 1");
    const carried = greedy.map((bytes, k) => (k === greedy.length - 1 ? bytes.map(() => 1) : bytes));
    expect(made(carried)).to.include("does not begin with zeros");
    const [native, exact] = [await opened.native.run(text([5, 9], 6)), await opened.exact.run(text([5, 9], 6))];
    expect(native.outputs).to.deep.equal(exact.outputs);
    await opened.close();
  });
});
