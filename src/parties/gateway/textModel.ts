import { createHash } from "node:crypto";
import { decoderInputs, decoderLimits, type DecoderLimits } from "../../compiler/wraps/decoderInputs.ts";
import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { Tokenizer } from "../../model/tokenizer/readTokenizer.ts";
import { withPackages } from "../../base/optionalPackage.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import { GatewayFileError, unfitRequest } from "./errors.ts";
import type { ChatMessage, TextRequest } from "./requests.ts";

/** The libraries that make tokens of requests. Other versions may make other tokens. */
export const LIBRARIES = { tokenizers: "0.2.0", jinja: "0.5.11" } as const;

/** SHA-256 of each file that decides a text, in hexadecimal digits. */
export type FileHashes = { model: string; tokenizer: string; config: string | null; template: string | null };

/** A decoder with all that is around it. */
export type TextModel = {
  /** As clients name it. */
  name: string;
  program: KnownProgram;
  tokenizer: Tokenizer;
  hashes: FileHashes;
  endTokens: readonly number[];
  limits: DecoderLimits;
  /** Makes a prompt of a chat; undefined for models without a template. */
  render: ((messages: readonly ChatMessage[], clock: Clock) => string) | undefined;
};

/** Returns the time by a format with the letters of `strftime`. */
type Clock = (format: string) => string;

/** A prompt: tokens, the text if the request had text, and the clock's values for the template, by format. */
export type Prompt = { text: string; tokens: readonly number[]; readings: Record<string, string> };

/** What decides a text's tokens beside the prompt. */
export type Drawing = { temperature: number; topP: number; seed: bigint };

/** What the files around a decoder hold. */
type TextContents = {
  tokenizer: Tokenizer;
  /** A `tokenizer_config.json`: special tokens, and the chat template unless it is given by itself. */
  config?: NamedText | undefined;
  /** The chat template, in Jinja. */
  template?: string | undefined;
  hashes: FileHashes;
  endTokens: readonly number[];
};

/** A text with its name for messages. */
type NamedText = { name: string; text: string };

/**
 * Makes a text model of a compiled decoder and the files around it.
 * @throws GatewayFileError, MissingPackageError, DecoderRequestError for a program that is no decoder
 */
export async function textModelOf(
  name: string,
  program: KnownProgram,
  { tokenizer, config: given, template, hashes, endTokens }: TextContents,
): Promise<TextModel> {
  const limits = decoderLimits(program.model);
  if (program.model.outputs.length > 1)
    throw new GatewayFileError(`${name} has its caches as outputs too: compile it without --chain ("chain")`);
  const config = given && configOf(given);
  const chat = template ?? config?.template;
  const render = chat === undefined ? undefined : await rendering(chat, config?.tokens ?? {}, name);
  return { name, program, tokenizer, hashes, endTokens, limits, render };
}

/**
 * Makes the prompt of a request.
 * @param clock The time that a template reads.
 * @throws ApiError for a prompt that does not fit
 */
export function promptOf(model: TextModel, request: TextRequest, clock: Clock): Prompt {
  const param = request.kind === "chat" ? "messages" : "prompt";
  const prompt = tokensOf(model, request, clock, param);
  const { slots, vocabulary = Infinity } = model.limits;
  if (prompt.tokens.length === 0) throw unfitRequest(param, `${param} gives no token`);
  if (prompt.tokens.length > slots)
    throw unfitRequest(
      param,
      `${param}: ${prompt.tokens.length} tokens, the model takes ${slots}`,
      "context_length_exceeded",
    );
  if (prompt.tokens.some((token) => token >= vocabulary))
    throw unfitRequest(param, `${param} has a token that the model does not know`);
  if (model.limits.isGreedy && request.temperature > 0)
    throw unfitRequest("temperature", "this model draws nothing: give temperature 0", "unsupported_value");
  return prompt;
}

function tokensOf(model: TextModel, request: TextRequest, clock: Clock, param: string): Prompt {
  const { prompt, messages } = request;
  const readings: Record<string, string> = {};
  if (typeof prompt !== "string") return { text: "", tokens: prompt, readings };
  const isChat = request.kind === "chat";
  if (isChat && model.render === undefined)
    throw unfitRequest("messages", `${model.name} has no chat template: ask for completions`);
  // SAFETY: rendering and tokenising block the process: texts beyond the bound are refused before.
  requireBytes(model, param, isChat ? messages.map(({ content }) => content) : [prompt]);
  const read: Clock = (format) => (readings[format] = clock(format));
  const text = isChat ? model.render!(messages, read) : prompt;
  requireBytes(model, param, [text]);
  try {
    // A template writes the special tokens itself.
    return { text, tokens: model.tokenizer.encode(text, isChat), readings };
  } catch (cause) {
    throw unfitRequest(param, `${param} cannot be turned into tokens of this model`, null, cause);
  }
}

