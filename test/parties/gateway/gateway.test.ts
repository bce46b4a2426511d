import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { expect } from "chai";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import OpenAI, { APIError, APIUserAbortError, AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { parseEther } from "viem";
import { addKey } from "../../../src/parties/gateway/apiKeys.ts";
import { ApiError } from "../../../src/parties/gateway/errors.ts";
import { readTextRequest } from "../../../src/parties/gateway/requests.ts";
import { promptOf } from "../../../src/parties/gateway/textModel.ts";
import type { Receipt } from "../../../src/parties/gateway/receiptForm.ts";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import { startGateway, textKit, type RunningGateway, type TextKit } from "../../../testkit/players/gatewayPlayers.ts";
import { FACE, TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

const MESSAGES = [{ role: "user", content: "A secret word" }] as const;
/** What a client is told. */
const refusal = async (action: Promise<unknown>): Promise<APIError> => (await rejection(action)) as unknown as APIError;
type WithReceipt = { receipt: Receipt };

describe("a gateway, through the official client", function () {
  this.timeout(300_000);
  let world: TicketPlayers;
  let kit: TextKit;
  let serving: Serving;
  let at: TicketSession;
  let gateway: RunningGateway;
  let keys: string;
  let key: string;
  let openai: OpenAI;
  /** Answers that the worker gave. */
  const answers = () => [...serving.ledger.counts().values()].reduce((a, b) => a + b, 0);

  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
    kit = await textKit(world.folder);
    const worker = await world.workerKey();
    serving = await world.serve(worker, kit.model.program, kit.execute);
    at = await world.payer(serving.at.account.address, parseEther("20"));
    keys = world.path();
    key = addKey(keys, { name: "tests" });
    gateway = await startGateway(world, kit, at, [serving.url], { keys });
    openai = new OpenAI({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });
  });
  after(async () => {
    await gateway?.close();
    await serving?.stop();
    await kit?.executors.close();
    await world.close();
  });

  const ask = { model: "words", messages: [...MESSAGES], seed: 5, max_tokens: 20 };

  it("models_areListed_andFoundByName", async () => {
    const names: string[] = [];
    for await (const { id } of openai.models.list()) names.push(id);
    expect(names).to.deep.equal(["words"]);
    expect((await openai.models.retrieve("words")).id).to.equal("words");
    expect(await refusal(openai.models.retrieve("other"))).to.be.instanceOf(NotFoundError);
  });

  it("chat_isTheSameStreamedAndWhole_withUsageAndReceipt", async () => {
    const whole = await openai.chat.completions.create(ask);
    const { receipt } = whole as unknown as WithReceipt;
    const { content } = whole.choices[0]!.message;
    expect(receipt.usage).to.deep.include({ completion: whole.usage!.completion_tokens });
    expect(whole.usage!.total_tokens).to.equal(whole.usage!.prompt_tokens + whole.usage!.completion_tokens);
    expect(whole.choices[0]!.finish_reason).to.be.oneOf(["length", "stop"]);
    const stream = await openai.chat.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    const chunks = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).to.equal(content);
    expect(chunks.at(-1)!.usage).to.deep.equal(whole.usage);
    expect(chunks.at(-2)).to.have.property("receipt").that.deep.includes({ model: "words" });
    expect(chunks[0]!.choices[0]!.delta).to.include({ role: "assistant" });
    // By id, for this key alone.
    const again = await fetch(`${gateway.url}/receipts/${whole.id}`, { headers: { authorization: `Bearer ${key}` } });
    expect(await again.json()).to.deep.equal(receipt);
    const other = addKey(keys, { name: "other" });
    const foreign = await fetch(`${gateway.url}/receipts/${whole.id}`, {
      headers: { authorization: `Bearer ${other}` },
    });
    expect(foreign.status).to.equal(404);
  });

  it("completions_takeTextsAndTokens_andStopsCut", async () => {
    const plain = { model: "words", prompt: "A decoder is", max_tokens: 24, seed: 3 };
    const { text } = (await openai.completions.create(plain)).choices[0]!;
    const tokens = kit.model.tokenizer.encode(plain.prompt);
    expect((await openai.completions.create({ ...plain, prompt: tokens })).choices[0]!.text).to.equal(text);
    const stop = text.slice(5, 8);
    for (const stream of [false, true]) {
      const asked = { ...plain, stop: ["never there", stop] };
      let [cut, finish] = ["", ""];
      if (stream)
        for await (const { choices } of await openai.completions.create({ ...asked, stream })) {
          cut += choices[0]?.text ?? "";
          finish = choices[0]?.finish_reason ?? finish;
        }
      else [cut, finish] = [(await openai.completions.create(asked)).choices[0]!.text, "stop"];
      expect(cut).to.equal(text.slice(0, text.indexOf(stop)));
      expect(finish).to.equal("stop");
    }
  });

  it("temperatureZero_isGreedy_andNone_isOne", async () => {
    const text = async (more: object) =>
      (await openai.chat.completions.create({ ...ask, ...more })).choices[0]!.message.content;
    expect(await text({ temperature: 0, seed: 1 })).to.equal(await text({ temperature: 0, seed: 2 }));
    expect(await text({})).to.equal(await text({ temperature: 1, top_p: 1 }));
    const { receipt } = (await openai.chat.completions.create({ ...ask, seed: null })) as unknown as WithReceipt;
    expect(BigInt(receipt.text.seed) < 2n ** 63n && receipt.text.seed !== "5").to.equal(true);
    expect(receipt.text.temperature).to.equal("0x3f800000");
  });

  it("neutralValues_areTaken_andOthersRefusedByName", async () => {
    const neutral = {
      ...{ n: 1, logprobs: false, tools: [], stop: null, presence_penalty: 0, frequency_penalty: 0, logit_bias: {} },
      ...{ response_format: { type: "text" as const }, user: "u", store: false, metadata: { a: "b" } },
      ...{ parallel_tool_calls: true, top_logprobs: null, service_tier: "auto" as const, max_completion_tokens: 2 },
    };
    await openai.chat.completions.create({ ...ask, ...neutral });
    for (const [field, value] of Object.entries({
      ...{ n: 2, logprobs: true, presence_penalty: 1, response_format: { type: "json_object" }, temperature: 3 },
      ...{ tools: [{ type: "function", function: { name: "f" } }], made_up: 1, stop: ["a", "b", "c", "d", "e"] },
      ...{ top_p: -1, seed: 0.5, max_tokens: 0, store: true, logit_bias: { 5: 1 } },
    })) {
      const error = await refusal(openai.chat.completions.create({ ...ask, [field]: value }));
      expect(error, field).to.be.instanceOf(BadRequestError);
      expect(error.param, field).to.equal(field);
    }
    for (const messages of [
      [],
      [{ role: "tool", content: "x", tool_call_id: "1" }],
      [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://x.example" } }] }],
    ]) {
      const error = await refusal(openai.chat.completions.create({ ...ask, messages } as typeof ask));
      expect(error.param).to.match(/^messages/);
    }
    const long = await refusal(openai.completions.create({ model: "words", prompt: "A claim ".repeat(400) }));
    expect(long.code).to.equal("context_length_exceeded");
  });

  it("textsThatCannotFit_areRefused_beforeTheyAreRenderedOrTokenised", async () => {
    const { tokenizer, render } = kit.model;
    const { longest } = tokenizer;
    const most = kit.model.limits.slots * longest;
    const refuse = (): never => {
      throw new Error("looked at");
    };
    const model = { ...kit.model, tokenizer: { ...tokenizer, encode: refuse }, render: refuse };
    const clock = () => "";
    const asked = (kind: "chat" | "completion", more: object) =>
      readTextRequest(kind, { model: "words", ...more }).request;
    const long = "\u20ac".repeat(most / 3 + 1);
    for (const request of [
      asked("completion", { prompt: long }),
      asked("chat", { messages: [{ role: "user", content: long }] }),
      asked("chat", { messages: new Array(kit.model.limits.slots + 1).fill({ role: "user", content: "" }) }),
    ])
      expect(() => promptOf(model, request, clock))
        .to.throw(ApiError)
        .that.includes({
          status: 400,
          reason: "context_length_exceeded",
          param: request.kind === "chat" ? "messages" : "prompt",
        });
    // What may fit is looked at, and what a template makes of few bytes is looked at again.
    const fits = asked("completion", { prompt: long.slice(1) });
    expect(() => promptOf(model, fits, clock)).to.throw(ApiError, "cannot be turned into tokens");
    const wordy = { ...model, render: () => long };
    const short = asked("chat", { messages: [{ role: "user", content: "x" }] });
    expect(() => promptOf(wordy, short, clock)).to.throw(ApiError, "bytes of text");
    expect(render).not.to.equal(undefined);
    const told = await refusal(openai.completions.create({ model: "words", prompt: "x".repeat(500_000) }));
    expect(told).to.be.instanceOf(BadRequestError);
    expect(told.error).to.deep.include({
      type: "invalid_request_error",
      param: "prompt",
      code: "context_length_exceeded",
    });
    expect(told.message).to.contain(`the model takes ${kit.model.limits.slots} tokens of at most ${longest} bytes`);
  });

  it("parts_areJoined_andTheAISDKSeesTheSame", async () => {
    const { content } = (await openai.chat.completions.create(ask)).choices[0]!.message;
    const parted = [
      {
        role: "user" as const,
        content: [
          { type: "text" as const, text: "A secret " },
          { type: "text" as const, text: "word" },
        ],
      },
    ];
    expect((await openai.chat.completions.create({ ...ask, messages: parted })).choices[0]!.message.content).to.equal(
      content,
    );
    const provider = createOpenAICompatible({ name: "refute", baseURL: gateway.url, apiKey: key });
    const model = provider.chatModel("words");
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "A secret word" }] }];
    const call = { prompt, seed: 5, maxOutputTokens: 20 };
    const generated = await model.doGenerate(call);
    expect(generated.content).to.deep.include({ type: "text", text: content });
    let text = "";
    const { stream } = await model.doStream(call);
    for await (const part of stream as unknown as AsyncIterable<{ type: string; delta?: string }>)
      if (part.type === "text-delta") text += part.delta;
    expect(text).to.equal(content);
  });

  it("wrongKeys_areRefused_andKeysAndPromptsAreInNoLog", async () => {
    for (const apiKey of ["sk-wrong", `${key}x`, "none"]) {
      const stranger = new OpenAI({ apiKey, baseURL: gateway.url, maxRetries: 0 });
      expect(await refusal(stranger.chat.completions.create(ask))).to.be.instanceOf(AuthenticationError);
    }
    expect(gateway.log()).to.contain("a text is written");
    for (const secret of [key, "secret word", "A decoder is", MESSAGES[0].content])
      expect(gateway.log()).not.to.contain(secret);
  });

  it("requestSentAgainUnderOneKey_isBoughtOnce_alsoAtTheSameTime_andAfterAnAbort", async () => {
    const headers = { "Idempotency-Key": "one" };
    const unseeded = { ...ask, seed: null };
    const before = answers();
    const [first, second] = await Promise.all([1, 2].map(() => openai.chat.completions.create(unseeded, { headers })));
    expect(answers()).to.equal(before + 2);
    expect([second!.id, second!.choices[0]!.message.content]).to.deep.equal([
      first!.id,
      first!.choices[0]!.message.content,
    ]);
    const streamed = await openai.chat.completions.create({ ...unseeded, stream: true }, { headers });
    let text = "";
    for await (const { choices } of streamed) text += choices[0]?.delta.content ?? "";
    expect(text).to.equal(first!.choices[0]!.message.content);
    expect(answers()).to.equal(before + 2);
    const other = await refusal(openai.chat.completions.create({ ...unseeded, max_tokens: 3 }, { headers }));
    expect(other.status).to.equal(422);
    // A client that leaves wastes one block at most; the same request goes on from there.
    const left = await openai.chat.completions.create(
      { ...unseeded, max_tokens: 48, stream: true },
      { headers: { "Idempotency-Key": "two" } },
    );
    await left[Symbol.asyncIterator]().next();
    left.controller.abort();
    const retried = { headers: { "Idempotency-Key": "two" } };
    await openai.chat.completions.create({ ...unseeded, max_tokens: 48 }, retried);
    expect(answers()).to.be.at.most(before + 5);
    await gateway.sellers.settled();
    expect(gateway.payer.unsent(serving.at.account.address)).to.deep.equal([]);
  });

  it("retryOfAClientWithoutAKey_goesOnWithWhatItLeft_alsoAfterAStart_andOthersBeginAnew", async () => {
    const path = world.path();
    const unseeded = { ...ask, seed: null, max_tokens: 48 };
    let one = await startGateway(world, kit, at, [serving.url], { path });
    const client = () => new OpenAI({ apiKey: "any", baseURL: one.url, maxRetries: 0 });
    const before = answers();
    const left = await client().chat.completions.create({ ...unseeded, stream: true });
    let text = "";
    for await (const { choices } of left) if ((text += choices[0]?.delta.content ?? "") !== "") break;
    // A retry comes while the block under way is still bought.
    const again = { headers: { "X-Stainless-Retry-Count": "1" } };
    const whole = await client().chat.completions.create(unseeded, again);
    expect(whole.choices[0]!.message.content!.startsWith(text)).to.equal(true);
    const blocks = (whole as unknown as { receipt: Receipt }).receipt.blocks.length;
    expect(answers() - before).to.equal(blocks);
    expect(one.ledger.money("local").spent).to.equal(BigInt(blocks) * FACE);
    // What a client has whole, and what another one asks for, is bought anew.
    const other = await client().chat.completions.create(unseeded, again);
    expect(other.id).not.to.equal(whole.id);
    const cut = await client().chat.completions.create({ ...unseeded, stream: true });
    for await (const { choices } of cut) if ((choices[0]?.delta.content ?? "") !== "") break;
    await one.close();
    one = await startGateway(world, kit, at, [serving.url], { path });
    const [fresh, resumed] = [{}, again].map((options) => client().chat.completions.create(unseeded, options));
    expect((await fresh)!.id).not.to.equal((await resumed)!.id);
    await one.close();
  });

  it("budgets_areNotOverspent_howeverManyAskAtOnce_andRatesHold", async () => {
    // Of three blocks; a text takes two.
    const budget = "0.035";
    const poor = addKey(keys, { name: "poor", budget });
    const client = new OpenAI({ apiKey: poor, baseURL: gateway.url, maxRetries: 0 });
    const asked = await Promise.allSettled(Array.from({ length: 5 }, () => client.chat.completions.create(ask)));
    const failed = asked.flatMap((one) => (one.status === "rejected" ? [one.reason as APIError] : []));
    expect(failed.length).to.be.at.least(4);
    for (const error of failed) expect([error.status, error.code]).to.deep.equal([429, "insufficient_quota"]);
    const { createHash } = await import("node:crypto");
    const { spent, reserved } = gateway.ledger.money(createHash("sha256").update(poor).digest("hex"));
    expect(spent <= parseEther(budget) && spent % FACE === 0n).to.equal(true);
    expect(reserved).to.equal(0n);
    const slow = addKey(keys, { name: "slow", perMinute: 1 });
    const limited = new OpenAI({ apiKey: slow, baseURL: gateway.url, maxRetries: 0 });
    const short = { ...ask, max_tokens: 1 };
    await limited.chat.completions.create(short);
    expect((await refusal(limited.chat.completions.create(short))).code).to.equal("rate_limit_exceeded");
  });

  it("twoHundredRequestsAtOnce_areAllAnswered", async () => {
    const requests = Array.from({ length: 200 }, (_, seed) =>
      openai.completions.create({ model: "words", prompt: "A", max_tokens: 1, seed }),
    );
    const all = await Promise.all(requests);
    expect(new Set(all.map(({ id }) => id)).size).to.equal(200);
    await gateway.sellers.settled();
    expect(gateway.payer.unsent(serving.at.account.address)).to.deep.equal([]);
  });

  it("largeBodies_areRefused_andHalfRequestsAndSlowReadersStopNobody", async () => {
    const large = await fetch(`${gateway.url}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...ask, user: "x".repeat(100_000_000) }),
    });
    expect([large.status, ((await large.json()) as { error: { code: string } }).error.code]).to.deep.equal([
      413,
      "body_too_large",
    ]);
    const { port } = new URL(gateway.url);
    const open = async (text: string): Promise<Socket> => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      await new Promise<void>((sent) => socket.write(text, () => sent()));
      return socket;
    };
    const head =
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
      "content-type: application/json\r\n";
    const body = JSON.stringify({ ...ask, stream: true });
    const halves = await Promise.all([
      open("POST /v1/chat"),
      open(`${head}content-length: 500\r\n\r\n{"model"`),
      open(`${head}transfer-encoding: chunked\r\n\r\n5\r\n{"mod`),
      // Reads nothing of its answer.
      open(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    ]);
    halves.at(-1)!.pause();
    await openai.chat.completions.create({ ...ask, max_tokens: 2 });
    for (const socket of halves) socket.destroy();
    const noJson = await fetch(`${gateway.url}/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: "{",
    });
    expect(noJson.status).to.equal(400);
  });

  it("bodiesOfAHundredMegabytes_andManyLargeOnes_takeNoRoomForLong", async () => {
    const open = await startGateway(world, kit, at, [serving.url], { maxBodyBytes: 100_000 });
    const { port } = new URL(open.url);
    const piece = Buffer.alloc(2 ** 20, "x");
    /** Sends a body in pieces, as fast as it is taken. */
    const statusOf = (pieces: number, headers: Record<string, string> = {}): Promise<number | undefined> =>
      new Promise((resolve, fail) => {
        const json = { "content-type": "application/json", ...headers };
        const options = { host: "127.0.0.1", port, path: "/v1/completions", method: "POST", headers: json };
        const sent = request(options, (answer) => answer.resume().once("end", () => resolve(answer.statusCode)));
        sent.once("error", fail);
        const send = (left: number): void => void (left === 0 ? sent.end() : sent.write(piece, () => send(left - 1)));
        send(pieces);
      });
    expect(await statusOf(100)).to.equal(413);
    expect(await statusOf(30, { "content-length": String(30 * piece.length) })).to.equal(413);
    const body = JSON.stringify({ model: "words", prompt: "x".repeat(90_000) });
    const post = async () =>
      (
        await fetch(`${open.url}/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        })
      ).status;
    const many = await Promise.all(Array.from({ length: 20 }, post));
    // Each is read as a whole, and refused as too long a text, or finds no room.
    for (const status of many) expect([400, 503]).to.include(status);
    expect(await post()).to.equal(400);
    await open.close();
  });

  it("clientsThatLeaveAtAnyTime_loseNothing_andHoldNothing", async () => {
    const open = await startGateway(world, kit, at, [serving.url], { keys });
    const leaver = addKey(keys, { name: "leaver", budget: "5" });
    const client = new OpenAI({ apiKey: leaver, baseURL: open.url, maxRetries: 0 });
    const leaving = Array.from({ length: 12 }, async (_, k) => {
      const left = new AbortController();
      const asked = { ...ask, seed: k, max_tokens: 17 };
      try {
        if (k % 3 === 0) {
          const whole = client.chat.completions.create(asked, { signal: left.signal });
          setImmediate(() => left.abort());
          await whole;
        } else {
          let chunks = k % 5;
          for await (const chunk of await client.chat.completions.create({ ...asked, stream: true }, left))
            if (chunk && chunks-- === 0) left.abort();
        }
      } catch (error) {
        expect(error).to.be.instanceOf(APIUserAbortError);
      }
    });
    await Promise.all(leaving);
    const { createHash } = await import("node:crypto");
    const owner = createHash("sha256").update(leaver).digest("hex");
    // The block under way is bought to its end.
    while (open.ledger.money(owner).reserved > 0n) await new Promise((resolve) => setTimeout(resolve, 20));
    await open.sellers.settled();
    expect(open.payer.unsent(serving.at.account.address)).to.deep.equal([]);
    expect(open.ledger.money(owner).spent % FACE).to.equal(0n);
    await open.close();
  });

  it("endedGateway_goesOnWithARequest_whereItWas", async () => {
    const path = world.path();
    const headers = { "Idempotency-Key": "three" };
    const one = await startGateway(world, kit, at, [serving.url], { path });
    const asked = { ...ask, max_tokens: 48 };
    const client = (url: string) => new OpenAI({ apiKey: "any", baseURL: url, maxRetries: 0 });
    const stream = await client(one.url).chat.completions.create({ ...asked, stream: true }, { headers });
    const reading = (async () => {
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    })();
    await reading;
    await one.close();
    const before = answers();
    const two = await startGateway(world, kit, at, [serving.url], { path });
    const whole = await client(two.url).chat.completions.create(asked, { headers });
    expect(answers() - before).to.be.below(3);
    const direct = await openai.chat.completions.create(asked);
    expect(whole.choices[0]!.message.content).to.equal(direct.choices[0]!.message.content);
    await two.close();
  });

  it("withoutKeys_webPagesAreRefused_andPathsThatAreNoneAreNotFound", async () => {
    const open = await startGateway(world, kit, at, [serving.url]);
    const { port } = new URL(open.url);
    const statusOf = (path: string, headers: Record<string, string>, body?: string): Promise<number | undefined> =>
      new Promise((resolve, fail) => {
        const method = body === undefined ? "GET" : "POST";
        const sent = request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
          answer.resume().once("end", () => resolve(answer.statusCode));
        });
        sent.once("error", fail).end(body);
      });
    const json = { "content-type": "application/json" };
    const body = JSON.stringify({ ...ask, max_tokens: 1 });
    const chat = "/v1/chat/completions";
    expect(await statusOf(chat, { ...json, origin: "http://page.example" }, body)).to.equal(403);
    expect(await statusOf(chat, { ...json, origin: "null" }, body)).to.equal(403);
    expect(await statusOf("/v1/models", { host: `page.example:${port}` })).to.equal(403);
    expect(await statusOf("/v1/models", { host: "127.0.0.1.page.example" })).to.equal(403);
    for (const type of [{}, { "content-type": "text/plain" }, { "content-type": "text/plain;application/json" }])
      expect(await statusOf(chat, type as Record<string, string>, body)).to.equal(415);
    for (const path of ["//", "/v1/models/%", "/v1/models/%ff"]) expect(await statusOf(path, {}), path).to.equal(404);
    const answered = await fetch(`${open.url}/models`, { headers: { origin: "http://page.example" } });
    expect([answered.status, answered.headers.get("access-control-allow-origin")]).to.deep.equal([403, null]);
    expect(await statusOf("/v1/models", { host: `LOCALHOST:${port}` })).to.equal(200);
    expect(await statusOf(chat, json, body)).to.equal(200);
    await open.close();
  });

  it("withKeys_webPagesOfAnyOriginMayAsk_andTheKeyDecides", async () => {
    const origin = "http://page.example";
    const names = "authorization,content-type,x-stainless-lang";
    const asked = { origin, "access-control-request-method": "POST", "access-control-request-headers": names };
    const preflight = await fetch(`${gateway.url}/chat/completions`, { method: "OPTIONS", headers: asked });
    expect(preflight.status).to.equal(204);
    const allowed = (name: string): string | null => preflight.headers.get(`access-control-allow-${name}`);
    expect([allowed("origin"), allowed("headers"), allowed("credentials")]).to.deep.equal([
      "*",
      "authorization, *",
      null,
    ]);
    for (const [authorization, status] of [
      [`Bearer ${key}`, 200],
      ["Bearer sk-refute-other", 401],
    ] as const) {
      const models = await fetch(`${gateway.url}/models`, { headers: { origin, authorization } });
      expect([models.status, models.headers.get("access-control-allow-origin")]).to.deep.equal([status, "*"]);
    }
    const { data } = await openai.models.list();
    expect(data[0]).to.deep.include({ id: "words", slots: kit.model.limits.slots });
    // Whoever is no page gets no word about pages.
    const plain = await fetch(`${gateway.url}/models`, {
      method: "OPTIONS",
      headers: { authorization: `Bearer ${key}` },
    });
    expect([plain.status, plain.headers.get("access-control-allow-origin")]).to.deep.equal([404, null]);
  });

  it("stops_whileABodyArrivesNeverAsAWhole", async () => {
    const open = await startGateway(world, kit, at, [serving.url]);
    const { port } = new URL(open.url);
    const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
    const ended = new Promise((resolve) => socket.once("close", resolve));
    const head = "POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    socket.write(`${head}expect: 100-continue\r\ncontent-length: 500\r\n\r\n`);
    // The gateway reads the body by then.
    await new Promise((resolve) => socket.once("data", resolve));
    await open.close();
    await ended;
  });

  it("finishedText_isGivenAgain_whenTheBudgetIsNearlyUsed", async () => {
    const poor = addKey(keys, { name: "nearly", budget: "0.02" });
    const client = new OpenAI({ apiKey: poor, baseURL: gateway.url, maxRetries: 0 });
    const text = await client.chat.completions.create(ask);
    // Cut after its first block: the rest is never needed.
    const stop = text.choices[0]!.message.content!.slice(1, 3);
    const other = addKey(keys, { name: "cut", budget: "0.02" });
    const cutter = new OpenAI({ apiKey: other, baseURL: gateway.url, maxRetries: 0 });
    const headers = { "Idempotency-Key": "cut" };
    const first = await cutter.chat.completions.create({ ...ask, stop }, { headers });
    await cutter.chat.completions.create({ ...ask, max_tokens: 1 });
    expect((await cutter.chat.completions.create({ ...ask, stop }, { headers })).id).to.equal(first.id);
  });

  it("noWorker_isSaid_inTheFormOfThatInterface", async () => {
    const lone = await startGateway(world, kit, at, ["http://127.0.0.1:9"], { patienceMs: 1 });
    const client = new OpenAI({ apiKey: "any", baseURL: lone.url, maxRetries: 0 });
    const error = await refusal(client.chat.completions.create(ask));
    expect([error.status, error.code]).to.deep.equal([503, "no_worker"]);
    await lone.close();
  });
});
