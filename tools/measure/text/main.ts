/**
 * Text from a large decoder under one claim, on an embedded chain: compiled, compared with plain onnxruntime, executed
 * by a worker, final; drawn by seeds; a prompt one by one and in blocks; and workers that leave layers out, refuted.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../../src/compiler/compile.ts";
import { decoderInputs, type Generation } from "../../../src/compiler/wraps/decoderInputs.ts";
import { checkDecoder } from "../../../src/native/plain/decoder/checkDecoder.ts";
import { generate } from "../../../src/native/plain/decoder/generate.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { loadModel } from "../../../src/compiler/wraps/modelSpec.ts";
import { wrapDecoder } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { runWork } from "../../../src/program/run.ts";
import { programTerms, programWork } from "../../../src/program/work.ts";
import { leavingOut, residualSums, type Run } from "../../../testkit/decoders/leftOut.ts";
import { gpt2Decoder, type Gpt2Shape } from "../../../testkit/models/gpt2.ts";
import { Players } from "../../../testkit/players/players.ts";
import { readOptions, text, whole } from "../../options.ts";
import { barsTable, checkedInBlocks, lookedUp, plainPass, promptInBlocks, textsTogether, type Bar } from "./blocks.ts";
import { textOnGpu } from "./device.ts";
import { honestJob, refutedJob } from "./jobs.ts";
import { GPT2, largeDecoder } from "./models.ts";
import { agreement, plainText } from "./plainText.ts";

const values = readOptions({
  model: text("tiny, gpt2, gpt2half, llama, llama1b or llama7b", "gpt2"),
  device: text("cpu; gpu or a part of a GPU's name: the text on that GPU alone, without a chain", "cpu"),
  items: whole("tokens of the text", 64),
  "lie-items": whole("tokens of a text with a lie", 8),
  layers: whole("layers, other than the model's own"),
  slots: whole("slots of the decoder's cache", 64),
});
const { items, slots, "lie-items": lieItems } = values;
const PROMPT = [11, 222, 3_333, 4];
const DRAWING = { temperature: 0.8, topK: 50, topP: 0.95 };

/** The number of tokens in the prompt, for execution in blocks. */
const PROMPT_TOKENS = 48;
/** The slots of a decoder for long texts, with weights in float32. */
const MANY_SLOTS = 1_024;
/** The length in tokens for texts written together. */
const TOGETHER_ITEMS = 16;
/** The bar for weights of four bits, which are unpacked once a block: of the time one by one. */
const PACKED_MOST = 1 / 12;

const MIB = 2 ** 20;
const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
/** The most memory of this process so far. */
const memory = (): string => `${Math.round(process.resourceUsage().maxRSS / 1_024)} MiB`;
const say = (text: string): void => console.log(`  ${text}`);

async function timed<T>(what: () => T | Promise<T>): Promise<[value: T, milliseconds: number]> {
  const start = performance.now();
  const value = await what();
  return [value, performance.now() - start];
}

const { bytes, width, layers, what } = largeDecoder(values.model, values.layers);
const folder = mkdtempSync(join(tmpdir(), "refute-generate-"));
try {
  const path = join(folder, "decoder.onnx");
  const file = bytes();
  writeFileSync(path, file);
  console.log(`A decoder of ${what}; ${layers} layers, ${Math.round(file.length / MIB)} MiB, ${slots} slots`);
  await measure(path);
} finally {
  rmSync(folder, { recursive: true });
}
// The threads of a GPU's driver keep the process.
if (values.device !== "cpu") process.exit();

async function measure(path: string): Promise<void> {
  // Drawing takes some million operations a token of the vocabulary: too long for a software driver.
  const greedy = values.device === "cpu" ? undefined : (true as const);
  const loaded = loadModel({ path, bind: {}, uint8: [], decoder: { slots, greedy } });
  const decoder = loaded.decoder!;
  const [model, compiling] = await timed(() => compile(loaded.model, { shapes: {}, run: loaded.run }));
  const { steps, checkpoints } = model.program;
  say(`compiled in ${seconds(compiling)}: ${steps.length} steps, ${checkpoints.length} checkpoints; ${memory()}`);
  const [{ difference, tokens }, checking] = await timed(() => checkDecoder(path, model, decoder));
  say(
    `compared on ${tokens} random tokens in ${seconds(checking)}: ${difference.toExponential(1)} of the spread apart`,
  );
  if (values.device !== "cpu") return textOnGpu(values.device, model, { prompt: PROMPT, items }, say);
  const choices = await plainText(path, decoder, PROMPT, items);
  await drawn(model);
  await inBlocks(model);
  await onChain(model, (exact) => agreement(exact, choices, difference));
}

