import { expect } from "chai";
import type { Carried, Guess } from "../../src/program/trace/runItems.ts";
import { answerRun } from "../../src/parties/tickets/answerRun.ts";

import { keptSteps } from "../../src/program/trace/runItems.ts";
import { fromHash } from "../../src/program/merkle/hash.ts";
import { carriedFrom } from "../../src/dispute/run/runExecution.ts";
import { tokensGuess } from "../../src/compiler/wraps/decoderInputs.ts";
import { blocksOf } from "../../src/executor/blocks/blocksOf.ts";
import { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { answerGuess, withGuess } from "../../src/runs/blocks.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { runProgram } from "../../testkit/programs/runProgram.ts";
import { executeItems, executeRun, executeStretch, inputsOfItem } from "../../src/runs/executeRun.ts";
import {
  blockedText,
  countedExecute,
  TEXT_BLOCK,
  TEXT_ITEMS,
  type BlockedText,
  type CountedExecute,
} from "../../testkit/decoders/blockedText.ts";
import { rejection } from "../../testkit/rejection.ts";
import { StoredRun } from "../../src/dispute/run/storedRun.ts";
import { gpt2Decoder } from "../../testkit/models/exports/language.ts";
import { gpt2Decoder as sizedDecoder } from "../../testkit/models/gpt2.ts";
import { halfDecoder } from "../../testkit/models/halfDecoder.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";

const PROMPT = [7, 20, 2, 9, 4, 11, 7, 20, 2, 8, 1];

const MODELS: Readonly<Record<string, () => Uint8Array>> = {
  gpt2: () => gpt2Decoder("input").bytes,
  llamaOfFourBits: () => llama(LLAMA_TINY),
  halves: () => halfDecoder(),
};

describe("runs in blocks", function () {
  this.timeout(120_000);

  for (const [name, bytes] of Object.entries(MODELS))
    it(`${name}_promptInBlocks_hasTheRootsOfItemsOneByOne`, async () => {
      const { program, inputs, executor, step } = await blockedText(bytes(), PROMPT);
      const alone = countedExecute(executor, false);
      const [expected, heard]: [Buffer[], Buffer[]] = [[], []];
      const right = await executeRun(program, inputs, alone.execute, {}, (_, { tensor }) =>
        expected.push(Buffer.from(tensor(step))),
      );
      const together = countedExecute(executor);
      const run = await executeRun(program, inputs, together.execute, {}, (item, { tensor }) => {
        expect(item).to.equal(heard.length);
        heard.push(Buffer.from(tensor(step)));
      });
      expect(run.runRoot).to.equal(right.runRoot);
      expect(run.answer.root).to.equal(right.answer.root);
      expect(heard).to.deep.equal(expected);
      expect([alone.counts.singles, together.counts.singles]).to.deep.equal([TEXT_ITEMS, TEXT_ITEMS - TEXT_BLOCK]);
      // A game about an item of the prompt, and one about an item behind it.
      for (const item of [5, 12]) {
        await executeItems(run, [item], countedExecute(executor).execute);
        await executeItems(right, [item], alone.execute);
        expect(run.item(item).trace.root).to.equal(right.item(item).trace.root);
      }
      const answers = [countedExecute(executor), countedExecute(executor, false)].map(({ execute }) =>
        answerRun(program, inputs, execute),
      );
      const [ours, theirs] = await Promise.all(answers);
      expect(ours).to.deep.equal(theirs);
      await executor.close();
    });

  it("stretch_withAPartOfThePrompt_isInBlocks", async () => {
    const { program, inputs, executor } = await blockedText(llama(LLAMA_TINY), PROMPT);
    const run = await executeRun(program, inputs, countedExecute(executor, false).execute);
    await executeItems(run, [1], countedExecute(executor, false).execute);
    const taken = carriedFrom(run.item(1));
    const counted = countedExecute(executor);
    const steps = [...keptSteps(program.model.program)].sort((a, b) => a - b);
    const { roots } = await executeStretch({ program, inputs: inputs.part(2, 10, taken), steps }, counted.execute);
    const expected = Array.from({ length: 10 }, (_, k) => fromHash(run.list.node(0, 2 + k)));
    expect(Buffer.compare(roots.subarray(0, 320), Buffer.concat(expected))).to.equal(0);
    expect(counted.counts).to.deep.equal({ singles: 2, blocks: 1, wrong: 0 });
    await executor.close();
  });

  it("fastExecutors_executePromptsInBlocks_alsoAfterItemsByThemselves", async () => {
    const { program, inputs, executor } = await blockedText(llama(LLAMA_TINY), PROMPT);
    const right = await executeRun(program, inputs, countedExecute(executor, false).execute);
    await executor.close();
    const executors = new FastExecutors({ threads: 1 });
    // The executor for single items comes first, and is replaced.
    const { block } = executors.execute;
    const single: Execute = (...args) => executors.execute(...args);
    for (const execute of [single, executors.execute, executors.execute])
      expect((await executeRun(program, inputs, execute)).runRoot).to.equal(right.runRoot);
    const { items, isWrong } = await block!({
      model: program.model,
      items: Array.from({ length: PROMPT.length }, (_, item) =>
        inputs.of(item, tokensGuess(program.model, inputs)!.of(item)),
      ),
      guessed: [program.model.program.outputs[0]!],
    });
    expect([items.length, isWrong]).to.deep.equal([PROMPT.length, false]);
    await executors.close();
  });

  it("blocksThatBeganBesideAKeptState_endAtOne", async () => {
    // States are kept of every second item.
    const items = 300;
    const shape = { layers: 1, width: 16, heads: 2, tokens: items, vocabulary: 50 };
    const prompt = Array.from({ length: 40 }, (_, k) => (7 * k + 3) % 50);
    const { program, inputs, executor, input } = await blockedText(sizedDecoder(shape), prompt, items);
    const told = tokensGuess(program.model, inputs)!;
    const { execute } = countedExecute(executor);
    const starts: number[] = [];
    const { block } = execute;
    const heard: Execute["block"] = (asked, order) => {
      starts.push(Number(new DataView(Uint8Array.from(asked.items[0]![position]!).buffer).getBigInt64(0, true)));
      return block!(asked, order);
    };
    const position = program.model.program.inputs.findIndex(({ source }) => source?.kind === "index");
    // Nothing is known of item 5: the second block begins there.
    const guess: Guess = { ...told, of: (item) => (item === 5 || item > 39 ? undefined : told.of(item)) };
    const run = await executeRun(program, inputs, Object.assign(execute, { block: heard }), { guess });
    // A block has eight items at most.
    expect(starts).to.deep.equal([0, 5, 10, 18, 26, 34]);
    const alone = await executeRun(program, inputs, countedExecute(executor, false).execute);
    expect(run.runRoot).to.equal(alone.runRoot);
    expect(input).to.not.equal(position);
    await executor.close();
  });

  it("programThatIsOneCircle_hasNoBlocks", () => {
    const { program } = runProgram().model;
    expect(blocksOf(program, [])).to.equal(undefined);
    // Where the carried tensor is guessed, no circle is left.
    expect(blocksOf(program, [1])).to.deep.equal({ lengths: [4, 8, 16, 32, 48, 64], guessed: [1] });
  });

  describe("guesses", () => {
    let text: BlockedText;
    let right: string;
    /** What each item takes from the item before, of the guessed input. */
    const taken: Uint8Array[] = [];
    let checkpoint: number;

    before(async () => {
      text = await blockedText(gpt2Decoder("input").bytes, PROMPT.slice(0, 2));
      const { model } = text.program;
      checkpoint = model.program.outputs[0]!;
      const run = await executeRun(
        text.program,
        text.inputs,
        countedExecute(text.executor, false).execute,
        {},
        (item, of) => {
          taken[item + 1] = Uint8Array.from(of.tensor(text.step));
        },
      );
      right = run.runRoot;
    });

    after(() => text.executor.close());

    async function countsWith(of: (item: number) => Uint8Array | undefined): Promise<CountedExecute["counts"]> {
      const counted = countedExecute(text.executor);
      const expected = (item: number): Carried | undefined => {
        const bytes = of(item);
        return bytes && new Map([[text.input, bytes]]);
      };
      const guess: Guess = { checkpoints: [checkpoint], of: expected };
      const run = await executeRun(text.program, text.inputs, counted.execute, { guess });
      expect(run.runRoot).to.equal(right);
      return counted.counts;
    }

    it("right_executeTheTextInBlocks", async () => {
      // The last item is executed by itself.
      expect(await countsWith((item) => taken[item])).to.deep.equal({ singles: 1, blocks: 2, wrong: 0 });
    });

    it("ofTheWholeTextByAnAnswer_letAnAnswerBeCheckedInBlocks", async () => {
      const { program, inputs, executor } = text;
      const alone = await answerRun(program, inputs, countedExecute(executor, false).execute);
      for (const place of [undefined, ...Array(TEXT_ITEMS).keys()]) {
        const outputs = alone.outputs.map((bytes) => Uint8Array.from(bytes));
        if (place !== undefined) outputs[0]![8 * place]! ^= 1;
        const { execute, counts } = countedExecute(executor);
        const checked = await answerRun(
          program,
          inputs,
          withGuess(execute, answerGuess(program.model, inputs, outputs)),
        );
        expect(checked).to.deep.equal(alone);
        if (place === undefined) expect(counts).to.deep.equal({ singles: 0, blocks: 2, wrong: 0 });
        else expect(counts.blocks).to.equal(place < TEXT_BLOCK - 1 ? 1 : 2);
      }
      // Outputs of a wrong form are no guess.
      for (const outputs of [[], [new Uint8Array()], [new Uint8Array(7)]]) {
        const { execute } = countedExecute(executor);
        const guess = answerGuess(program.model, inputs, outputs);
        expect(await answerRun(program, inputs, withGuess(execute, guess))).to.deep.equal(alone);
      }
    });

    it("ofARunExecutedBefore_letAGameExecuteItsItemsInBlocks", async () => {
      const { program, inputs, executor } = text;
      const alone = countedExecute(executor, false).execute;
      const run = await executeRun(program, inputs, alone);
      const roots = { traces: run.list, answer: run.answer };
      const items = [12, 14];
      // Nothing but roots and the last item is there; then nothing but roots, and a wrong text of somebody.
      const held = new RunExecution(program, inputs, roots, { last: run.item(TEXT_ITEMS - 1) });
      const bare = new RunExecution(program, inputs, roots);
      for (const [known, blocks] of [
        [held, 1],
        [bare, 0],
      ] as const) {
        const counted = countedExecute(executor);
        await executeItems(known, items, counted.execute);
        expect(counted.counts.blocks).to.equal(blocks);
        await executeItems(run, items, alone);
        for (const item of items) expect(known.item(item).trace.root).to.equal(run.item(item).trace.root);
      }
      const counted = countedExecute(executor);
      const given = await inputsOfItem(
        new RunExecution(program, inputs, roots, { last: run.item(14) }),
        11,
        counted.execute,
      );
      expect(given).to.deep.equal(await inputsOfItem(bare, 11, alone));
      expect(counted.counts).to.deep.equal({ singles: 3, blocks: 1, wrong: 0 });
    });

    it("aFailureInABlock_leavesARunThatCanBeExecutedAgain", async () => {
      const { program, inputs, executor } = text;
      const guess = { checkpoints: [checkpoint], of: (item: number) => new Map([[text.input, taken[item]!]]) };
      const stored = new StoredRun(program.model.program, TEXT_ITEMS);
      const { execute } = countedExecute(executor);
      const { block } = execute;
      let failing = true;
      // The block is executed, and its result is lost: as if the process were killed before the result counts.
      const once: Execute["block"] = async (...args) => {
        const result = await block!(...args);
        if (failing) throw new Error("killed");
        return result;
      };
      const fragile = Object.assign(((...args) => execute(...args)) as Execute, { block: once });
      expect((await rejection(executeRun(program, inputs, fragile, { stored, guess }))).message).to.equal("killed");
      expect(await stored.readRoots()).to.equal(undefined);
      failing = false;
      expect((await executeRun(program, inputs, fragile, { stored, guess })).runRoot).to.equal(right);
    });

    it("wrongAtEachPlace_changeNoBit", async () => {
      let found = 0;
      for (let place = 1; place < TEXT_ITEMS; place++) {
        const wrong = Uint8Array.from(taken[place]!);
        wrong[(8 * place) % wrong.length]! ^= 1;
        found += (await countsWith((item) => (item === place ? wrong : taken[item]))).wrong;
      }
      // A block's first item is not guessed, and the last item of the run is in no block.
      expect(found).to.equal(TEXT_ITEMS - 3);
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
        for (const place of [1, 7, 9]) await countsWith((item) => (item < place ? taken[item] : edge(taken[item]!)));
    });
  });
});
