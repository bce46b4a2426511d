import { isAddressEqual, isHex, type Hex } from "viem";
import { z } from "zod/v4";
import type { SignedClaim } from "../../chain/structs.ts";
import type { Execute } from "../../runs/execute.ts";
import { answerOfBytes, answerRun } from "../tickets/answerRun.ts";
import { answerSchema, claimOfBody } from "../tickets/messageSchemas.ts";
import type { FindSigner } from "../tickets/signatures.ts";
import { digestOf, type TicketsAt } from "../tickets/typedData.ts";
import { ApiError, ReceiptError } from "./errors.ts";
import type { TextRequest } from "./requests.ts";
import {
  blockInputs,
  LIBRARIES,
  promptOf,
  sha256,
  tokensOutput,
  type Drawing,
  type Prompt,
  type TextModel,
} from "./textModel.ts";
import { TextWriter } from "./textWriter.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const hex = (digits: number) =>
  z
    .string()
    .refine((text): text is Hex => isHex(text) && text.length === 2 + digits, `expected 0x and ${digits} digits`);
const count = z.int().min(0);
const { claim, signature } = answerSchema.shape;
const blockSchema = z.object({ claim: claim.strict(), signature, tokens: z.array(count).min(1) }).strict();

/** The form of a receipt: all that binds a text to its model, its request and the claims about it. */
const receiptSchema = z
  .object({
    version: z.literal(1),
    id: z.string(),
    /** When the first block was signed, unix seconds. */
    created: count,
    model: z.string(),
    chainId: z.int().min(1),
    tickets: hex(40),
    programRoot: hex(64),
    /** SHA-256 hashes: the model's file, and the files around the model. */
    files: z.object({ model: hash, tokenizer: hash, config: hash.nullable(), template: hash.nullable() }).strict(),
    libraries: z.object({ tokenizers: z.string(), jinja: z.string() }).strict(),
    text: z
      .object({
        kind: z.enum(["chat", "completion"]),
        /** Two SHA-256 hashes: the prompt's text, and the prompt's tokens as decimal numbers with commas. */
        prompt: hash,
        promptTokens: hash,
        /** What the template read of the clock, by format. */
        clock: z.record(z.string(), z.string()),
        endTokens: z.array(count),
        stops: z.array(z.string()),
        /** Words of float32. */
        temperature: hex(8),
        topP: hex(8),
        seed: z.string().regex(/^-?\d{1,19}$/),
        /** Most tokens after the prompt. */
        maxTokens: z.int().min(1),
        finish: z.enum(["stop", "length"]),
        /** SHA-256 of the text that was given. */
        content: hash,
      })
      .strict(),
    usage: z.object({ prompt: count, completion: count, bought: count }).strict(),
    /** Until when each block can be put on chain and refuted, unix seconds. Verified it can be for ever. */
    refutableUntil: count,
    blocks: z.array(blockSchema).min(1),
  })
  .strict();
export type Receipt = z.infer<typeof receiptSchema>;
export type ReceiptBlock = z.infer<typeof blockSchema>;

/** Where receipts hold: the tickets, and how long their claims can be put on chain, seconds. */
export type ReceiptPlace = TicketsAt & { claimLifetime: number };

/** What a receipt is about. */
export type Sold = {
  model: TextModel;
  request: TextRequest;
  prompt: Prompt;
  drawing: Drawing;
  /** Most tokens after the prompt. */
  most: number;
  blocks: readonly ReceiptBlock[];
};

/** The number of tokens if a request names none: the default known to clients. */
const DEFAULT_MOST = { chat: 256, completion: 16 } as const;

/** Returns how many tokens a request gets at most. A program has room for one token more than it has slots. */
export const mostTokens = (
  { limits: { slots } }: Pick<TextModel, "limits">,
  { kind, maxTokens = DEFAULT_MOST[kind] }: Pick<TextRequest, "kind" | "maxTokens">,
  prompt: Pick<Prompt, "tokens">,
): number => Math.min(maxTokens, slots + 1 - prompt.tokens.length);

/** The word of a float32, in hexadecimal digits. */
function word(value: number): Hex {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return `0x${view.getUint32(0).toString(16).padStart(8, "0")}`;
}

