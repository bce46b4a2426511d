/** What blocks and guesses gain and lose: prompts, a checked text, wrong guesses, and a repeating text. */
import { compile } from "../../../src/compiler/compile.ts";
import { chosenToken, decoderInputs } from "../../../src/compiler/wraps/decoderInputs.ts";
import { wrapDecoder } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { onnxruntime } from "../../../src/executor/engine/binding.ts";
import { int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { toOrt } from "../../../src/native/plain/ortTensor.ts";
import { answerRun } from "../../../src/parties/tickets/answerRun.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import type { Guess } from "../../../src/program/trace/runItems.ts";
import { answerGuess } from "../../../src/runs/blocks.ts";
import { Batches } from "../../../src/runs/batches.ts";
import { executeRun } from "../../../src/runs/executeRun.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { gpt2, gpt2Decoder, type Gpt2Shape } from "../../../testkit/models/gpt2.ts";

/** Tokens mostly follow each other in circles with so many tokens. */
const CIRCLE = 4;
/** By how much a token outweighs the layers: mostly its circle goes on, or often another token comes. */
const CLEAR = { mostly: 8, often: 2 };
const TOKEN_BYTES = 8;

type Text = {
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
    const { guess } = way ?? {};
    const run = await executeRun(knownProgram(this.#model), this.inputs, execute, { guess }, (item, { tensor }) => {
      last = Uint8Array.from(tensor(step));
      tokens.push(chosenToken(last, item));
    });
    return { root: run.runRoot, tokens, last, ...counts };
  }

  /** A guess by a text that somebody tells. */
  guess(text: Uint8Array): Guess | undefined {
    return answerGuess(this.#model, this.inputs, [text]);
  }

  close(): Promise<void> {
    return this.#executors.close();
  }
}

/** A bar of runs in blocks: what was found, and whether that is within the bar. */
export type Bar = { name: string; bar: string; found: string; isMet: boolean };

const atMost = (name: string, most: number, found: number, what = "of the time one by one"): Bar => ({
  ...{ name, bar: `<= ${most.toFixed(2)} ${what}`, found: found.toFixed(2), isMet: found <= most },
});

const times = (a: number, b: number): string => (a / b).toFixed(2);
const medianOf = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]!;

/** How often each time is taken, by turns. */
const ROUNDS = 3;

/** Takes the processor time of things by turns. @returns the median of each, milliseconds, and the last results */
async function byTurns<T>(...all: readonly (() => Promise<T>)[]): Promise<{ milliseconds: number; result: T }[]> {
  const found: { times: number[]; result: T | undefined }[] = all.map(() => ({ times: [], result: undefined }));
  // The first round prepares executors.
  for (let round = 0; round <= ROUNDS; round++)
    for (const [k, act] of all.entries()) {
      // Nothing pays for the garbage of what came before.
      globalThis.gc?.();
      const start = process.cpuUsage();
      found[k]!.result = await act();
      const { user, system } = process.cpuUsage(start);
      if (round > 0) found[k]!.times.push((user + system) / 1_000);
    }
  return found.map(({ times: taken, result }) => ({ milliseconds: medianOf(taken), result: result! }));
}

/**
 * A prompt's items one by one and in blocks, exact and committed.
 * @param plain Milliseconds of plain onnxruntime for the whole prompt in one pass, if known.
 * @param most The largest ratios, exact and committed.
 */
export async function promptInBlocks(
  name: string,
  model: CompiledModel,
  prompt: readonly number[],
  { plain, most, say }: { plain?: number; most: { exact?: number; committed: number }; say: (text: string) => void },
): Promise<Bar[]> {
  const length = { items: prompt.length, firstItem: 0 };
  const inputs = new RunInputs(model.program.inputs, length, decoderInputs(model, { prompt }));
  const executors = new FastExecutors({ threads: 1 });
  const single: Execute = (...args) => executors.execute(...args);
  const claim = async (execute: Execute): Promise<string> =>
    (await executeRun(knownProgram(model), inputs, execute)).runRoot;
  const answer = async (execute: Execute): Promise<string> => (await answerRun({ model }, inputs, execute)).root;
  const [alone, together, claimed, claimedTogether] = (await byTurns(
    () => answer(single),
    () => answer(executors.execute),
    () => claim(single),
    () => claim(executors.execute),
  )) as Four;
  await executors.close();
  const each = ({ milliseconds }: { milliseconds: number }): string => (milliseconds / prompt.length).toFixed(1);
  const isSame = alone.result === together.result && claimed.result === claimedTogether.result;
  say(
    `${name}, ms a token of the processor: exact ${each(alone)}, in blocks ${each(together)}; ` +
      `committed ${each(claimed)}, in blocks ${each(claimedTogether)}; ${isSame ? "the same roots" : "OTHER ROOTS"}`,
  );
  const exact = together.milliseconds / alone.milliseconds;
  const committed = claimedTogether.milliseconds / claimed.milliseconds;
  return [
    ...(most.exact === undefined ? [] : [atMost(`${name}, exact`, most.exact, exact)]),
    ...(plain === undefined
      ? []
      : [atMost(`${name}, exact`, 2.6, together.milliseconds / plain, "times plain's one pass")]),
    atMost(`${name}, committed`, most.committed, committed),
  ];
}

type Timed = { milliseconds: number; result: string };
type Four = [Timed, Timed, Timed, Timed];

