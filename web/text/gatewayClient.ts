import { RefuteError } from "../../src/base/errors.ts";

/** A gateway, as its user names it. */
export type GatewayAt = { url: string; key: string };

/** A model on offer; a decoder has slots. */
export type OfferedModel = { id: string; slots: number | undefined };

/** What comes of a text. */
export type TextNews =
  /** @param isEager Whether the pieces come before they are signed. */
  { kind: "start"; isEager: boolean } | { kind: "piece"; text: string } | { kind: "receipt"; receipt: unknown };

/** Why a gateway gives no text: nobody is there, it answers no page, the key is wrong, it refuses, the text broke off. */
type Fault = "unreachable" | "closed" | "key" | "refused" | "broken";

/** A gateway gave no text. */
export class GatewayAnswerError extends RefuteError {
  readonly code = "GATEWAY_ANSWER";
  readonly fault: Fault;

  constructor(fault: Fault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** The most characters of one event: the last one has the receipt. */
const MOST = 2 ** 24;

/** Where the paths of the interface begin. @throws GatewayAnswerError */
export function baseOf(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new GatewayAnswerError("unreachable", "the gateway: give a URL that begins with http:// or https://");
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path === "" ? "/v1" : path);
}

/** The models that a gateway offers. @throws GatewayAnswerError */
export async function modelsOf(at: GatewayAt, signal?: AbortSignal): Promise<OfferedModel[]> {
  const response = await ask(at, "models", { ...(signal && { signal }) });
  const { data } = (await response.json().catch(() => ({}))) as { data?: unknown };
  if (!Array.isArray(data)) throw new GatewayAnswerError("refused", "what is there is no gateway of texts");
  return data.flatMap(({ id, slots }: { id?: unknown; slots?: unknown }) =>
    typeof id === "string" ? [{ id, slots: typeof slots === "number" ? slots : undefined }] : [],
  );
}

/**
 * Asks for a text, and gives it as it comes.
 * @param path `chat/completions` or `completions`.
 * @throws GatewayAnswerError; what the signal aborts with
 */
export async function* streamText(
  at: GatewayAt,
  path: string,
  body: object,
  signal: AbortSignal,
): AsyncGenerator<TextNews, void, undefined> {
  const response = await ask(at, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  yield { kind: "start", isEager: response.headers.get("refute-eager") === "true" };
  for await (const event of eventsOf(response, signal)) {
    if (event === "[DONE]") return;
    const { error, choices, receipt } = parsed(event);
    const text = choices?.[0]?.delta?.content ?? choices?.[0]?.text;
    if (typeof text === "string" && text !== "") yield { kind: "piece", text };
    if (receipt !== undefined) yield { kind: "receipt", receipt };
    if (error !== undefined) throw new GatewayAnswerError("broken", `the text broke off: ${String(error.message)}`);
  }
  throw new GatewayAnswerError("broken", "the text broke off: the gateway closed the connection before its end");
}

type Chunk = {
  error?: { message?: unknown };
  choices?: { delta?: { content?: unknown }; text?: unknown }[];
  receipt?: unknown;
};

function parsed(event: string): Chunk {
  try {
    return JSON.parse(event) as Chunk;
  } catch (cause) {
    throw new GatewayAnswerError("broken", "the gateway sends what is no text", { cause });
  }
}

/** The data of server-sent events, as this interface has them: one line each. */
async function* eventsOf({ body }: Response, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new GatewayAnswerError("broken", "the text broke off: the connection was lost", { cause });
      });
      if (done) return;
      const lines = (held + value).split(/\r?\n/);
      held = lines.pop()!;
      if (held.length > MOST) throw new GatewayAnswerError("broken", "the gateway sends what is no text");
      for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** @throws GatewayAnswerError */
async function ask({ url, key }: GatewayAt, path: string, init: RequestInit): Promise<Response> {
  const base = baseOf(url);
  let response: Response;
  try {
    const headers = { ...init.headers, authorization: `Bearer ${key.trim()}` };
    response = await fetch(`${base}/${path}`, { ...init, headers, credentials: "omit" });
  } catch (cause) {
    init.signal?.throwIfAborted();
    throw await unanswered(base, cause);
  }
  if (response.ok) return response;
  if (response.status === 401)
    throw new GatewayAnswerError("key", "the gateway does not know this key: ask who runs it for one");
  const { error } = (await response.json().catch(() => ({}))) as Chunk;
  const why = typeof error?.message === "string" ? error.message : "it does not say why";
  throw new GatewayAnswerError("refused", `the gateway refuses (status ${response.status}): ${why}`);
}

/** A browser does not say why there is no answer; whether somebody is there can be asked. */
async function unanswered(base: string, cause: unknown): Promise<GatewayAnswerError> {
  const { host } = new URL(base);
  try {
    await fetch(`${base}/models`, { mode: "no-cors", credentials: "omit" });
  } catch {
    return new GatewayAnswerError("unreachable", `nothing answers at ${host}: look at the URL, and start it`, {
      cause,
    });
  }
  return new GatewayAnswerError(
    "closed",
    `something answers at ${host}, but to no web page: a gateway must be started with --keys`,
    { cause },
  );
}
