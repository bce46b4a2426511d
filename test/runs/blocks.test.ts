import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { decoderInputs } from "../../src/compiler/wraps/decoderInputs.ts";
import { wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { createExecutor, type Executor } from "../../src/executor/createExecutor.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import type { Carried } from "../../src/program/trace/runItems.ts";
import { answerRun } from "../../src/parties/tickets/answerRun.ts";
import type { Guess } from "../../src/runs/blocks.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { executeItems, executeRun } from "../../src/runs/executeRun.ts";
import { gpt2Decoder } from "../../testkit/models/exports/language.ts";
import { halfDecoder } from "../../testkit/models/halfDecoder.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";

const SLOTS = 15;
const ITEMS = 15;
const PROMPT = [7, 20, 2, 9, 4, 11, 7, 20, 2, 8, 1];
/** The longest block. */
const LENGTH = 8;

const MODELS: Readonly<Record<string, () => Uint8Array>> = {
  gpt2: () => gpt2Decoder("input").bytes,
  llamaOfFourBits: () => llama(LLAMA_TINY),
  halves: () => halfDecoder(),
};

type Text = { program: KnownProgram; inputs: RunInputs; executor: Executor };

async function textOf(bytes: Uint8Array, prompt = PROMPT): Promise<Text> {
  const { model: wrapped, run } = wrapDecoder(readModel(bytes), { slots: SLOTS, greedy: true });
  const model = compile(wrapped, { shapes: {}, run });
  const tokens = model.inputs.findIndex(({ name }) => name === "tokens_before");
  const { source } = model.program.inputs[tokens]!;
  const guessed = source?.kind === "carried" ? [source.checkpoint] : [];
  const executor = await createExecutor(model, { threads: 1, blocks: { lengths: [4, LENGTH], guessed } });
  const inputs = new RunInputs(model.program.inputs, { items: ITEMS, firstItem: 0 }, decoderInputs(model, { prompt }));
  return { program: knownProgram(model), inputs, executor };
}

/** Executes with the executor, and counts items executed by themselves and in blocks. */
function counting(
  executor: Executor,
  isInBlocks = true,
): { execute: Execute; singles: () => number; wrong: () => number } {
  let [singles, wrong] = [0, 0];
  const one: Execute = async (_, inputs, keep, trees) => {
    singles++;
    return (await executor.run(inputs, { ...(keep && { keep }), ...(trees && { trees }) })).tensors;
  };
  const block: Execute["block"] = async ({ items, trees }) => {
    const result = await executor.runBlock(items, trees);
    wrong += Number(result.isWrong);
    return result;
  };
  return { execute: Object.assign(one, isInBlocks ? { block } : {}), singles: () => singles, wrong: () => wrong };
}

describe("runs in blocks", function () {
  this.timeout(120_000);

  for (const [name, bytes] of Object.entries(MODELS))
    it(`${name}_promptInBlocks_hasTheRootsOfItemsOneByOne`, async () => {
      const { program, inputs, executor } = await textOf(bytes());
      const alone = counting(executor, false);
      const [expected, heard]: [Buffer[], Buffer[]] = [[], []];
      const { step } = program.model.program.checkpoints[program.model.program.outputs[0]!]!;
      const right = await executeRun(program, inputs, alone.execute, {}, (_, { tensor }) =>
        expected.push(Buffer.from(tensor(step))),
      );
      const together = counting(executor);
      const run = await executeRun(program, inputs, together.execute, {}, (item, { tensor }) => {
        expect(item).to.equal(heard.length);
        heard.push(Buffer.from(tensor(step)));
      });
      expect(run.runRoot).to.equal(right.runRoot);
      expect(run.answer.root).to.equal(right.answer.root);
      expect(heard).to.deep.equal(expected);
      expect([alone.singles(), together.singles()]).to.deep.equal([ITEMS, ITEMS - LENGTH]);
      // A game about an item of the prompt, and one about an item behind it.
      for (const item of [5, 12]) {
        await executeItems(run, [item], counting(executor).execute);
        await executeItems(right, [item], alone.execute);
        expect(run.item(item).trace.root).to.equal(right.item(item).trace.root);
      }
      const answers = [counting(executor), counting(executor, false)].map(({ execute }) =>
        answerRun(program, inputs, execute),
      );
      const [ours, theirs] = await Promise.all(answers);
      expect(ours).to.deep.equal(theirs);
      await executor.close();
    });

  describe("guesses", () => {
    let text: Text;
    let right: string;
    /** What each item takes from the item before, of the guessed input. */
    const taken: Uint8Array[] = [];
    let input: number;
    let checkpoint: number;

    before(async () => {
      text = await textOf(gpt2Decoder("input").bytes, PROMPT.slice(0, 2));
      const { model } = text.program;
      input = model.inputs.findIndex(({ name }) => name === "tokens_before");
      checkpoint = model.program.outputs[0]!;
      const { step } = model.program.checkpoints[checkpoint]!;
      const run = await executeRun(
        text.program,
        text.inputs,
        counting(text.executor, false).execute,
        {},
        (item, of) => {
          taken[item + 1] = Uint8Array.from(of.tensor(step));
        },
      );
      right = run.runRoot;
    });

    after(() => text.executor.close());

    async function withGuess(of: (item: number) => Uint8Array | undefined): Promise<ReturnType<typeof counting>> {
      const counted = counting(text.executor);
      const expected = (item: number): Carried | undefined => {
        const bytes = of(item);
        return bytes && new Map([[input, bytes]]);
      };
      const guess: Guess = { checkpoints: [checkpoint], of: expected };
      const run = await executeRun(text.program, text.inputs, counted.execute, { guess });
      expect(run.runRoot).to.equal(right);
      return counted;
    }

    it("right_executeTheTextInBlocks", async () => {
      expect((await withGuess((item) => taken[item])).singles()).to.equal(ITEMS - LENGTH);
    });

    it("wrongAtEachPlace_changeNoBit", async () => {
      let found = 0;
      for (let place = 1; place < ITEMS; place++) {
        const wrong = Uint8Array.from(taken[place]!);
        wrong[(8 * place) % wrong.length]! ^= 1;
        found += (await withGuess((item) => (item === place ? wrong : taken[item]))).wrong();
      }
      expect(found).to.equal(LENGTH - 1);
    });

    it("shortLongMissingAndHostile_changeNoBit", async () => {
      const edges: readonly ((bytes: Uint8Array) => Uint8Array | undefined)[] = [
        (bytes) => bytes.subarray(1),
        (bytes) => new Uint8Array(bytes.length + 8),
        () => new Uint8Array(),
        () => undefined,
        // Tokens that no vocabulary has.
        (bytes) => new Uint8Array(bytes.length).fill(0xff),
        (bytes) => new Uint8Array(bytes.length).fill(0x80),
      ];
      for (const edge of edges)
        for (const place of [1, 7, 9]) await withGuess((item) => (item < place ? taken[item] : edge(taken[item]!)));
    });
  });
});
