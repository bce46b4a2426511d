import type { Hex } from "viem";
import type { FindSigner } from "../tickets/signatures.ts";
import { ApiError, ReceiptError } from "./errors.ts";
import type { Receipt, ReceiptBlock } from "./receiptForm.ts";
import {
  headOf,
  openBlock,
  requireFiles,
  requireSame,
  requireSameRest,
  type OpenedReceipt,
  type ReceiptPlace,
} from "./receiptParts.ts";
import type { TextRequest } from "./requests.ts";
import { blockInputs, promptOf, sha256, tokensOutput, type Drawing, type Prompt, type TextModel } from "./textModel.ts";
import { TextWriter } from "./textWriter.ts";

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

/** The beginning of the ids of texts. */
export const idPrefix = (kind: TextRequest["kind"]): string => (kind === "chat" ? "chatcmpl" : "cmpl");

/** Writes the receipt of a text. @param writer That took all blocks. */
export function receiptOf(sold: Sold, place: ReceiptPlace, writer: TextWriter): Receipt {
  const { model, request, prompt, drawing, most, blocks } = sold;
  const bought = blocks.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    ...headOf(idPrefix(request.kind), model, place, blocks),
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
    blocks: blocks.map(({ claim, signature, tokens }) => ({ claim: { ...claim }, signature, tokens: [...tokens] })),
  };
}

/**
 * Compares a receipt with its request and with the files of the model: renders, tokenises and checks each signature.
 * @throws ReceiptError with the first wrong field's name
 */
export function openReceipt(
  receipt: Receipt,
  about: { model: TextModel; request: TextRequest; place: ReceiptPlace; findSigner: FindSigner },
): OpenedReceipt<Receipt> {
  const { model, request, place, findSigner } = about;
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
  const { program } = model;
  const runs: OpenedReceipt["runs"][number][] = [];
  const tokens = [...prompt.tokens];
  const writer = new TextWriter(model, prompt.tokens, request.stops, most);
  for (const [k, block] of blocks.entries()) {
    const where = `blocks[${k}]`;
    if (writer.finish !== undefined) throw new ReceiptError(where, "comes after the end of the text");
    const { vocabulary = Infinity } = model.limits;
    if (block.tokens.some((token) => token >= vocabulary))
      throw new ReceiptError(`${where}.tokens`, "has a token that the model does not know");
    if (tokens.length + block.tokens.length > prompt.tokens.length + most)
      throw new ReceiptError(`${where}.tokens`, "are more than the text may have");
    const inputs = blockInputs(model, tokens, tokens.length - 1 + block.tokens.length, drawing);
    tokens.push(...block.tokens);
    writer.take(block.tokens);
    const own = { program, place, findSigner, payer: runs[0]?.claim.payer };
    const names = { where, inputs: "text.seed", outputs: `${where}.tokens` };
    runs.push(openBlock(block, { inputs, outputs: [tokensOutput(model, tokens)] }, own, names));
  }
  if (writer.finish === undefined) throw new ReceiptError("blocks", "end before the text does");
  requireSameRest(receipt, receiptOf(sold, place, writer));
  return { receipt, program, runs };
}

function promptAgain(receipt: Receipt, model: TextModel, request: TextRequest): Prompt {
  // Other files or libraries make other tokens: they are named first.
  requireFiles(receipt, model);
  const { text } = receipt;
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
