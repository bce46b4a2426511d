import { randomBytes } from "node:crypto";
import type { Logger } from "../../base/log.ts";
import { JobProgramError } from "../requester/errors.ts";
import { requireClaimable } from "../tickets/claimable.ts";
import { claimBody } from "../tickets/messages.ts";
import type { PayerLimits } from "../tickets/payer.ts";
import type { TicketSession } from "../tickets/ticketSession.ts";
import type { ApiKey } from "./apiKeys.ts";
import { EagerTokens } from "./eagerTokens.ts";
import { ApiError, unfitRequest } from "./errors.ts";
import {
  embeddedTokens,
  embeddingInputs,
  embeddingReceipt,
  type EmbeddingBlock,
  type EmbeddingModel,
  type EmbeddingReceipt,
  type EmbeddingRequest,
} from "./embeddings.ts";
import type { GatewayLedger, KeptRequest, NewRequest, UnderWay } from "./gatewayLedger.ts";
import { idPrefix, mostTokens, receiptOf, type Sold } from "./receipt.ts";
import type { Receipt, ReceiptBlock } from "./receiptForm.ts";
import { receiptId, type BoughtBlock, type ReceiptPlace } from "./receiptParts.ts";
import type { TextRequest } from "./requests.ts";
import { SameRequests, type Identity } from "./sameRequests.ts";
import { priceOf, type Bought, type Sellers } from "./sellers.ts";
import {
  blockInputs,
  clockAt,
  placeOfTokens,
  promptOf,
  sha256,
  tokensOutput,
  type Drawing,
  type TextModel,
} from "./textModel.ts";
import { TextWriter } from "./textWriter.ts";

/** A model on offer. */
export type Offer<M = TextModel | EmbeddingModel> = { model: M; sellers: Sellers };

type GatewayOptions = {
  at: TicketSession;
  ledger: GatewayLedger;
  /** The models that are known now, by their names; more may come. */
  offers: ReadonlyMap<string, Offer>;
  /** Names of models that may come soon. */
  awaited?: (name: string) => boolean;
  limits: PayerLimits;
  /** Tokens of a block. */
  block: number;
  /** Streams texts before the blocks are signed. */
  eager?: boolean;
  log: Logger;
  /** Unix seconds. */
  clock?: () => number;
};

/**
 * A part of a text. A checked signature covers every part, except with `eager`: then a text ends with `unsigned` if no
 * signature covers the given tokens, from a token on.
 */
export type TextPart =
  | { kind: "start"; id: string; created: number }
  | { kind: "piece"; text: string }
  | { kind: "unsigned"; token: number }
  | { kind: "end"; receipt: Receipt };

type Asked<R = TextRequest> = { key: ApiKey; request: R } & Omit<Identity, "owner">;
type AskedText = Asked & { isStreamed?: boolean };