/** @throws ApiError for more texts, or more bytes in them, than a model's slots can hold as its longest tokens */
export function requireBytes(
  { tokenizer, limits: { slots } }: { tokenizer: Tokenizer; limits: Pick<DecoderLimits, "slots"> },
  param: string,
  texts: readonly string[],
): void {
  const most = slots * tokenizer.longest;
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= most && texts.length <= slots) return;
  const has = texts.length > slots ? `${texts.length} messages` : `${bytes} bytes of text`;
  throw unfitRequest(
    param,
    `${param}: ${has}, the model takes ${slots} tokens of at most ${tokenizer.longest} bytes`,
    "context_length_exceeded",
  );
}

/**
 * Returns the inputs of a block: the run that begins with the given tokens and ends with its new ones. Place and seed
 * draw a token, and a text does not depend on the cut into blocks.
 * @param items One less than the tokens after the block.
 */
export function blockInputs(
  { program: { model }, limits }: Pick<TextModel, "program" | "limits">,
  tokens: readonly number[],
  items: number,
  { temperature, topP, seed }: Drawing,
): RunInputs {
  const drawing = limits.isGreedy ? {} : { temperature, topP, seed };
  const bytes = decoderInputs(model, { prompt: tokens, ...drawing });
  return new RunInputs(model.program.inputs, { items, firstItem: 0 }, bytes);
}

/** Returns the output `tokens` of a right run: element i is the token at place i + 1. */
export function tokensOutput({ limits: { slots } }: Pick<TextModel, "limits">, tokens: readonly number[]): Uint8Array {
  const output = new BigInt64Array(slots);
  tokens.slice(1).forEach((token, k) => (output[k] = BigInt(token)));
  return new Uint8Array(output.buffer);
}

/** The place of the output `tokens` among a program's outputs. */
export const placeOfTokens = ({ program: { model } }: Pick<TextModel, "program">): number =>
  model.outputs.findIndex(({ name }) => name === DECODER.tokens);

/** SHA-256 of a text or bytes, in hexadecimal digits. */
export const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** The template and the special tokens of a `tokenizer_config.json`. @throws GatewayFileError */
function configOf({ name, text }: NamedText): { template: string | undefined; tokens: Record<string, string> } {
  let json: Record<string, unknown>;
  try {
    json = JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new GatewayFileError(`${name} is no JSON document: expected a tokenizer_config.json`, { cause });
  }
  const textOf = (value: unknown): string | undefined => {
    const own = typeof value === "object" && value !== null && "content" in value ? value.content : value;
    return typeof own === "string" ? own : undefined;
  };
  const tokens = Object.entries(json ?? {}).flatMap(([field, value]) => {
    const token = field.endsWith("_token") ? textOf(value) : undefined;
    return token === undefined ? [] : [[field, token]];
  });
  const { chat_template: given } = json ?? {};
  // Files with several templates name a template "default".
  const named = Array.isArray(given) ? (given as { name?: unknown; template?: unknown }[]) : [];
  const template = Array.isArray(given) ? named.find(({ name }) => name === "default")?.template : given;
  return {
    template: typeof template === "string" ? template : undefined,
    tokens: Object.fromEntries(tokens) as Record<string, string>,
  };
}

async function rendering(
  text: string,
  tokens: Record<string, string>,
  name: string,
): Promise<NonNullable<TextModel["render"]>> {
  const { Template } = await withPackages(
    ["@huggingface/jinja"],
    "a chat template",
    () => import("@huggingface/jinja"),
  );
  let template: InstanceType<typeof Template>;
  try {
    // The library's own clock is the machine's.
    template = new Template(`{%- set strftime_now = refute_clock -%}${text}`);
  } catch (cause) {
    throw new GatewayFileError(`the chat template of ${name} cannot be read (${(cause as Error).message})`, { cause });
  }
  return (messages, clock) => {
    const given = { messages: messages.map((message) => ({ ...message })), add_generation_prompt: true };
    try {
      return template.render({ ...tokens, ...given, refute_clock: (format: unknown) => clock(String(format)) });
    } catch (cause) {
      throw unfitRequest("messages", "the model's chat template refuses these messages", null, cause);
    }
  };
}

const MONTHS = "January February March April May June July August September October November December".split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** A clock that stands still, in UTC and in the language of C. @param seconds Unix time */
export const clockAt =
  (seconds: number): Clock =>
  (format) =>
    timeText(format, new Date(seconds * 1_000));

function timeText(format: string, date: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const [month, day] = [MONTHS[date.getUTCMonth()]!, DAYS[date.getUTCDay()]!];
  const letters: Record<string, string> = {
    ...{ Y: String(date.getUTCFullYear()), y: two(date.getUTCFullYear() % 100), m: two(date.getUTCMonth() + 1) },
    ...{ d: two(date.getUTCDate()), B: month, b: month.slice(0, 3), A: day, a: day.slice(0, 3) },
    ...{ H: two(date.getUTCHours()), M: two(date.getUTCMinutes()), S: two(date.getUTCSeconds()) },
    ...{ I: two(date.getUTCHours() % 12 || 12), p: date.getUTCHours() < 12 ? "AM" : "PM", "%": "%" },
  };
  return format.replace(/%([A-Za-z%])/g, (all, letter: string) => letters[letter] ?? all);
}