/** The id of a text: of the first claim about it. */
export const receiptId = (kind: TextRequest["kind"], at: TicketsAt, { claim }: ReceiptBlock): string =>
  `${kind === "chat" ? "chatcmpl" : "cmpl"}-${digestOf(at, "SignedClaim", claimOfBody({ claim })).slice(2, 34)}`;

/** Writes the receipt of a text. @param writer That took all blocks. */
export function receiptOf(sold: Sold, place: ReceiptPlace, writer: TextWriter): Receipt {
  const { model, request, prompt, drawing, most, blocks } = sold;
  const issued = blocks.map(({ claim }) => Number(claim.issued));
  const bought = blocks.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    version: 1,
    id: receiptId(request.kind, place, blocks[0]!),
    created: issued[0]!,
    model: model.name,
    chainId: place.chainId,
    tickets: place.tickets,
    programRoot: model.program.model.programRoot,
    files: { ...model.hashes },
    libraries: { ...LIBRARIES },
    text: {
      kind: request.kind,
      prompt: sha256(prompt.text),
      promptTokens: sha256(prompt.tokens.join()),
      clock: prompt.readings,
      endTokens: [...model.endTokens],
      stops: [...request.stops],
      temperature: word(drawing.temperature),
      topP: word(drawing.topP),
      seed: String(drawing.seed),
      maxTokens: most,
      finish: writer.finish ?? "length",
      content: sha256(writer.text),
    },
    usage: { prompt: prompt.tokens.length, completion: writer.chosen, bought },
    refutableUntil: Math.min(...issued) + place.claimLifetime,
    blocks: blocks.map(({ claim, signature, tokens }) => ({ claim: { ...claim }, signature, tokens: [...tokens] })),
  };
}

/** What a receipt says, read and compared with the request: all but the execution. */
export type OpenedReceipt = { receipt: Receipt; sold: Sold; claims: readonly SignedClaim[] };

/**
 * Compares a receipt with its request and with the files of the model: renders, tokenises and checks each signature.
 * @throws ReceiptError with the first wrong field's name
 */
export function openReceipt(
  json: unknown,
  about: { model: TextModel; request: TextRequest; place: ReceiptPlace; findSigner: FindSigner },
): OpenedReceipt {
  const { model, request, place, findSigner } = about;
  const receipt = readReceipt(json);
  const { text, blocks } = receipt;
  const prompt = promptAgain(receipt, model, request);
  const most = mostTokens(model, request, prompt);
  const drawing = { temperature: request.temperature, topP: request.topP, seed: BigInt(text.seed) };
  const sold: Sold = { model, request, prompt, drawing, most, blocks };
  // Only so a seed has one form: the inputs hold 64 bits; a program without draws has none.
  if (BigInt.asIntN(64, drawing.seed) !== drawing.seed) throw new ReceiptError("text.seed", "has more than 64 bits");
  const asked = model.limits.isGreedy ? 0n : request.seed;
  if (asked !== undefined && asked !== drawing.seed)
    throw new ReceiptError("text.seed", `is ${text.seed}, but ${asked} was asked for`);
  const claims = blocks.map(({ claim }) => claimOfBody({ claim }));
  const tokens = [...prompt.tokens];
  const writer = new TextWriter(model, prompt.tokens, request.stops, most);
  for (const [k, block] of blocks.entries()) {
    const [claim, where] = [claims[k]!, `blocks[${k}]`];
    if (writer.finish !== undefined) throw new ReceiptError(where, "comes after the end of the text");
    const { vocabulary = Infinity } = model.limits;
    if (block.tokens.some((token) => token >= vocabulary))
      throw new ReceiptError(`${where}.tokens`, "has a token that the model does not know");
    if (tokens.length + block.tokens.length > prompt.tokens.length + most)
      throw new ReceiptError(`${where}.tokens`, "are more than the text may have");
    const inputs = blockInputs(model, tokens, tokens.length - 1 + block.tokens.length, drawing);
    tokens.push(...block.tokens);
    writer.take(block.tokens);
    const { items } = inputs.length;
    const answer = answerOfBytes(model.program.model.program, items, [tokensOutput(model, tokens)])!;
    if (claim.programRoot.toLowerCase() !== model.program.model.programRoot)
      throw new ReceiptError(`${where}.claim.programRoot`, "is that of another program");
    if (claim.items !== items || claim.firstItem !== 0)
      throw new ReceiptError(
        `${where}.claim.${claim.firstItem === 0 ? "items" : "firstItem"}`,
        "does not fit the tokens",
      );
    // SAFETY: before what the signature covers is compared with the rest, the signature must hold.
    const signer = findSigner(digestOf(place, "SignedClaim", claim), block.signature as Hex);
    if (signer === undefined || !isAddressEqual(signer, claim.worker))
      throw new ReceiptError(`${where}.signature`, "is not that of the worker over the claim as it stands here");
    if (!isAddressEqual(claim.payer, claims[0]!.payer))
      throw new ReceiptError(`${where}.claim.payer`, "is another one than in the first block");
    if (claim.inputsRoot.toLowerCase() !== inputs.list.root)
      throw new ReceiptError("text.seed", `does not give the inputs that ${where} claims`);
    if (claim.root.toLowerCase() !== answer.root)
      throw new ReceiptError(`${where}.tokens`, "are not those of the claim");
  }
  if (writer.finish === undefined) throw new ReceiptError("blocks", "end before the text does");
  // After the blocks: a difference now lies in a field that follows from right blocks.
  requireSame(withoutBlocks(receipt), withoutBlocks(receiptOf(sold, place, writer)), "");
  return { receipt, sold, claims };
}