/** Sells texts, bought in blocks. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #running = new SameRequests();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  get models(): readonly string[] {
    return [...this.#options.offers.keys()];
  }

  get isEager(): boolean {
    return this.#options.eager === true;
  }

  /** A receipt of this key as JSON. @throws ApiError */
  receipt({ owner }: ApiKey, id: string): string {
    const found = this.#options.ledger.receipt(owner, id);
    if (found !== undefined) return found;
    throw new ApiError(404, "invalid_request_error", "no receipt of this key has that id", { reason: "not_found" });
  }

  /** @throws ApiError for an unknown model */
  offer(name: string): Offer {
    const { offers, awaited } = this.#options;
    const offer = offers.get(name);
    if (offer !== undefined) return offer;
    if (awaited?.(name) === true)
      throw new ApiError(503, "server_error", "the model is compiled still: ask again later", { param: "model" });
    throw new ApiError(404, "invalid_request_error", `there is no model ${JSON.stringify(name.slice(0, 200))}`, {
      ...{ param: "model", reason: "model_not_found" },
    });
  }

  /**
   * Makes a text. A repeated request under the same key of idempotency goes on where the earlier request ended, like a
   * retry of an equal request after the client left: no block is bought twice. An aborted text buys no further block.
   * @throws ApiError
   */
  async *text(asked: AskedText): AsyncGenerator<TextPart, void, undefined> {
    const { key, request } = asked;
    const { model, sellers } = this.offer(request.model);
    if ("dimensions" in model) throw unfitRequest("model", `${model.name} gives embeddings, no texts`);
    const about = { ...request, seed: request.seed?.toString(), files: model.hashes };
    const fingerprint = fingerprintOf(model, about);
    const end = await this.#running.begin({ ...asked, owner: key.owner }, fingerprint);
    try {
      yield* this.#write(asked, fingerprint, { model, sellers });
    } finally {
      end();
    }
  }

  /**
   * Buys the vectors of texts, each with a claim of its own; otherwise as `text`.
   * @throws ApiError
   */
  async embed(asked: Asked<EmbeddingRequest>): Promise<EmbeddingReceipt> {
    const { key, request } = asked;
    const { model, sellers } = this.offer(request.model);
    if (!("dimensions" in model)) throw unfitRequest("model", `${model.name} gives texts, no embeddings`);
    const about = { inputs: request.inputs, model: request.model, files: model.hashes };
    const fingerprint = fingerprintOf(model, about);
    const end = await this.#running.begin({ ...asked, owner: key.owner }, fingerprint);
    try {
      return await this.#embed(asked, fingerprint, { model, sellers });
    } finally {
      end();
    }
  }

  async #embed(
    asked: Asked<EmbeddingRequest>,
    fingerprint: string,
    { model, sellers }: Offer<EmbeddingModel>,
  ): Promise<EmbeddingReceipt> {
    const { at, ledger, limits, log } = this.#options;
    const { key, request, signal } = asked;
    const all = embeddedTokens(model, request);
    const { known, fresh } = this.#before(asked, fingerprint);
    const blocks = [...((known?.blocks ?? []) as EmbeddingBlock[])];
    const reserved = BigInt(all.length - blocks.length) * priceOf(limits);
    const underWay = this.#begin(key, known, fresh, reserved);
    try {
      for (const tokens of all.slice(blocks.length)) {
        const got = await sellers.buy(embeddingInputs(model, tokens), { fits: () => true }, signal);
        const vector = Buffer.from(got.outputs[0]!).toString("base64");
        const block = { claim: claimBody(got.claim), signature: got.signature, vector };
        await this.#keep(key, underWay, blocks.length, block, got);
        blocks.push(block);
      }
      const receipt = embeddingReceipt(model, request, { ...at.at, claimLifetime: at.claimLifetime }, blocks, all);
      ledger.ended(underWay.number, receipt.id, receipt);
      log.info({ id: receipt.id, model: model.name, key: key.name, ...receipt.usage }, "embeddings are made");
      underWay.isGiven = !signal.aborted;
      return receipt;
    } finally {
      ledger.release(key.owner, underWay);
    }
  }

  /** Takes a request into the ledger, or goes on with it. @throws ApiError if the budget does not have its cost */
  #begin({ owner, budget }: ApiKey, known: KeptRequest | undefined, fresh: NewRequest, reserved: bigint): UnderWay {
    const { ledger } = this.#options;
    const kept = known ?? ledger.add(fresh, reserved, budget);
    if (kept === undefined || (kept === known && !ledger.reserve(owner, reserved, budget)))
      throw new ApiError(429, "insufficient_quota", "the budget of this key does not have what this may cost", {
        reason: "insufficient_quota",
      });
    const underWay = { number: kept.number, reserved, isGiven: false };
    try {
      if (kept === known && fresh.idempotency === undefined) ledger.resume(kept.number);
    } catch (error) {
      ledger.release(owner, underWay);
      throw error;
    }
    return underWay;
  }

  /**
   * Keeps and counts a block, before the gateway gives the block. The worker is paid then, also where the disk fails to
   * flush.
   * @param k Number of the block.
   */
  async #keep({ owner }: ApiKey, request: UnderWay, k: number, block: BoughtBlock, got: Bought): Promise<void> {
    const { ledger, limits } = this.#options;
    const price = priceOf(limits);
    try {
      ledger.bought(owner, request.number, k, block, got.price, price);
    } catch (error) {
      got.settle(false);
      throw error;
    }
    request.reserved -= price;
    await ledger.flushed().finally(() => got.settle(true));
  }

  async *#write(
    asked: AskedText,
    fingerprint: string,
    { model, sellers }: Offer<TextModel>,
  ): AsyncGenerator<TextPart, void, undefined> {
    const { at, ledger, limits, block, log } = this.#options;
    const { key, request, signal } = asked;
    const { known, fresh, prompt, drawing, most } = this.#taken(asked, fingerprint, model);
    const place: ReceiptPlace = { ...at.at, claimLifetime: at.claimLifetime };
    const blocks = [...((known?.blocks ?? []) as ReceiptBlock[])];
    const writer = new TextWriter(model, prompt.tokens, request.stops, most);
    const written = blocks.map(({ tokens }) => writer.take(tokens));
    const tokens = [...prompt.tokens, ...blocks.flatMap((one) => one.tokens)];
    const left = (): number => most - (tokens.length - prompt.tokens.length);
    const reserved = BigInt(Math.ceil((writer.finish === undefined ? left() : 0) / block)) * priceOf(limits);
    const underWay = this.#begin(key, known, fresh, reserved);
    const isEager = asked.isStreamed === true && this.isEager;
    /** Buys a block. The block is kept even if nobody takes the text any more. */
    const buy = async (count: number, eager: EagerTokens | undefined): Promise<ReceiptBlock> => {
      try {
        const got = await buyBlock({ model, sellers, drawing, signal, eager }, tokens, count);
        const one = { claim: claimBody(got.claim), signature: got.signature, tokens: got.tokens };
        await this.#keep(key, underWay, blocks.length, one, got);
        return one;
      } finally {
        eager?.end();
      }
    };
    try {
      let isStarted = blocks.length > 0;
      if (isStarted) yield this.#start(request, blocks[0]);
      for (const text of written) if (text !== "") yield { kind: "piece", text };
      while (writer.finish === undefined) {
        const count = Math.min(block, left());
        const eager = isEager ? new EagerTokens(tokens.length - 1, count, vocabularyOf(model)) : undefined;
        const buying = buy(count, eager);
        if (eager !== undefined)
          for await (const part of shownEarly(eager, writer, buying)) {
            if (!isStarted) yield this.#start(request, undefined);
            isStarted = true;
            yield part;
          }
        const given = eager?.given ?? [];
        const one = await buying.catch((error: unknown) => {
          if (given.length === 0 || !(error instanceof ApiError)) throw error;
        });
        const differing = given.findIndex((token, k) => token !== one?.tokens[k]);
        if (one === undefined || differing >= 0) {
          log.error({ model: model.name, key: key.name }, "tokens were given that no signature covers");
          return yield { kind: "unsigned", token: tokens.length - prompt.tokens.length + differing };
        }
        blocks.push(one);
        tokens.push(...one.tokens);
        if (!isStarted) yield this.#start(request, one);
        isStarted = true;
        const text = writer.take(one.tokens.slice(given.length));
        if (text !== "") yield { kind: "piece", text };
      }
      const sold: Sold = { model, request, prompt, drawing, most, blocks };
      const receipt = receiptOf(sold, place, writer);
      ledger.ended(underWay.number, receipt.id, receipt);
      log.info({ id: receipt.id, model: model.name, key: key.name, ...receipt.usage }, "a text is written");
      yield { kind: "end", receipt };
      underWay.isGiven = !signal.aborted;
    } finally {
      ledger.release(key.owner, underWay);
    }
  }

  /** @param first The first block; undefined if its claim is not signed yet: then the id is no receipt's. */
  #start({ kind }: TextRequest, first: ReceiptBlock | undefined): TextPart {
    const { at, clock = () => Date.now() / 1_000 } = this.#options;
    const prefix = idPrefix(kind);
    if (first !== undefined)
      return { kind: "start", id: receiptId(prefix, at.at, first), created: Number(first.claim.issued) };
    return { kind: "start", id: `${prefix}-${randomBytes(16).toString("hex")}`, created: Math.floor(clock()) };
  }

  /**
   * Returns the earlier request to go on with, and a new request.
   * @throws ApiError if the earlier request was about something else
   */
  #before({ key: { owner }, idempotency, isRetry }: Omit<Asked, "request">, fingerprint: string) {
    const { ledger, clock = () => Date.now() / 1_000 } = this.#options;
    const earlier = isRetry ? ledger.findLeft(owner, fingerprint) : undefined;
    const known = idempotency === undefined ? earlier : ledger.find(owner, idempotency);
    if (known !== undefined && known.fingerprint !== fingerprint)
      throw new ApiError(422, "invalid_request_error", "another request came before with this Idempotency-Key", {
        reason: "idempotency_key_reused",
      });
    const time = Math.floor(clock());
    const taken = known?.taken ?? { seed: String(randomBytes(8).readBigUInt64BE() >> 1n), clock: time };
    return { known, fresh: { owner, idempotency, fingerprint, taken, time } };
  }

  /** The earlier or the new request for a text, with prompt and drawing. */
  #taken(asked: Asked, fingerprint: string, model: TextModel) {
    const { at } = this.#options;
    const { request } = asked;
    const { known, fresh } = this.#before(asked, fingerprint);
    const { taken } = fresh;
    const prompt = promptOf(model, request, clockAt(taken.clock));
    const most = mostTokens(model, request, prompt);
    const items = prompt.tokens.length - 1 + most;
    try {
      requireClaimable(at.session.deployment.parameters, model.program, items);
    } catch (cause) {
      if (!(cause instanceof JobProgramError)) throw cause;
      const message = `the text is too long for one claim of this deployment: ${cause.message}`;
      throw unfitRequest("max_tokens", message, "context_length_exceeded", cause);
    }
    const seed = model.limits.isGreedy ? 0n : (request.seed ?? BigInt(taken.seed));
    const drawing: Drawing = { temperature: request.temperature, topP: request.topP, seed };
    return { known, fresh, prompt, drawing, most };
  }
}

