import { isHex, type Hex } from "viem";
import { z } from "zod/v4";
import { answerSchema } from "../tickets/messageSchemas.ts";
import { ReceiptError } from "./errors.ts";

/** The forms of receipts. What their values must be is compared elsewhere: a page does without these schemas. */

export const hash = z.string().regex(/^[0-9a-f]{64}$/);
export const hex = (digits: number) =>
  z
    .string()
    .refine((text): text is Hex => isHex(text) && text.length === 2 + digits, `expected 0x and ${digits} digits`);
export const count = z.int().min(0);
const { claim, signature } = answerSchema.shape;
/** A signed claim. */
export const receiptBlock = { claim: claim.strict(), signature };

/** The subject of a receipt, without the bought text. */
export const receiptHead = {
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
  /** Until when each block can be put on chain and refuted, unix seconds. Verified it can be for ever. */
  refutableUntil: count,
};

const blockSchema = z.object({ ...receiptBlock, tokens: z.array(count).min(1) }).strict();

/** The form of a text's receipt: all that binds the text to its model, its request and the claims about it. */
const receiptSchema = z
  .object({
    ...receiptHead,
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
    blocks: z.array(blockSchema).min(1),
  })
  .strict();
export type Receipt = z.infer<typeof receiptSchema>;
export type ReceiptBlock = z.infer<typeof blockSchema>;

/** Reads the form of a text's receipt. @throws ReceiptError */
export const readReceipt = (json: unknown): Receipt => parseReceipt(receiptSchema, json);

/** Reads the form of a receipt. @throws ReceiptError */
export function parseReceipt<T>(schema: z.ZodType<T>, json: unknown): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const extra = issue!.code === "unrecognized_keys" ? [issue.keys[0]!] : [];
  throw new ReceiptError(pathText([...issue!.path, ...extra]) || "receipt", issue!.message);
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );
