/**
 * Texts through a gateway. Prints the gateway's own share of a block, tokens a second beside a loop of plain
 * onnxruntime behind the same HTTP server, tokens that a worker may sell in a minute, and blocks until a liar is
 * stopped.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { parseEther, type Hex } from "viem";
import { compile } from "../../../src/compiler/compile.ts";
import { DECODER } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { loadModel, type ModelSpec } from "../../../src/compiler/wraps/modelSpec.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { numbersOf, openPlainDecoder } from "../../../src/native/plain/decoder/plainDecoder.ts";
import { ApiKeys } from "../../../src/parties/gateway/apiKeys.ts";
import type { Gateway, TextPart } from "../../../src/parties/gateway/gateway.ts";
import { isDrawn } from "../../../src/parties/gateway/sellers.ts";
import { serveGateway } from "../../../src/parties/gateway/server.ts";
import { openTextModel } from "../../../src/parties/gateway/textFiles.ts";
import { tokensOutput, type TextModel } from "../../../src/parties/gateway/textModel.ts";
import { answerOfBytes } from "../../../src/parties/tickets/answerRun.ts";
import { requestOf } from "../../../src/parties/tickets/messageSchemas.ts";
import { claimBody } from "../../../src/parties/tickets/messages.ts";
import { digestOf, typedData } from "../../../src/parties/tickets/typedData.ts";
import { writeWholeSync } from "../../../src/base/writeWhole.ts";
import { startGateway, textKit, TOKENIZER, type TextKit } from "../../../testkit/players/gatewayPlayers.ts";
import { quiet } from "../../../testkit/players/players.ts";
import { TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";
import { readOptions, text, whole } from "../../options.ts";
import { largeDecoder } from "./models.ts";

const values = readOptions({
  blocks: whole("blocks whose share is measured", 1_000),
  model: text("words (a toy), gpt2, gpt2half, llama, llama1b", "gpt2"),
  tokens: whole("tokens of a text", 64),
  block: whole("tokens of a block", 32),
  texts: whole("texts whose time is measured", 3),
  seeds: whole("seeds of the gateway's draw", 100),
});
const PROMPT = [11, 222, 33, 4];
const [LIE_EVERY, SHARE] = [20, 0.05];
const json = { "content-type": "application/json" };

const sorted = (all: readonly number[]): number[] => [...all].sort((a, b) => a - b);
const at = (all: readonly number[], part: number): number => sorted(all)[Math.floor(part * (all.length - 1))]!;

/** The latest question to a worker. */
let question = "";
const { fetch } = globalThis;
globalThis.fetch = (...args) => {
  const to = args[0] instanceof Request ? args[0].url : args[0].toString();
  if (to.endsWith("/v1/answers")) question = args[1]!.body as string;
  return fetch(...args);
};

