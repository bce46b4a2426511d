import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { DatabaseAccessError } from "../../base/database/errors.ts";
import { listenAt } from "../../base/httpServer.ts";
import type { Logger } from "../../base/log.ts";
import { printable, stackLines } from "../../base/text.ts";
import type { ApiKey, ApiKeys } from "./apiKeys.ts";
import { readEmbeddingRequest, type EmbeddingReceipt, type EmbeddingRequest } from "./embeddings.ts";
import { ApiError, unfitRequest } from "./errors.ts";
import type { Gateway, Offer, TextPart } from "./gateway.ts";
import type { Receipt } from "./receiptForm.ts";
import { readTextRequest, type TextRequest } from "./requests.ts";

export type ServerOptions = {
  gateway: Gateway;
  keys: ApiKeys;
  log: Logger;
  maxBodyBytes: number;
  /** How long a client may take to read what was sent, milliseconds. */
  stallMs?: number;
};

/** A running server. */
type GatewayServer = { port: number; close: () => Promise<void> };

/** How long a request may take to arrive, milliseconds. */
const REQUEST_MS = 60_000;
const LOOK_MS = 5_000;
const IDLE_MS = 65_000;
const STALL_MS = 60_000;
/** Requests under way, and bytes of all bodies that are read at once, in largest bodies. */
const MAX_REQUESTS = 1_000;
const BODIES_AT_ONCE = 16;
/** Bytes of each body beside that room: small requests go on while large bodies arrive. */
const SMALL_BODY = 2 ** 16;
/** Bytes that are read and thrown away of a body that is too large: who still sends does not see an answer. */
const MOST_DRAINED = 2 ** 28;
const MAX_IDEMPOTENCY = 255;

/** Serves the interface that clients know. @param port 0 for any free one */
export async function serveGateway(options: ServerOptions, port: number, host = "127.0.0.1"): Promise<GatewayServer> {
  const handler = new Handler(options);
  const server: Server = createServer({ connectionsCheckingInterval: LOOK_MS }, (request, response) => {
    void handler.handle(request, response);
  });
  server.requestTimeout = REQUEST_MS;
  server.headersTimeout = REQUEST_MS;
  server.keepAliveTimeout = IDLE_MS;
  const taken = await listenAt(server, port, host, "--port");
  return {
    port: taken,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      await handler.stop();
      server.closeAllConnections();
      await closed;
    },
  };
}