/** @param about All data that decide an answer, beside the program. */
const fingerprintOf = ({ program }: TextModel | EmbeddingModel, about: object): string =>
  sha256(JSON.stringify({ ...about, root: program.model.programRoot }));

const vocabularyOf = ({ limits: { vocabulary = Infinity } }: TextModel): number => vocabulary;

/** Gives tokens before the purchase of the block. Waits for the block even if nobody takes the text any more. */
async function* shownEarly(
  eager: EagerTokens,
  writer: TextWriter,
  buying: Promise<unknown>,
): AsyncGenerator<TextPart, void, undefined> {
  const bought = buying.catch(() => undefined);
  try {
    for await (const token of eager) {
      const text = writer.take([token]);
      if (text !== "") yield { kind: "piece", text };
    }
  } finally {
    await bought;
  }
}

/** Buys the next tokens of a text. */
async function buyBlock(
  of: {
    model: TextModel;
    sellers: Sellers;
    drawing: Drawing;
    signal: AbortSignal;
    eager: EagerTokens | undefined;
  },
  tokens: readonly number[],
  count: number,
) {
  const { model, sellers, drawing, signal, eager } = of;
  const place = placeOfTokens(model);
  const inputs = blockInputs(model, tokens, tokens.length - 1 + count, drawing);
  const chosenOf = (outputs: readonly Uint8Array[]): number[] => {
    const all = new BigInt64Array(Uint8Array.from(outputs[place]!).buffer);
    return Array.from(all.subarray(tokens.length - 1, tokens.length - 1 + count), Number);
  };
  const vocabulary = vocabularyOf(model);
  /** A right run repeats the prompt, chooses tokens that there are, and leaves the rest as it was. */
  const fits = (outputs: readonly Uint8Array[]): boolean => {
    const chosen = chosenOf(outputs);
    if (chosen.some((token) => token < 0 || token >= vocabulary)) return false;
    const right = tokensOutput(model, [...tokens, ...chosen]);
    return outputs.length === 1 && Buffer.compare(right, outputs[place]!) === 0;
  };
  /** Each worker's own tokens are compared: a second worker may have to correct the first. */
  const watch = () => {
    const own = new EagerTokens(tokens.length - 1, count, vocabulary);
    const onToken = (item: number, token: number): void => {
      own.take(item, token);
      eager!.take(item, token);
    };
    return {
      onToken,
      isSame: (outputs: readonly Uint8Array[]) => {
        const chosen = chosenOf(outputs);
        return own.given.every((token, k) => token === chosen[k]);
      },
    };
  };
  const bought = await sellers.buy(inputs, { fits, ...(eager !== undefined && { watch }) }, signal);
  return { ...bought, tokens: chosenOf(bought.outputs) };
}