/**
 * Executes the blocks of a receipt again.
 * @returns the number of the first block whose worker lied; undefined if all are right
 */
export async function firstLie({ sold, claims }: OpenedReceipt, execute: Execute): Promise<number | undefined> {
  const { model, prompt, drawing, blocks } = sold;
  const tokens = [...prompt.tokens];
  for (const [k, block] of blocks.entries()) {
    const inputs = blockInputs(model, tokens, tokens.length - 1 + block.tokens.length, drawing);
    const { root } = await answerRun(model.program, inputs, execute);
    if (root !== claims[k]!.root.toLowerCase()) return k;
    tokens.push(...block.tokens);
  }
  return undefined;
}

/** Reads the form of a receipt. @throws ReceiptError */
export function readReceipt(json: unknown): Receipt {
  const parsed = receiptSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const extra = issue!.code === "unrecognized_keys" ? [issue.keys[0]!] : [];
  throw new ReceiptError(pathText([...issue!.path, ...extra]) || "receipt", issue!.message);
}

function promptAgain({ text, files, libraries, programRoot }: Receipt, model: TextModel, request: TextRequest): Prompt {
  // Other files or libraries make other tokens: they are named first.
  requireSame(files, model.hashes, "files");
  requireSame(libraries, LIBRARIES, "libraries");
  requireSame(programRoot, model.program.model.programRoot, "programRoot");
  requireSame(text.kind, request.kind, "text.kind");
  let prompt: Prompt;
  try {
    prompt = promptOf(model, request, (format) => {
      if (Object.hasOwn(text.clock, format)) return text.clock[format]!;
      throw new ReceiptError("text.clock", `has no time by ${JSON.stringify(format)}, which the template reads`);
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.cause instanceof ReceiptError) throw error.cause;
    throw new ReceiptError("text.prompt", `cannot be that of this request: ${error.message}`, { cause: error });
  }
  requireSame(text.clock, prompt.readings, "text.clock");
  if (text.prompt !== sha256(prompt.text)) {
    // The tokens tell which of the two was changed.
    const isClock = text.promptTokens !== sha256(prompt.tokens.join()) && Object.keys(text.clock).length > 0;
    throw new ReceiptError(isClock ? "text.clock" : "text.prompt", "does not give the prompt of this request");
  }
  return prompt;
}

const withoutBlocks = (receipt: Receipt): object => ({ ...receipt, blocks: undefined });

/** @throws ReceiptError that names the first difference */
function requireSame(given: unknown, expected: unknown, path: string): void {
  if (typeof given === "object" && given !== null && typeof expected === "object" && expected !== null) {
    const names = new Set([...Object.keys(expected), ...Object.keys(given)]);
    for (const name of names) {
      const [a, b] = [given, expected].map((one) => (one as Record<string, unknown>)[name]);
      requireSame(a, b, Array.isArray(expected) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`);
    }
    return;
  }
  const isSame = isAddressLike(given) ? given.toLowerCase() === String(expected).toLowerCase() : given === expected;
  if (!isSame) throw new ReceiptError(path, `is ${JSON.stringify(given)}, expected ${JSON.stringify(expected)}`);
}

const isAddressLike = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value);

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );
