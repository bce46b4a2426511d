import { unfitRequest } from "./errors.ts";

/** A message of a chat, with its text in one piece. */
export type ChatMessage = { role: "system" | "user" | "assistant"; content: string; name?: string };

/** What a text is made from: everything of a request that decides bits of the text. */
export type TextRequest = {
  kind: "chat" | "completion";
  model: string;
  /** Of a chat. */
  messages: readonly ChatMessage[];
  /** Of a completion: a text, or tokens. */
  prompt: string | readonly number[];
  /** A float32; 0: always the most probable token. */
  temperature: number;
  /** A float32. */
  topP: number;
  seed: bigint | undefined;
  stops: readonly string[];
  maxTokens: number | undefined;
};

/** How the answer is given. */
type Delivery = { stream: boolean; includeUsage: boolean };

type Body = Readonly<Record<string, unknown>>;
type Neutral = (value: unknown) => boolean;

/** Temperatures below have no other effect than rounding: keys of logits are 2^-20 apart. */
const LEAST_TEMPERATURE = 2 ** -20;
const MOST_STOPS = 4;

const isObject = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const any: Neutral = () => true;
const among =
  (...values: readonly unknown[]): Neutral =>
  (value) =>
    values.includes(value);
const empty: Neutral = (value) => (Array.isArray(value) ? value.length === 0 : Object.keys(value ?? {}).length === 0);
const ofType =
  (...types: readonly string[]): Neutral =>
  (value) =>
    isObject(value) && types.includes(value.type as string) && Object.keys(value).length === 1;

/** Fields without an effect here, with their accepted values. `null` is taken for each. */
const NEUTRAL: Readonly<Record<string, Neutral>> = {
  n: among(1),
  tools: empty,
  tool_choice: among("none", "auto"),
  parallel_tool_calls: any,
  functions: empty,
  function_call: among("none", "auto"),
  logprobs: among(false),
  top_logprobs: among(0),
  presence_penalty: among(0),
  frequency_penalty: among(0),
  logit_bias: empty,
  response_format: ofType("text"),
  text: empty,
  user: any,
  safety_identifier: any,
  prompt_cache_key: any,
  prompt_cache_retention: any,
  metadata: any,
  store: among(false),
  service_tier: among("auto", "default"),
  modalities: (value) => Array.isArray(value) && value.length === 1 && value[0] === "text",
  reasoning_effort: among("none"),
  verbosity: among("medium"),
  audio: among(),
  prediction: among(),
  web_search_options: among(),
  best_of: among(1),
  echo: among(false),
  suffix: among(""),
};
const SHARED = ["model", "temperature", "top_p", "seed", "stop", "max_tokens", "stream", "stream_options"];
const OWN = { chat: ["messages", "max_completion_tokens"], completion: ["prompt"] };

/**
 * Reads the body of a request for a text.
 * @throws ApiError that names the field
 */
export function readTextRequest(
  kind: TextRequest["kind"],
  body: unknown,
): { request: TextRequest; delivery: Delivery } {
  if (!isObject(body)) throw unfitRequest("", "the body must be a JSON object");
  const given: Body = Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null && value !== undefined),
  );
  const known = [...SHARED, ...OWN[kind]];
  for (const [name, value] of Object.entries(given)) {
    if (known.includes(name)) continue;
    if (!Object.hasOwn(NEUTRAL, name))
      throw unfitRequest(name, `${name} is not taken: leave it out`, "unknown_parameter");
    if (!NEUTRAL[name]!(value))
      throw unfitRequest(
        name,
        `${name} has no effect here, so that only its neutral value is taken`,
        "unsupported_value",
      );
  }
  const { model, stream = false, stream_options: options } = given;
  if (typeof model !== "string" || model === "") throw unfitRequest("model", "model must be the name of a model");
  if (typeof stream !== "boolean") throw unfitRequest("stream", "stream must be true or false");
  return {
    request: {
      ...{ kind, model },
      messages: kind === "chat" ? messagesOf(given.messages) : [],
      prompt: kind === "chat" ? "" : promptOf(given.prompt),
      ...drawingOf(given),
      seed: seedOf(given.seed),
      stops: stopsOf(given.stop),
      maxTokens: maxTokensOf(given),
    },
    delivery: { stream, includeUsage: includesUsage(options, stream) },
  };
}

function includesUsage(options: unknown, isStream: boolean): boolean {
  if (options === undefined) return false;
  if (!isObject(options) || !isStream)
    throw unfitRequest("stream_options", "stream_options goes with stream: true, and is an object");
  const { include_usage: usage = false, include_obfuscation: obfuscation = false, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined) throw unfitRequest(`stream_options.${other}`, `stream_options.${other} is not taken`);
  if (typeof usage !== "boolean" || typeof obfuscation !== "boolean")
    throw unfitRequest("stream_options", "include_usage and include_obfuscation are true or false");
  return usage;
}