/** Texts drawn by seeds, executed on this machine. */
async function drawn(model: CompiledModel): Promise<void> {
  const executor = await createExecutor(model);
  const draw = async (seed: bigint): Promise<string> => {
    const chosen: number[] = [];
    const given: Generation = { prompt: PROMPT, ...DRAWING, seed };
    for await (const { token } of generate(model, executor, given, lieItems)) chosen.push(token);
    return chosen.join();
  };
  const [[first, milliseconds], again, other] = [await timed(() => draw(7n)), await draw(7n), await draw(8n)];
  await executor.close();
  const each = Math.round(milliseconds / lieItems);
  const same = first === again ? "the same" : "OTHER";
  const different = first === other ? "THE SAME" : "another";
  say(`drawn, ${lieItems} tokens, ${each} ms a token: seed 7 twice gives ${same} tokens, seed 8 ${different} text`);
}

/** A decoder that takes the most probable token, and has no arithmetic for drawing. */
function greedy(shape: Gpt2Shape, ofSlots: number): CompiledModel {
  const { model, run } = wrapDecoder(readModel(gpt2Decoder(shape)), { slots: ofSlots, greedy: true });
  return compile(model, { shapes: {}, run });
}

/** The bars of runs in blocks, by processor time: other programs may run. */
async function inBlocks(model: CompiledModel): Promise<void> {
  const tokens = (count: number): number[] => Array.from({ length: count }, (_, k) => (7_919 * k + 13) % 30_000);
  const prompt = tokens(Math.min(PROMPT_TOKENS, slots - 1));
  const name = `prompt of ${prompt.length} tokens`;
  const bars: Bar[] = [];
  if (values.model === "gpt2") {
    const shape = { ...GPT2, layers };
    const plain = await plainPass(shape, prompt);
    const most = { exact: 1 / 3, committed: 0.45 };
    const least = greedy(shape, slots);
    const [many, long] = [tokens(PROMPT_TOKENS), `${name}, ${MANY_SLOTS} slots`];
    bars.push(
      // Plain onnxruntime draws no token either.
      ...(await promptInBlocks(name, least, prompt, { plain, most, say })),
      ...(await promptInBlocks(`${name}, drawing`, model, prompt, { most, say })),
      ...(await promptInBlocks(long, greedy(shape, MANY_SLOTS), many, { most: { committed: 0.5 }, say })),
      ...(await lookedUp(shape, PROMPT, slots, say)),
      ...(await checkedInBlocks("", least, { prompt: PROMPT, items }, say)),
    );
  } else bars.push(...(await promptInBlocks(name, model, prompt, { most: { committed: PACKED_MOST }, say })));
  bars.push(
    ...(await checkedInBlocks(", drawing", model, { prompt: PROMPT, items }, say)),
    ...(await textsTogether(model, Math.min(items, TOGETHER_ITEMS), say)),
  );
  for (const line of barsTable(bars)) say(line);
}

async function onChain(model: CompiledModel, judge: (tokens: readonly number[]) => string): Promise<void> {
  const program = knownProgram(model);
  const inputs = decoderInputs(model, { prompt: PROMPT });
  const executors = new FastExecutors();
  const players = await Players.create();
  const { maxWork, rate, baseClock } = (await players.chain.newSession()).deployment.parameters;
  const work = runWork(items, programWork(model.program));
  const clock = baseClock + Math.ceil((2 * Number(work)) / Number(rate));
  say(
    `${programTerms(model.program.steps)} terms a token; work of the job ${work}, ${percent(work, maxWork)} of maxWork`,
  );
  const { tokens, milliseconds, window, gas } = await honestJob(players, { program, inputs, items }, executors.execute);
  say(`a job of ${items} items: window ${window} s, clocks ${clock} s`);
  say(
    `executed and committed in ${seconds(milliseconds)}, ${Math.round(milliseconds / items)} ms a token; ${memory()}`,
  );
  const used = Object.entries(gas).map(([name, { receipt }]) => `${name} ${receipt.gasUsed}`);
  say(`final and delivered; gas: ${used.join(", ")}`);
  say(judge(tokens));
  const run: Run = (...args) => executors.run(...args);
  const sums = residualSums(model, width);
  const place = Math.floor(lieItems / 2);
  const layer = Math.floor(layers / 2);
  for (const [name, cheat] of [
    [
      `without layer ${layer} at token ${place}`,
      leavingOut(run, sums.slice(2 * layer, 2 * layer + 2), (i) => i === place),
    ],
    [`with ${layer} of ${layers} layers`, leavingOut(run, sums.slice(2 * layer), () => true)],
  ] as const) {
    const market = await players.onAnotherDeployment();
    const found = await refutedJob(market, { program, inputs, items: lieItems }, cheat, executors.execute);
    say(`a worker ${name}, ${lieItems} items: found by the watcher after ${seconds(found.milliseconds)}`);
    say(
      `  refuted in ${seconds(found.gameMilliseconds)}: item ${found.item}, step ${found.step}; ` +
        `${found.transactions} transactions, ${found.gas} gas`,
    );
  }
  say(`the most memory: ${memory()}`);
  await executors.close();
  await players.chain.close();
}

function percent(part: bigint, whole: bigint): string {
  return `${(Number((10_000n * part) / whole) / 100).toFixed(1)} %`;
}
