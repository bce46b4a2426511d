import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { decoderInputs, type Generation } from "../../../src/compiler/wraps/decoderInputs.ts";
import { DECODER, wrapDecoder } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { knownProgram, type KnownProgram } from "../../../src/dispute/run/execution.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { answerRun } from "../../../src/parties/tickets/answerRun.ts";
import { KeptTexts } from "../../../src/parties/tickets/keptTexts.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { LLAMA_TINY, llama } from "../../../testkit/models/llama.ts";

const SLOTS = 48;
const DRAWN = { temperature: 0.9, topP: 0.95, seed: 7n };
const PROMPT = [11, 22, 33];

describe("texts that are kept for decoders' runs", () => {
  const executors = new FastExecutors({ threads: 1 });
  after(() => executors.close());
  const programOf = (endTokens: readonly number[] = []): KnownProgram => {
    const { model, run } = wrapDecoder(readModel(llama(LLAMA_TINY)), { slots: SLOTS, endTokens });
    return knownProgram(compile(model, { shapes: {}, run }));
  };
  let program: KnownProgram;
  before(() => (program = programOf()));

  const inputsOf = (prompt: readonly number[], items: number, of: Partial<Generation> = DRAWN): RunInputs =>
    new RunInputs(
      program.model.program.inputs,
      { items, firstItem: 0 },
      decoderInputs(program.model, { prompt, ...of }),
    );
  /** Executes a run with kept texts, and without. @returns the items that were executed with them */
  async function both(texts: KeptTexts, inputs: RunInputs, owner = "a", execute: Execute = executors.execute) {
    const items: number[] = [];
    const note = (item: number): void => void items.push(item);
    const kept = await answerRun(program, inputs, execute, note, { texts, owner });
    const plain = await answerRun(program, inputs, executors.execute);
    expect([kept.root, kept.nodes]).to.deep.equal([plain.root, plain.nodes]);
    expect(kept.isWhole).to.equal(items.length === inputs.length.items);
    return items;
  }
  async function tokensOf(prompt: readonly number[], items: number, of: Partial<Generation> = DRAWN) {
    const { outputs } = await answerRun(program, inputsOf(prompt, items, of), executors.execute);
    return [prompt[0]!, ...Array.from(new BigInt64Array(outputs[0]!.slice().buffer), Number).slice(0, items)];
  }

  it("blocksOfAText_areExecutedOnce_withTheSameBits", async () => {
    const texts = new KeptTexts();
    let tokens = PROMPT;
    for (const items of [10, 26, 42, SLOTS]) {
      const from = tokens.length - 1;
      const executed = await both(texts, inputsOf(tokens, items));
      expect(executed[0]).to.equal(items === 10 ? 0 : from);
      expect(executed).to.have.length(items - executed[0]!);
      tokens = await tokensOf(tokens, items);
    }
  });

  it("anotherDrawing_goesOnWithTheSameText", async () => {
    const texts = new KeptTexts();
    await both(texts, inputsOf(PROMPT, 12));
    const tokens = await tokensOf(PROMPT, 12);
    expect(await both(texts, inputsOf(tokens, 20, { temperature: 0 }))).to.have.length(8);
  });

  it("aPromptThatGoesOn_isExecutedFromTheTextsEnd", async () => {
    const texts = new KeptTexts();
    await both(texts, inputsOf(PROMPT, 12));
    const tokens = [...(await tokensOf(PROMPT, 12)), 5, 6, 7, 8, 9, 10, 12];
    expect(await both(texts, inputsOf(tokens, 30))).to.have.length(18);
  });

  it("otherTokens_shorterTexts_othersTexts_andGivenState_areExecutedWhole", async () => {
    const texts = new KeptTexts();
    const tokens = await tokensOf(PROMPT, 12);
    const again = async (): Promise<void> => void (await both(texts, inputsOf(PROMPT, 12)));
    // One token is another: the first, one within, the last.
    for (const k of [0, 6, 12]) {
      await again();
      const changed = tokens.map((token, at) => (at === k ? token ^ 1 : token));
      expect(await both(texts, inputsOf(changed, 20)), `token ${k}`).to.have.length(20);
    }
    await again();
    expect(await both(texts, inputsOf(tokens.slice(0, 12), 20)), "a shorter prompt").to.have.length(20);
    expect(await both(texts, inputsOf(tokens, 12)), "no item more").to.have.length(12);
    await again();
    expect(await both(texts, inputsOf(tokens, 20), "b"), "somebody else's").to.have.length(20);
    // Caches that do not begin with zeros are another run.
    const bytes = inputsOf(tokens, 20).bytes.map((tensor, k) =>
      program.model.inputs[k]!.name === DECODER.before ? tensor.map((byte, at) => (at === 320 ? 1 : byte)) : tensor,
    );
    const given = new RunInputs(program.model.program.inputs, { items: 20, firstItem: 0 }, bytes);
    expect(await both(texts, given), "state of its own").to.have.length(20);
  });

  it("textsOfAnotherProgramOrDevice_areNotTaken", async () => {
    const texts = new KeptTexts();
    const onDevice = (name: string): Execute =>
      Object.assign(((...args) => executors.execute(...args)) as Execute, { device: () => name });
    await both(texts, inputsOf(PROMPT, 12), "a", onDevice("gpu"));
    const tokens = await tokensOf(PROMPT, 12);
    expect(await both(texts, inputsOf(tokens, 20), "a", onDevice("cpu"))).to.have.length(20);
    await both(texts, inputsOf(PROMPT, 12));
    program = programOf([7]);
    expect(await both(texts, inputsOf(tokens, 20))).to.have.length(20);
    program = programOf();
  });

  it("textsBehindAnEnd_stayWhatTheyAre", async () => {
    const text = await tokensOf(PROMPT, 40);
    program = programOf([text[8]!]);
    const texts = new KeptTexts();
    await both(texts, inputsOf(PROMPT, 12));
    const tokens = await tokensOf(PROMPT, 12);
    expect(new Set(tokens.slice(8))).to.deep.equal(new Set([text[8]!]));
    expect(await both(texts, inputsOf(tokens, 20))).to.have.length(8);
    program = programOf();
  });

  it("memory_isBounded_andTheOldestGoesFirst", async () => {
    const none = new KeptTexts(1_000);
    await both(none, inputsOf(PROMPT, 12));
    const tokens = await tokensOf(PROMPT, 12);
    expect(await both(none, inputsOf(tokens, 20))).to.have.length(20);
    const { inputs } = program.model.program;
    const carried = inputs.flatMap(({ source }, k) =>
      source?.kind === "carried" ? [inputsOf(PROMPT, 1).bytes[k]!.length] : [],
    );
    const two = new KeptTexts(2 * carried.reduce((sum, bytes) => sum + bytes, 0));
    const prompts = [PROMPT, [1, 2], [3, 4]];
    for (const prompt of prompts) await both(two, inputsOf(prompt, 12));
    const executed: number[] = [];
    for (const prompt of prompts.reverse())
      executed.push((await both(two, inputsOf(await tokensOf(prompt, 12), 20))).length);
    expect(executed).to.deep.equal([8, 8, 20]);
  });
});
