/** What guesses gain and lose: a checked text, wrong guesses, and a repeating text. */
import { compile } from "../../../src/compiler/compile.ts";
import { chosenToken, decoderInputs } from "../../../src/compiler/wraps/decoderInputs.ts";
import { wrapDecoder } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import type { Guess } from "../../../src/program/trace/runItems.ts";
import { answerGuess } from "../../../src/runs/blocks.ts";
import { executeRun } from "../../../src/runs/executeRun.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { gpt2Decoder, type Gpt2Shape } from "../../../testkit/models/gpt2.ts";

/** Tokens mostly follow each other in circles with so many tokens. */
const CIRCLE = 4;
const TOKEN_BYTES = 8;

type Text = {
  /** Of processor time: other programs may run. */
  milliseconds: number;
  root: string;
  tokens: number[];
  /** The last item's tokens. */
  last: Uint8Array;
  blocks: number;
  /** Right items in blocks, and all items in blocks. */
  right: number;
  asked: number;
};

/** A decoder's text on one thread, executed in several ways. */
class Texts {
  readonly #executors = new FastExecutors({ threads: 1 });
  readonly #model: CompiledModel;
  readonly inputs: RunInputs;

  constructor(model: CompiledModel, prompt: readonly number[], items: number) {
    this.#model = model;
    this.inputs = new RunInputs(model.program.inputs, { items, firstItem: 0 }, decoderInputs(model, { prompt }));
  }

  /** @param way Without blocks, by a guess, or by tokens that are looked up. */
  async text(way: { guess?: Guess | undefined; lookup?: Execute["lookup"] } | undefined): Promise<Text> {
    const { block } = this.#executors.execute;
    const counts = { blocks: 0, right: 0, asked: 0 };
    const one: Execute = (...args) => this.#executors.execute(...args);
    const together: Execute["block"] = async (asked, order) => {
      const result = await block!(asked, order);
      counts.blocks++;
      counts.right += result.items.length;
      counts.asked += asked.items.length;
      return result;
    };
    const execute = Object.assign(one, way && { block: together, lookup: way.lookup });
    const { program } = this.#model;
    const { step } = program.checkpoints[program.outputs[0]!]!;
    const tokens: number[] = [];
    let last: Uint8Array = new Uint8Array();
    const start = process.cpuUsage();
    const { guess } = way ?? {};
    const run = await executeRun(knownProgram(this.#model), this.inputs, execute, { guess }, (item, { tensor }) => {
      last = Uint8Array.from(tensor(step));
      tokens.push(chosenToken(last, item));
    });
    const { user, system } = process.cpuUsage(start);
    return { milliseconds: (user + system) / 1_000, root: run.runRoot, tokens, last, ...counts };
  }

  /** A guess by a text that somebody tells. */
  guess(text: Uint8Array): Guess | undefined {
    return answerGuess(this.#model, this.inputs, [text]);
  }

  close(): Promise<void> {
    return this.#executors.close();
  }
}

const times = (a: number, b: number): string => (a / b).toFixed(2);

/** Prints a text's time for a checker with right tokens, and with wrong tokens. */
export async function checkedInBlocks(
  model: CompiledModel,
  prompt: readonly number[],
  items: number,
  say: (text: string) => void,
): Promise<void> {
  const texts = new Texts(model, prompt, items);
  const first = await texts.text(undefined);
  // The executor of blocks is prepared.
  await texts.text({ guess: texts.guess(first.last) });
  const alone = await texts.text(undefined);
  const checked = await texts.text({ guess: texts.guess(first.last) });
  const lie = first.last.map((byte, k) => (k % TOKEN_BYTES === 0 ? byte ^ 1 : byte));
  const lied = await texts.text({ guess: texts.guess(lie) });
  await texts.close();
  const isSame = [checked, lied].every(({ root }) => root === alone.root);
  say(
    `a text of ${items} tokens, committed: checked in ${times(checked.milliseconds, alone.milliseconds)} of the time ` +
      `that writing takes (${Math.round(alone.milliseconds / items)} ms a token); with every token told wrong in ` +
      `${times(lied.milliseconds, alone.milliseconds)}; ${isSame ? "the same roots" : "OTHER ROOTS"}`,
  );
}

/** Prints the gain by lookup, for a decoder with a repeating text of several tokens. */
export async function lookedUp(
  shape: Gpt2Shape,
  prompt: readonly number[],
  slots: number,
  say: (text: string) => void,
): Promise<void> {
  const file = gpt2Decoder({ ...shape, circle: CIRCLE });
  const { model: wrapped, run } = wrapDecoder(readModel(file), { slots, greedy: true });
  const texts = new Texts(compile(wrapped, { shapes: {}, run }), prompt, slots);
  await texts.text({ lookup: "always" });
  const alone = await texts.text(undefined);
  const found = await texts.text({ lookup: "where it pays" });
  await texts.close();
  say(
    `a text that repeats, ${slots} tokens, ${new Set(alone.tokens).size} different ones: ` +
      `${times(alone.milliseconds, found.milliseconds)} times the tokens a second by lookup, ${found.blocks} blocks, ` +
      `${found.right} of ${found.asked} items counted; ${found.root === alone.root ? "the same root" : "ANOTHER ROOT"}`,
  );
}