/** No temperature is 1; a number becomes the nearest float32. */
function drawingOf({ temperature = 1, top_p: topP = 1 }: Body): Pick<TextRequest, "temperature" | "topP"> {
  if (typeof temperature !== "number" || !(temperature >= 0 && temperature <= 2))
    throw unfitRequest("temperature", "temperature must be a number from 0 to 2");
  if (temperature > 0 && temperature < LEAST_TEMPERATURE)
    throw unfitRequest("temperature", "temperature is 0 (the most probable token) or at least 2^-20");
  if (typeof topP !== "number" || !(topP >= 0 && topP <= 1))
    throw unfitRequest("top_p", "top_p must be a number from 0 to 1");
  // Of no probability at all only the most probable token is left.
  const isGreedy = temperature === 0 || Math.fround(topP) === 0;
  return isGreedy ? { temperature: 0, topP: 1 } : { temperature: Math.fround(temperature), topP: Math.fround(topP) };
}

function seedOf(seed: unknown): bigint | undefined {
  if (seed === undefined) return undefined;
  if (typeof seed === "number" && Number.isSafeInteger(seed)) return BigInt(seed);
  throw unfitRequest("seed", "seed must be a whole number below 2^53");
}

function stopsOf(stop: unknown = []): string[] {
  const stops: unknown[] = Array.isArray(stop) ? stop : [stop];
  const isFit = (text: unknown): text is string => typeof text === "string" && text !== "";
  if (stops.length <= MOST_STOPS && stops.every(isFit)) return stops;
  throw unfitRequest("stop", `stop must be a text or up to ${MOST_STOPS} texts, none of them empty`);
}

function maxTokensOf(given: Body): number | undefined {
  const counts = ["max_completion_tokens", "max_tokens"].flatMap((name) => {
    const value = given[name];
    if (value === undefined) return [];
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1)
      throw unfitRequest(name, `${name} must be a whole number from 1 on`);
    return [value];
  });
  return counts.length === 0 ? undefined : Math.min(...counts);
}

function promptOf(prompt: unknown): string | number[] {
  if (typeof prompt === "string") return prompt;
  const lists: unknown[] = Array.isArray(prompt) ? prompt : [];
  // A list of one prompt is that prompt.
  const [one] = lists;
  if (lists.length === 1 && typeof one === "string") return one;
  const list: unknown[] = lists.length === 1 && Array.isArray(one) ? one : lists;
  if (list.length > 0 && list.every((token) => Number.isSafeInteger(token) && (token as number) >= 0))
    return list as number[];
  throw unfitRequest("prompt", "prompt must be one text, or the tokens of one");
}

function messagesOf(messages: unknown): ChatMessage[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw unfitRequest("messages", "messages must be a list with at least one message");
  return messages.map((message: unknown, k) => messageOf(message, `messages[${k}]`));
}

const ROLES: Readonly<Record<string, ChatMessage["role"]>> = {
  system: "system",
  // Templates of models know one role for who sets the frame.
  developer: "system",
  user: "user",
  assistant: "assistant",
};
/** Fields of messages without meaning here, for example fields copied from an earlier answer. */
const SILENT: Readonly<Record<string, Neutral>> = {
  tool_calls: empty,
  refusal: among(""),
  annotations: empty,
  audio: among(),
  function_call: among(),
  reasoning_content: among(""),
};

function messageOf(message: unknown, where: string): ChatMessage {
  if (!isObject(message)) throw unfitRequest(where, `${where} must be an object with role and content`);
  const { role: given, content, name, ...others } = message;
  for (const [field, value] of Object.entries(others))
    if (value !== null && value !== undefined && !(Object.hasOwn(SILENT, field) && SILENT[field]!(value)))
      throw unfitRequest(`${where}.${field}`, `${where}.${field} is not taken`);
  const role = typeof given === "string" && Object.hasOwn(ROLES, given) ? ROLES[given] : undefined;
  if (role === undefined)
    throw unfitRequest(`${where}.role`, `${where}.role must be one of ${Object.keys(ROLES).join(", ")}`);
  if (name !== undefined && name !== null && typeof name !== "string")
    throw unfitRequest(`${where}.name`, `${where}.name must be a text`);
  const text = contentOf(content, where, role === "assistant");
  return { role, content: text, ...(typeof name === "string" && { name }) };
}

function contentOf(content: unknown, where: string, mayLack: boolean): string {
  if (typeof content === "string") return content;
  if (mayLack && (content === null || content === undefined)) return "";
  if (!Array.isArray(content)) throw unfitRequest(`${where}.content`, `${where}.content must be a text`);
  return content
    .map((part: unknown, k) => {
      if (isObject(part) && part.type === "text" && typeof part.text === "string") return part.text;
      throw unfitRequest(
        `${where}.content[${k}]`,
        `${where}.content[${k}] must be a part of the type text, with a text`,
      );
    })
    .join("");
}