async function post(url: string, body: string): Promise<{ milliseconds: number; answer: string }> {
  const start = performance.now();
  const response = await fetch(url, { method: "POST", headers: json, body });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${answer}`);
  return { milliseconds: performance.now() - start, answer };
}

const world = await TicketPlayers.create();
await world.setClock();
const kit = await textKit(world.folder);
await share();
await speed();
await lies();
await kit.executors.close();
await world.close();

/** Makes a worker a stub: each question is signed, nothing is executed. */
function becomeStub({ service, at: worker }: Serving, { program }: TextModel): void {
  const place = program.model.inputs.findIndex(({ name }) => name === DECODER.prompt);
  const length = program.model.inputs.findIndex(({ name }) => name === DECODER.promptLength);
  let number = 0n;
  service.pay = () => Promise.resolve();
  service.answer = async (asked) => {
    const [prompt, count] = [place, length].map((k) => new BigInt64Array(bytesOf(asked.inputs[k]!).buffer));
    const { items, firstItem, programRoot, inputsRoot } = requestOf(asked);
    const before = Array.from(prompt!.subarray(0, Number(count![0])), Number);
    const tokens = [...before, ...new Array<number>(items + 1 - before.length).fill(65)];
    const output = tokensOutput(kit.model, tokens);
    const { root } = answerOfBytes(program.model.program, items, [output])!;
    const claim = {
      ...{ worker: worker.account.address, payer: asked.payer as Hex, programRoot, inputsRoot, items, firstItem },
      ...{ number: number++, issued: BigInt(Math.floor(Date.now() / 1_000) + world.ahead), root, secretHash: root },
    };
    const signature = await worker.account.signTypedData(typedData(worker.at, "SignedClaim", claim));
    return { claim: claimBody(claim), signature, outputs: [Buffer.from(output).toString("base64")] };
  };
}

/** A copy, so that words are aligned. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(base64, "base64"));
}

/** The gateway's share of a block: texts of one block, and the same question directly to the same stub. */
async function share(): Promise<void> {
  const serving = await world.serve(await world.workerKey(), kit.model.program, kit.execute);
  becomeStub(serving, kit.model);
  const payer = await world.payer(serving.at.account.address, parseEther("20"));
  const gateway = await startGateway(world, kit, payer, [serving.url]);
  const body = (seed: number): string =>
    JSON.stringify({ model: "words", messages: [{ role: "user", content: "A word" }], max_tokens: 16, seed });
  const [through, directly]: [number[], number[]] = [[], []];
  const used: number[] = [];
  for (let k = 0; k < values.blocks; k++) {
    const start = processor();
    through.push((await post(`${gateway.url}/chat/completions`, body(k))).milliseconds);
    const between = processor();
    await gateway.sellers.settled();
    const begin = processor();
    directly.push((await post(`${serving.url}/v1/answers`, question)).milliseconds);
    used.push(between - start - (processor() - begin));
  }
  const own = through.map((milliseconds, k) => milliseconds - directly[k]!);
  console.log(`A block through a gateway, ${values.blocks} texts of one block, a worker that executes nothing`);
  console.log(`  through it   ${at(through, 0.5).toFixed(1)} ms (median)`);
  console.log(`  directly     ${at(directly, 0.5).toFixed(1)} ms, the same question to the same worker`);
  console.log(`  own share    ${at(own, 0.5).toFixed(1)} ms, of each block by itself; 5 ms is the bar`);
  console.log(`               ${at(used, 0.5).toFixed(1)} ms of the processor, the client's included`);
  await gateway.close();
  await serving.stop();
}