class Handler {
  readonly #options: ServerOptions;
  readonly #underWay = new Map<Promise<void>, IncomingMessage>();
  readonly #stopped = new AbortController();
  #free: number;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#free = BODIES_AT_ONCE * options.maxBodyBytes;
  }

  /** Ends texts after the block that is bought, and requests that have not arrived as a whole. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    // A server that closes looks at the time of its requests no more.
    for (const request of this.#underWay.values()) if (!request.complete) request.destroy();
    await Promise.all(this.#underWay.keys());
  }

  handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const handled = this.#answer(request, response)
      .catch((error: unknown) => this.#refuse(request, response, error))
      .catch(() => void response.destroy());
    this.#underWay.set(handled, request);
    return handled.finally(() => this.#underWay.delete(handled));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { gateway, keys } = this.#options;
    if (this.#underWay.size > MAX_REQUESTS)
      throw new ApiError(503, "server_error", "too many requests are under way: ask again later");
    this.#stopped.signal.throwIfAborted();
    if (keys.areNeeded && request.headers.origin !== undefined) {
      // SAFETY: no browser adds a key by itself: a page of any origin asks with its user's key.
      for (const [name, value] of Object.entries(FOR_PAGES)) response.setHeader(name, value);
      if (request.method === "OPTIONS") return void response.writeHead(204, PREFLIGHT).end();
    }
    const key = keys.identify(request.headers);
    const [pathname] = (request.url ?? "/").split(/[?#]/);
    const route = `${request.method} ${pathname}`;
    if (route === "GET /v1/models")
      return json(response, { object: "list", data: gateway.models.map((id) => modelBody(id, gateway.offer(id))) });
    const [, what, name = ""] = /^GET \/v1\/(models|receipts)\/(.{1,300})$/.exec(route) ?? [];
    if (what === "models") {
      const id = decoded(name);
      return json(response, modelBody(id, gateway.offer(id)));
    }
    if (what === "receipts") return json(response, JSON.parse(gateway.receipt(key, name)));
    if (route === "POST /v1/chat/completions") return this.#text("chat", key, request, response);
    if (route === "POST /v1/completions") return this.#text("completion", key, request, response);
    if (route === "POST /v1/embeddings") return this.#embeddings(key, request, response);
    throw new ApiError(404, "invalid_request_error", `nothing is at ${printable(route, 200)}`, { reason: "not_found" });
  }

  async #text(
    kind: TextRequest["kind"],
    key: ApiKey,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { gateway } = this.#options;
    const { request: asked, delivery } = readTextRequest(kind, await this.#jsonOf(request));
    const about = { ...this.#about(key, request, response), key, request: asked, isStreamed: delivery.stream };
    const parts = gateway.text(about);
    const form = kind === "chat" ? CHAT : COMPLETION;
    if (delivery.stream) await this.#stream(form, parts, asked.model, delivery.includeUsage, response);
    else await whole(form, parts, asked.model, response);
  }

  async #embeddings(key: ApiKey, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = readEmbeddingRequest(await this.#jsonOf(request));
    const receipt = await this.#options.gateway.embed({
      ...this.#about(key, request, response),
      ...{ key, request: asked },
    });
    json(response, embeddingsBody(asked, receipt));
  }

  /** @throws ApiError */
  #jsonOf(request: IncomingMessage): Promise<unknown> {
    // SAFETY: web pages send other kinds of bodies without asking.
    if (!/^application\/json *(;|$)/i.test(request.headers["content-type"] ?? ""))
      throw new ApiError(415, "invalid_request_error", "the body must be JSON: send content-type: application/json");
    return this.#bodyOf(request);
  }

  /** Counts a request for its key. @returns the request's marks, and a signal for its end @throws ApiError */
  #about(key: ApiKey, request: IncomingMessage, response: ServerResponse) {
    const idempotency = request.headers["idempotency-key"];
    if (idempotency !== undefined && (typeof idempotency !== "string" || idempotency.length > MAX_IDEMPOTENCY))
      throw unfitRequest("Idempotency-Key", `Idempotency-Key has at most ${MAX_IDEMPOTENCY} characters`);
    this.#options.keys.count(key);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    // Clients of OpenAI mark repeated requests, mostly without a key of idempotency.
    const isRetry = /^[1-9]\d*$/.test(String(request.headers["x-stainless-retry-count"] ?? ""));
    return { idempotency, isRetry, signal: AbortSignal.any([gone.signal, this.#stopped.signal]) };
  }

  async #stream(
    form: Form,
    parts: AsyncIterable<TextPart>,
    model: string,
    includeUsage: boolean,
    response: ServerResponse,
  ): Promise<void> {
    let about = {};
    const send = (fields: object): Promise<void> =>
      this.#write(response, `data: ${JSON.stringify({ ...about, ...fields })}\n\n`);
    const noUsage = includeUsage ? { usage: null } : {};
    for await (const part of parts) {
      if (part.kind === "start") {
        about = { id: part.id, object: form.chunk, created: part.created, model };
        const eager = this.#options.gateway.isEager ? { "refute-eager": "true" } : {};
        response.writeHead(200, { ...HEADERS, ...eager, "content-type": "text/event-stream; charset=utf-8" });
        if (form.first !== undefined) await send({ choices: [form.first], ...noUsage });
      } else if (part.kind === "piece") await send({ choices: [form.delta(part.text)], ...noUsage });
      else if (part.kind === "unsigned") {
        await send({ choices: [form.last("error")], ...noUsage, ...unsigned(part.token).body });
        // Without [DONE]: the text has not ended.
        return void response.end();
      } else {
        const { receipt } = part;
        await send({ choices: [form.last(receipt.text.finish)], ...noUsage, receipt });
        if (includeUsage) await send({ choices: [], usage: usageOf(receipt) });
      }
    }
    await this.#write(response, "data: [DONE]\n\n");
    response.end();
  }

  /** Writes, and waits for a client that reads slowly: nothing is bought meanwhile. */
  async #write(response: ServerResponse, text: string): Promise<void> {
    if (response.destroyed || response.write(text)) return;
    await new Promise<void>((resolve) => {
      const stalled = setTimeout(() => response.destroy(), this.#options.stallMs ?? STALL_MS);
      const go = (): void => {
        clearTimeout(stalled);
        response.off("drain", go).off("close", go);
        resolve();
      };
      response.once("drain", go).once("close", go);
    });
  }

  /** @throws ApiError */
  async #bodyOf(request: IncomingMessage): Promise<unknown> {
    const { maxBodyBytes } = this.#options;
    const chunks: Buffer[] = [];
    let [read, taken] = [0, 0];
    // A body with too large a declared size is never kept.
    let refusal = Number(request.headers["content-length"] ?? 0) > maxBodyBytes ? tooLarge(maxBodyBytes) : undefined;
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        read += chunk.length;
        if (refusal !== undefined && read > MOST_DRAINED) break;
        if (read > maxBodyBytes) refusal ??= tooLarge(maxBodyBytes);
        const room = Math.max(0, read - SMALL_BODY) - taken;
        if (refusal === undefined && room > this.#free)
          refusal ??= new ApiError(503, "server_error", "too many large requests arrive at once: ask again later");
        if (refusal !== undefined) {
          chunks.length = 0;
          continue;
        }
        this.#free -= room;
        taken += room;
        chunks.push(chunk);
      }
      if (refusal !== undefined) throw refusal;
      return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      throw unfitRequest("", "the body is no JSON", null, cause);
    } finally {
      this.#free += taken;
    }
  }

  #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (response.destroyed) return;
    const told = toldError(error);
    if (told.status >= 500) {
      // SAFETY: a message may repeat what a client sent; where the error is from does not.
      const { name, code, stack } = error as Error & { code?: string };
      const where = stack === undefined ? [] : stackLines(error as Error).slice(0, 3);
      this.#options.log.error({ name, code, status: told.status, where }, "a request failed");
    }
    const body = JSON.stringify(told.body);
    if (response.headersSent) {
      // The stream ends without [DONE].
      response.end(`data: ${body}\n\n`);
      return;
    }
    const isLater = told.status === 429 || told.status === 503;
    const isUnread = !request.complete;
    response.writeHead(told.status, {
      ...HEADERS,
      "content-type": "application/json",
      ...(isLater && { "retry-after": "1" }),
      ...(isUnread && { connection: "close" }),
    });
    response.end(body);
  }
}

