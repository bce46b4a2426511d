import { Hono, type Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createAdaptorServer } from "@hono/node-server";
import type { AddressInfo } from "node:net";
import type { Server } from "node:http";
import type { z } from "zod/v4";
import { printable } from "../../base/text.ts";
import type { AnswerService } from "./answerService.ts";
import { RefusedError } from "./errors.ts";
import { openApi } from "./openApi.ts";
import { paymentSchema, questionSchema } from "./messageSchemas.ts";

/** How long a request may take to arrive, milliseconds. */
const REQUEST_MS = 30_000;
/** Lifetime of an unused connection, milliseconds: a returning payer never meets a connection that just closes. */
const IDLE_MS = 65_000;
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
        return refused(c, new RefusedError(413, `a body has at most ${maxSize} bytes`));
      },
    });
  app.get("/v1/info", (c) => c.json(service.info));
  app.get("/openapi.json", (c) => c.json(openApi));
  app.post("/v1/answers", limited(service.info.maxBodyBytes), async (c) =>
    c.json(await service.answer(await bodyOf(c, questionSchema))),
  );
  app.post("/v1/tickets", limited(MAX_PAYMENT_BYTES), async (c) => {
    await service.pay(await bodyOf(c, paymentSchema));
    return c.json({ taken: true });
  });
  app.notFound((c) => refused(c, new RefusedError(404, "no such path: see /openapi.json")));
  app.onError((error, c) => {
    if (error instanceof RefusedError) return refused(c, error);
    onError(error);
    return c.json({ code: "INTERNAL", message: "the worker failed: its log says why" }, 500);
  });
  return app;
}

/** A running endpoint. */
export type Endpoint = { port: number; close: () => Promise<void> };

/** Serves an endpoint. @param port 0 for any free one */
export async function listen(app: Hono, port: number, host = "127.0.0.1"): Promise<Endpoint> {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = IDLE_MS;
  let underWay = 0;
  server.on("request", (_request, response) => {
    underWay++;
    response.once("close", () => underWay--);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
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

/** Reads on for a while: whoever still sends would not see the answer. */
async function drain(c: Context, max: number): Promise<void> {
  const { body } = c.req.raw;
  if (body === null || body.locked) return;
  let read = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) if ((read += chunk.length) > max) return;
}

async function bodyOf<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  let json: unknown;
  try {
    json = await c.req.json();
  } catch (cause) {
    throw new RefusedError(400, "the body is no JSON", { cause });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new RefusedError(400, `${path.join(".") || "the body"}: ${message}`);
}

function refused(c: Context, { status, code, message }: RefusedError): Response {
  if (status === 429 || status === 503) c.header("Retry-After", "1");
  return c.json({ code, message: printable(message) }, status);
}
