import type { Address } from "viem";
import {
  isEmbedding,
  openEmbeddingReceipt,
  readEmbeddingReceipt,
  readEmbeddingRequest,
} from "../parties/gateway/embeddings.ts";
import { ReceiptError } from "../parties/gateway/errors.ts";
import { openReceipt } from "../parties/gateway/receipt.ts";
import { readReceipt } from "../parties/gateway/receiptForm.ts";
import type { OpenedReceipt } from "../parties/gateway/receiptParts.ts";
import { readTextRequest } from "../parties/gateway/requests.ts";
import { loadFindSigner } from "../parties/tickets/signatures.ts";
import { accountSettings } from "./chainSettings.ts";
import { UsageError } from "./errors.ts";
import { loadProgram } from "./models.ts";
import type { Output } from "./output.ts";
import { address, filePath } from "./parse.ts";
import { optional, readJson, required, type SettingValues } from "./settings.ts";
import { openModel, readTexts } from "./texts.ts";

/** Settings of commands about a receipt. */
export const receiptSettings = {
  ...accountSettings,
  tickets: required<Address>("address", "the contract of the tickets; --market is that of its claims", address),
  models: required<string>("file", "the models, as for refute text gateway", filePath),
  texts: required<string>("file", "their names and tokenizers, as for refute text gateway", filePath),
  request: optional<string>("file", "the body that was sent, JSON", filePath, '"request" of the receipt\'s file'),
};

/** A receipt after a comparison with its request, its model and its signatures. */
export type Opened = OpenedReceipt<{
  id: string;
  refutableUntil: number;
  usage: { prompt: number; completion?: number };
}>;

/**
 * Reads a receipt, compiles the model, and compares the receipt with its request and its model.
 * @param file The receipt, or an answer of the gateway that has it.
 * @param claimLifetime Of the tickets, seconds.
 * @throws ReceiptError, UsageError
 */
export async function openReceiptFile(
  file: string,
  { chainId, tickets, texts, models, request }: SettingValues<typeof receiptSettings>,
  claimLifetime: number,
  output: Output,
): Promise<Opened> {
  const place = { chainId, tickets, claimLifetime };
  const { json, body } = filesOf(file, request);
  const read = isEmbedding(json) ? readEmbeddingReceipt(json) : readReceipt(json);
  const name = read.model;
  const entry = readTexts(texts, models).find((each) => each.name === name);
  if (entry === undefined) throw new ReceiptError("model", `is ${JSON.stringify(name)}, which ${texts} lacks`);
  const model = await openModel(entry, loadProgram(entry.spec, output));
  const findSigner = await loadFindSigner();
  if ("text" in read && !("dimensions" in model)) {
    const { request } = readTextRequest(read.text.kind, body);
    return openReceipt(read, { model, request, place, findSigner });
  }
  if ("text" in read || !("dimensions" in model))
    throw new ReceiptError("model", `is ${JSON.stringify(name)}, a model of another kind in ${texts}`);
  return openEmbeddingReceipt(json, { model, request: readEmbeddingRequest(body), place, findSigner });
}

/** Reads a receipt from a file, and the request's body. @throws UsageError */
function filesOf(file: string, request: string | undefined): { json: unknown; body: unknown } {
  const whole = readJson(file, "receipt") as Record<string, unknown> | null;
  const body = request === undefined ? whole?.request : readJson(request, "request");
  if (body === undefined)
    throw new UsageError("--request: give the body that was sent, which the receipt has only as hashes");
  return { json: whole?.receipt ?? whole, body };
}
