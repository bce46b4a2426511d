import { Hono, type Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createAdaptorServer } from "@hono/node-server";
import type { Server } from "node:http";
import type { z } from "zod/v4";
import { listenAt } from "../../base/httpServer.ts";
import { printable } from "../../base/text.ts";
import type { AnswerService } from "./answerService.ts";
import { RefusedError } from "./errors.ts";
import { openApi } from "./openApi.ts";
import { headSchema, paymentSchema, questionSchema } from "./messageSchemas.ts";
import { streamTokens, TOKEN_STREAM } from "./tokenStream.ts";

/** How long a request may take to arrive, milliseconds. */
const REQUEST_MS = 30_000;
/** How often connections are looked at that take longer. */
const LOOK_MS = 5_000;
/** Bytes of all questions that arrive or are read at the same time, in largest bodies: strangers may send them. */
const BODIES_AT_ONCE = 4;
/** Lifetime of an unused connection, milliseconds: a returning payer never meets a connection that just closes. */
const IDLE_MS = 65_000;
/** A question without its inputs has some 700 bytes. */
const MAX_HEAD_BYTES = 65_536;
const INPUTS = /,\s*"inputs"\s*:/;
/** A ticket has a few hundred bytes. */
const MAX_PAYMENT_BYTES = 4_096;

/** A worker's endpoint over HTTP (docs/tickets.md): its interface describes itself at `/openapi.json`. */
export function endpointOf(service: AnswerService, onError: (error: unknown) => void = () => undefined): Hono {
  const app = new Hono();
  const limited = (maxSize: number) =>
    bodyLimit({
      maxSize,
      onError: async (c) => {
        await drain(c, 2 * maxSize);
        return refused(c, tooLarge(maxSize));
      },
    });
  const failureOf = (error: unknown): { code: string; message: string } => {
    if (error instanceof RefusedError) return bodyOfRefusal(error);
    onError(error);
    return { code: "INTERNAL", message: "the worker failed: its log says why" };
  };
  app.get("/v1/info", (c) => c.json(service.info));
  app.get("/openapi.json", (c) => c.json(openApi));
  const { maxBodyBytes } = service.info;
  let free = BODIES_AT_ONCE * maxBodyBytes;
  // Without `limited`, which would read a whole body of unknown length before the head is checked.
  app.post("/v1/answers", async (c) => {
    // Received bytes count, not declared bytes: who sends slowly takes no room from others.
    let taken = 0;
    const take = (bytes: number): void => {
      if (bytes > free) throw new RefusedError(503, "too many large questions arrive at once: ask again later");
      [free, taken] = [free - bytes, taken + bytes];
    };
    const release = (): void => void ([free, taken] = [free + taken, 0]);
    const check = (head: string): void => service.checkHead(parsed(head, headSchema));
    const question = await headFirst(c, maxBodyBytes, { check, take, release })
      .then((text) => parsed(text, questionSchema))
      .finally(release);
    if (c.req.header("accept") !== TOKEN_STREAM) return c.json(await service.answer(question));
    return streamTokens((onToken) => service.answer(question, onToken), failureOf);
  });
  app.post("/v1/tickets", limited(MAX_PAYMENT_BYTES), async (c) => {
    await service.pay(await bodyOf(c, paymentSchema));
    return c.json({ taken: true });
  });
  app.notFound((c) => refused(c, new RefusedError(404, "no such path: see /openapi.json")));
  app.onError((error, c) => (error instanceof RefusedError ? refused(c, error) : c.json(failureOf(error), 500)));
  return app;
}

/** A running endpoint. */
export type Endpoint = { port: number; close: () => Promise<void> };

/** Serves an endpoint. @param port 0 for any free one. @throws PortError */
export async function listen(app: Hono, port: number, host = "127.0.0.1"): Promise<Endpoint> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { connectionsCheckingInterval: LOOK_MS },
  }) as Server;
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = IDLE_MS;
  let underWay = 0;
  server.on("request", (_request, response) => {
    underWay++;
    response.once("close", () => underWay--);
  });
  const taken = await listenAt(server, port, host, "--port");
  return {
    port: taken,
    close: () =>
      new Promise((resolve) => {
        // Connections without a request, including connections that never sent any, must not delay the stop.
        const closeUnused = (): void => (underWay === 0 ? server.closeAllConnections() : server.closeIdleConnections());
        const closing = setInterval(closeUnused, 50);
        server.close(() => {
          clearInterval(closing);
          resolve();
        });
        closeUnused();
      }),
  };
}

const tooLarge = (max: number): RefusedError => new RefusedError(413, `a body has at most ${max} bytes`);

/** Reads on for a while: whoever still sends would not see the answer. */
async function drain(c: Context, max: number): Promise<void> {
  const { body } = c.req.raw;
  if (body === null || body.locked) return;
  let read = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) if ((read += chunk.length) > max) return;
}

/**
 * Reads a question. A longer one has its inputs last: what comes before them is checked before they are read, because
 * anybody may send anything. A refused body is read on, and not kept: whoever still sends would not see the answer.
 * @param max The largest body, bytes.
 * @param room `take` reserves bytes that arrived, from a checked head on. `release` gives them back at a refusal.
 * @throws What `check` and `take` throw; RefusedError
 */
async function headFirst(
  c: Context,
  max: number,
  room: { check: (head: string) => void; take: (bytes: number) => void; release: () => void },
): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let isChecked = false;
  let [read, untaken] = [0, 0];
  let refusal: Error | undefined = Number(c.req.header("content-length") ?? 0) > max ? tooLarge(max) : undefined;
  for await (const chunk of (c.req.raw.body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    if ((read += chunk.length) > 2 * max) break;
    if (refusal !== undefined) continue;
    parts.push(decoder.decode(chunk, { stream: true }));
    untaken += chunk.length;
    try {
      if (read > max) throw tooLarge(max);
      if (!isChecked) {
        const text = parts.join("");
        const end = text.search(INPUTS);
        if (end >= 0) room.check(`${text.slice(0, end)}}`);
        else if (text.length > MAX_HEAD_BYTES) throw new RefusedError(400, "the inputs come last in a long question");
        isChecked = end >= 0;
      }
      if (!isChecked) continue;
      room.take(untaken);
      untaken = 0;
    } catch (error) {
      refusal = error as Error;
      parts.length = 0;
      room.release();
    }
  }
  if (refusal !== undefined || read > max) throw refusal ?? tooLarge(max);
  return parts.join("") + decoder.decode();
}

const bodyOf = async <Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> =>
  parsed(await c.req.text(), schema);

/** @throws RefusedError */
function parsed<Schema extends z.ZodType>(text: string, schema: Schema): z.infer<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new RefusedError(400, "the body is no JSON", { cause });
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new RefusedError(400, `${path.join(".") || "the body"}: ${message}`);
}

const bodyOfRefusal = ({ code, message }: RefusedError) => ({ code, message: printable(message) });

function refused(c: Context, error: RefusedError): Response {
  const { status } = error;
  if (status === 429 || status === 503) c.header("Retry-After", "1");
  return c.json(bodyOfRefusal(error), status);
}