/** Milliseconds of the processor that plain onnxruntime takes for tokens in one pass, on one thread. */
export async function plainPass(shape: Gpt2Shape, tokens: readonly number[]): Promise<number> {
  const options = { logSeverityLevel: 3, intraOpNumThreads: 1, interOpNumThreads: 1 } as const;
  const session = await onnxruntime().InferenceSession.create(gpt2({ ...shape, tokens: tokens.length }), options);
  const ids = toOrt({ ...int64Tensor([...tokens]), shape: [1, tokens.length] });
  const [pass] = await byTurns(() => session.run({ input_ids: ids }));
  await session.release();
  return pass!.milliseconds;
}

/** A text's time for a checker with right tokens, and with wrong tokens. */
export async function checkedInBlocks(
  kind: string,
  model: CompiledModel,
  { prompt, items }: { prompt: readonly number[]; items: number },
  say: (text: string) => void,
): Promise<Bar[]> {
  const texts = new Texts(model, prompt, items);
  const { last } = await texts.text(undefined);
  const lie = last.map((byte, k) => (k % TOKEN_BYTES === 0 ? byte ^ 1 : byte));
  const [alone, checked, lied] = (await byTurns(
    () => texts.text(undefined),
    () => texts.text({ guess: texts.guess(last) }),
    () => texts.text({ guess: texts.guess(lie) }),
  )) as [TimedText, TimedText, TimedText];
  await texts.close();
  const isSame = [checked, lied].every(({ result }) => result.root === alone.result.root);
  say(
    `a text of ${items} tokens${kind}, committed: ${Math.round(alone.milliseconds / items)} ms a token to write; ` +
      (isSame ? "the same roots" : "OTHER ROOTS"),
  );
  return [
    atMost(`checking a text of ${items} tokens${kind}`, 0.45, checked.milliseconds / alone.milliseconds, "of writing"),
    atMost(`all tokens told wrong${kind}`, 1.3, lied.milliseconds / alone.milliseconds),
  ];
}

type TimedText = { milliseconds: number; result: Text };

/** The number of texts written together. */
const TEXTS = 8;

/** Texts of several requests, one after the other and together. */
export async function textsTogether(model: CompiledModel, items: number, say: (text: string) => void): Promise<Bar[]> {
  const texts = Array.from({ length: TEXTS }, (_, k) => {
    const prompt = [11, 222, 3_333, 4].map((token) => token + 97 * k);
    return new RunInputs(model.program.inputs, { items, firstItem: 0 }, decoderInputs(model, { prompt }));
  });
  const executors = new FastExecutors({ threads: 1 });
  const answer = async (inputs: RunInputs, execute: Execute): Promise<string> =>
    (await answerRun({ model }, inputs, execute)).root;
  const batches = new Batches(executors.execute);
  const [inTurn, together] = (await byTurns(
    async () => {
      const roots: string[] = [];
      for (const inputs of texts) roots.push(await answer(inputs, executors.execute));
      return roots.join();
    },
    async () => {
      const all = texts.map((inputs) => batches.run(model, (execute) => answer(inputs, execute)));
      return (await Promise.all(all)).map(({ result }) => result).join();
    },
  )) as [Timed, Timed];
  await executors.close();
  const each = ({ milliseconds }: Timed): string => (milliseconds / TEXTS / items).toFixed(1);
  say(
    `${TEXTS} texts of ${items} tokens, ms a token of the processor: in turn ${each(inTurn)}, together ` +
      `${each(together)}; ${inTurn.result === together.result ? "the same roots" : "OTHER ROOTS"}`,
  );
  return [atMost(`writing ${TEXTS} texts together`, 1, together.milliseconds / inTurn.milliseconds, "of in turn")];
}

/** The gain by lookup, for decoders with repeating texts of several tokens. */
export async function lookedUp(
  shape: Gpt2Shape,
  prompt: readonly number[],
  slots: number,
  say: (text: string) => void,
): Promise<Bar[]> {
  const bars: Bar[] = [];
  for (const [name, clearness] of Object.entries(CLEAR)) {
    const file = gpt2Decoder({ ...shape, circle: CIRCLE, clearness });
    const { model: wrapped, run } = wrapDecoder(readModel(file), { slots, greedy: true });
    const texts = new Texts(compile(wrapped, { shapes: {}, run }), prompt, slots);
    const [alone, found] = (await byTurns(
      () => texts.text(undefined),
      () => texts.text({ lookup: "where it pays" }),
    )) as [TimedText, TimedText];
    await texts.close();
    const { blocks, right, asked, tokens, root } = found.result;
    const gain = alone.milliseconds / found.milliseconds;
    say(
      `a text that ${name} repeats, ${slots} tokens, ${new Set(tokens).size} different ones: ${blocks} blocks, ` +
        `${right} of ${asked} items counted; ${root === alone.result.root ? "the same root" : "ANOTHER ROOT"}`,
    );
    const [least, isMet] = name === "mostly" ? [2, gain >= 2] : [1 / 1.3, gain >= 1 / 1.3];
    const bar = `>= ${least.toFixed(2)} times the tokens a second`;
    bars.push({
      name: `writing a text that ${name} repeats`,
      bar,
      found: times(alone.milliseconds, found.milliseconds),
      isMet,
    });
  }
  return bars;
}

/** The bars as lines of a table. */
export function barsTable(bars: readonly Bar[]): string[] {
  const width = Math.max(...bars.map(({ name }) => name.length));
  return bars.map(({ name, bar, found, isMet }) => `${name.padEnd(width)}  ${found}  ${bar}${isMet ? "" : "  MISSED"}`);
}