/** A name in a path; a name that is no text is nobody's. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const tooLarge = (max: number): ApiError =>
  new ApiError(413, "invalid_request_error", `a body has at most ${max} bytes`, { reason: "body_too_large" });

const unsigned = (token: number): ApiError =>
  new ApiError(
    502,
    "server_error",
    `no worker signed what was streamed from token ${token} on: do not rely on it, and ask again`,
    { reason: "unsigned_text" },
  );

function toldError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DatabaseAccessError)
    return new ApiError(503, "server_error", "the gateway cannot keep what it buys: ask again later");
  if ((error as Error).name === "AbortError")
    return new ApiError(503, "server_error", "the gateway stops: ask again later");
  return new ApiError(500, "server_error", "the gateway failed: its log says why");
}

/** What web pages may read and send; `*` does not name the key's header. */
const FOR_PAGES = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" };
const PREFLIGHT = { "access-control-allow-headers": "authorization, *", "access-control-max-age": "7200" };

const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { ...HEADERS, "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** A decoder's slots say what its receipts are checked with. */
const modelBody = (id: string, { model }: Offer) => ({
  ...{ id, object: "model", created: 0, owned_by: "refute" },
  ...("limits" in model && { slots: model.limits.slots }),
});

async function whole(
  form: Form,
  parts: AsyncIterable<TextPart>,
  model: string,
  response: ServerResponse,
): Promise<void> {
  let [text, id, created] = ["", "", 0];
  for await (const part of parts) {
    if (part.kind === "start") ({ id, created } = part);
    else if (part.kind === "piece") text += part.text;
    else if (part.kind === "end") {
      const { receipt } = part;
      const choices = [form.whole(text, receipt.text.finish)];
      json(response, { id, object: form.object, created, model, choices, usage: usageOf(receipt), receipt });
    }
  }
}

const usageOf = ({ usage: { prompt, completion } }: Receipt) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

function embeddingsBody({ model, encoding }: EmbeddingRequest, receipt: EmbeddingReceipt) {
  const data = receipt.blocks.map(({ vector }, index) => {
    const { buffer } = Uint8Array.from(Buffer.from(vector, "base64"));
    return { object: "embedding", index, embedding: encoding === "base64" ? vector : [...new Float32Array(buffer)] };
  });
  const { prompt } = receipt.usage;
  return { object: "list", data, model, usage: { prompt_tokens: prompt, total_tokens: prompt }, receipt };
}

/** How a kind of text is told. */
type Form = {
  object: string;
  chunk: string;
  first?: object;
  delta: (text: string) => object;
  last: (finish: string) => object;
  whole: (text: string, finish: string) => object;
};

const CHAT: Form = {
  object: "chat.completion",
  chunk: "chat.completion.chunk",
  first: { index: 0, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null },
  delta: (content) => ({ index: 0, delta: { content }, logprobs: null, finish_reason: null }),
  last: (finish) => ({ index: 0, delta: {}, logprobs: null, finish_reason: finish }),
  whole: (content, finish) => ({
    index: 0,
    message: { role: "assistant", content, refusal: null },
    logprobs: null,
    finish_reason: finish,
  }),
};
const COMPLETION: Form = {
  object: "text_completion",
  chunk: "text_completion",
  delta: (text) => ({ index: 0, text, logprobs: null, finish_reason: null }),
  last: (finish) => ({ index: 0, text: "", logprobs: null, finish_reason: finish }),
  whole: (text, finish) => ({ index: 0, text, logprobs: null, finish_reason: finish }),
};