/** This thread's processor time, milliseconds: other programs on the machine do not count. */
function processor(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The decoder whose texts are timed. */
async function subject(): Promise<TextKit> {
  if (values.model === "words") return kit;
  const { bytes, what } = largeDecoder(values.model);
  const path = join(world.folder, "decoder.onnx");
  writeWholeSync(path, bytes());
  const slots = PROMPT.length + values.tokens;
  const spec: ModelSpec = { path, shapes: {}, bind: {}, uint8: [], decoder: { slots } };
  const loaded = loadModel(spec);
  const program = knownProgram(compile(loaded.model, { shapes: {}, run: loaded.run }));
  console.log(`A decoder of ${what}`);
  return { ...kit, spec, model: await openTextModel("words", program, spec, { tokenizer: TOKENIZER }) };
}

/** A gateway's HTTP server before a loop of plain onnxruntime. */
async function servePlain({ model, spec }: TextKit) {
  const plain = await openPlainDecoder(spec.path, loadModel(spec).decoder!);
  async function* written({ request }: { request: { maxTokens?: number } }): AsyncGenerator<TextPart> {
    yield { kind: "start", id: "plain", created: 0 };
    const loop = plain.begin();
    const chosen: number[] = [];
    let logits: number[] = [];
    for (const token of PROMPT) logits = numbersOf(await loop.next([token]));
    while (chosen.length < request.maxTokens!) {
      const token = logits.reduce((best, x, k) => (x > logits[best]! ? k : best), 0);
      chosen.push(token);
      yield { kind: "piece", text: model.tokenizer.decode([token]) };
      if (chosen.length < request.maxTokens!) logits = numbersOf(await loop.next([token]));
    }
    const usage = { prompt: PROMPT.length, completion: chosen.length };
    yield { kind: "end", receipt: { text: { finish: "length" }, usage } } as unknown as TextPart;
  }
  const gateway = { models: ["words"], text: written } as unknown as Gateway;
  const options = { gateway, keys: new ApiKeys(undefined), log: quiet, maxBodyBytes: 2 ** 20 };
  const server = await serveGateway(options, 0);
  const close = async (): Promise<void> => {
    await server.close();
    await plain.close();
  };
  return { url: `http://127.0.0.1:${server.port}/v1`, close };
}

/** Tokens a second of the same text, both ways by turns, and the tokens for sale in a minute. */
async function speed(): Promise<void> {
  const about = await subject();
  const { program } = about.model;
  const { tokens, block, texts } = values;
  const serving = await world.serve(await world.workerKey(), program, about.execute);
  const payer = await world.payer(serving.at.account.address, parseEther("20"));
  const gateway = await startGateway(world, about, payer, [serving.url], { block });
  const plain = await servePlain(about);
  const body = JSON.stringify({ model: "words", prompt: PROMPT, max_tokens: tokens, temperature: 0 });
  const [sold, loop]: [number[], number[]] = [[], []];
  let written = tokens;
  for (let k = 0; k <= texts; k++) {
    const [through, directly] = [
      await post(`${gateway.url}/completions`, body),
      await post(`${plain.url}/completions`, body),
    ];
    written = (JSON.parse(through.answer) as { usage: { completion_tokens: number } }).usage.completion_tokens;
    // The first text of each loads the model.
    if (k > 0) sold.push((1_000 * written) / through.milliseconds);
    if (k > 0) loop.push((1_000 * tokens) / directly.milliseconds);
  }
  const [bought, alone] = [at(sold, 0.5), at(loop, 0.5)];
  const { itemsAMinute, secondsAnItem } = serving.service.paceOf(program);
  let items = 0;
  for (let end = block; end < tokens + block; end += block) items += PROMPT.length - 1 + Math.min(end, tokens);
  const { baseClock } = serving.at.session.deployment.parameters;
  console.log(`A text of ${written} tokens in blocks of ${block}, median of ${texts}`);
  console.log(`  bought       ${bought.toFixed(1)} tokens a second, signed and checked, by one worker`);
  console.log(`  plain        ${alone.toFixed(1)} tokens a second, a loop of onnxruntime behind the same HTTP server`);
  console.log(`  ratio        ${(alone / bought).toFixed(2)} times as long`);
  console.log(`What a worker may sell, with a clock of ${baseClock} s and claims of ${payer.claimLifetime} s`);
  console.log(`  items        ${itemsAMinute.toFixed(0)} a minute, of ${secondsAnItem.toFixed(3)} s each`);
  console.log(
    `  tokens       ${((itemsAMinute * tokens) / items).toFixed(0)} a minute, of such texts: a block executes those ` +
      "before it too",
  );
  await plain.close();
  await gateway.close();
  await serving.stop();
}

/** The gateway's own draw over signed claims' digests; that a drawn lie is seen and stops its worker, tests show. */
async function lies(): Promise<void> {
  const serving = await world.serve(await world.workerKey(), kit.model.program, kit.execute);
  const { address } = serving.at.account;
  const root: Hex = `0x${"1".repeat(64)}`;
  const passed = Array.from({ length: values.seeds }, (_, seed) => {
    const secret = createHash("sha256").update(`secret ${seed}`).digest();
    for (let block = 1n; ; block++) {
      if (block % BigInt(LIE_EVERY) !== 0n) continue;
      const claim = {
        ...{ worker: address, payer: address, programRoot: root, inputsRoot: root, items: 32, firstItem: 0 },
        ...{ number: block, issued: 1_700_000_000n + block, root, secretHash: root },
      };
      const digest = digestOf(serving.at.at, "SignedClaim", claim);
      if (isDrawn(digest, { secret, share: SHARE })) return Number(block);
    }
  });
  const mean = passed.reduce((a, b) => a + b, 0) / passed.length;
  console.log(`A worker that lies in one block of ${LIE_EVERY}, ${100 * SHARE} % checked: blocks until it is stopped`);
  console.log(
    `  ${values.seeds} seeds    mean ${mean.toFixed(0)} (expected ${LIE_EVERY / SHARE}), median ${at(passed, 0.5)}, ` +
      `nine of ten within ${at(passed, 0.9)}, most ${at(passed, 1)}`,
  );
  await serving.stop();
}
