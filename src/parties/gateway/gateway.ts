import { randomBytes } from "node:crypto";
import type { Logger } from "../../base/log.ts";
import { JobProgramError } from "../requester/errors.ts";
import { requireClaimable } from "../tickets/claimable.ts";
import { claimBody } from "../tickets/messageSchemas.ts";
import type { PayerLimits } from "../tickets/payer.ts";
import type { TicketSession } from "../tickets/ticketSession.ts";
import type { ApiKey } from "./apiKeys.ts";
import { ApiError, unfitRequest } from "./errors.ts";
import type { GatewayLedger } from "./gatewayLedger.ts";
import {
  mostTokens,
  receiptId,
  receiptOf,
  type Receipt,
  type ReceiptBlock,
  type ReceiptPlace,
  type Sold,
} from "./receipt.ts";
import type { TextRequest } from "./requests.ts";
import { priceOf, type Sellers } from "./sellers.ts";
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
export type Offer = { model: TextModel; sellers: Sellers };

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
  log: Logger;
  /** Unix seconds. */
  clock?: () => number;
};

/** A part of a text. Every part is covered by a checked signature. */
export type TextPart =
  { kind: "start"; id: string; created: number } | { kind: "piece"; text: string } | { kind: "end"; receipt: Receipt };

type Asked = { key: ApiKey; request: TextRequest; idempotency: string | undefined; signal: AbortSignal };

/** Sells texts, bought in blocks. */
export class Gateway {
  readonly #options: GatewayOptions;
  /** Requests under way that may come again. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  get models(): readonly string[] {
    return [...this.#options.offers.keys()];
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
   * Makes a text. A request that came before under the same key of idempotency goes on where that ended: no block is
   * bought twice. An aborted text buys no further block.
   * @throws ApiError
   */
  async *text(asked: Asked): AsyncGenerator<TextPart, void, undefined> {
    const { key, request, idempotency, signal } = asked;
    const offer = this.offer(request.model);
    if (idempotency === undefined) return yield* this.#write(asked, offer);
    const name = `${key.owner} ${idempotency}`;
    for (let other; (other = this.#running.get(name)) !== undefined; await aborted(other, signal));
    let end!: () => void;
    this.#running.set(name, new Promise<void>((resolve) => (end = resolve)));
    try {
      yield* this.#write(asked, offer);
    } finally {
      this.#running.delete(name);
      end();
    }
  }

  async *#write(asked: Asked, { model, sellers }: Offer): AsyncGenerator<TextPart, void, undefined> {
    const { at, ledger, limits, block, log } = this.#options;
    const { key, request, signal } = asked;
    const { known, fresh, prompt, drawing, most } = this.#taken(asked, model);
    const place: ReceiptPlace = { ...at.at, claimLifetime: at.claimLifetime };
    const blocks = [...(known?.blocks ?? [])];
    const writer = new TextWriter(model, prompt.tokens, request.stops, most);
    const written = blocks.map(({ tokens }) => writer.take(tokens));
    const tokens = [...prompt.tokens, ...blocks.flatMap((one) => one.tokens)];
    const left = (): number => most - (tokens.length - prompt.tokens.length);
    const price = priceOf(limits);
    let reserved = BigInt(Math.ceil((writer.finish === undefined ? left() : 0) / block)) * price;
    const kept = known === undefined ? ledger.add(fresh, reserved, key.budget) : known;
    if (kept === undefined || (kept === known && !ledger.reserve(key.owner, reserved, key.budget)))
      throw new ApiError(429, "insufficient_quota", "the budget of this key does not have what the text may cost", {
        reason: "insufficient_quota",
      });
    const start = (): TextPart => {
      const [first] = blocks as [ReceiptBlock];
      return { kind: "start", id: receiptId(request.kind, at.at, first), created: Number(first.claim.issued) };
    };
    try {
      if (blocks.length > 0) yield start();
      for (const text of written) if (text !== "") yield { kind: "piece", text };
      while (writer.finish === undefined) {
        const got = await buyBlock({ model, sellers, drawing, signal }, tokens, Math.min(block, left()));
        const one = { claim: claimBody(got.claim), signature: got.signature, tokens: got.tokens };
        // The ledger keeps and counts each block before the gateway gives or pays anything.
        let isKept = false;
        try {
          ledger.bought(key.owner, kept.number, blocks.length, one, got.price, price);
          isKept = true;
        } finally {
          got.settle(isKept);
        }
        reserved -= price;
        blocks.push(one);
        tokens.push(...one.tokens);
        if (blocks.length === 1) yield start();
        const text = writer.take(one.tokens);
        if (text !== "") yield { kind: "piece", text };
      }
      const sold: Sold = { model, request, prompt, drawing, most, blocks };
      const receipt = receiptOf(sold, place, writer);
      ledger.ended(kept.number, receipt.id, receipt);
      log.info({ id: receipt.id, model: model.name, key: key.name, ...receipt.usage }, "a text is written");
      yield { kind: "end", receipt };
    } finally {
      ledger.release(key.owner, reserved, kept.number);
    }
  }

  /** Returns an earlier request with the same key of idempotency, or a new one, with prompt and drawing. */
  #taken({ key: { owner }, request, idempotency }: Asked, model: TextModel) {
    const { ledger, clock = () => Date.now() / 1_000, at } = this.#options;
    const about = { ...request, seed: request.seed?.toString(), files: model.hashes };
    const fingerprint = sha256(JSON.stringify({ ...about, root: model.program.model.programRoot }));
    const known = idempotency === undefined ? undefined : ledger.find(owner, idempotency);
    if (known !== undefined && known.fingerprint !== fingerprint)
      throw new ApiError(422, "invalid_request_error", "another request came before with this Idempotency-Key", {
        reason: "idempotency_key_reused",
      });
    const taken = known?.taken ?? {
      seed: String(request.seed ?? randomBytes(8).readBigUInt64BE() >> 1n),
      clock: Math.floor(clock()),
    };
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
    const seed = model.limits.isGreedy ? 0n : BigInt(taken.seed);
    const drawing: Drawing = { temperature: request.temperature, topP: request.topP, seed };
    const fresh = { owner, idempotency, fingerprint, taken, time: Math.floor(clock()) };
    return { known, fresh, prompt, drawing, most };
  }
}

/** Buys the next tokens of a text. */
async function buyBlock(
  of: { model: TextModel; sellers: Sellers; drawing: Drawing; signal: AbortSignal },
  tokens: readonly number[],
  count: number,
) {
  const { model, sellers, drawing, signal } = of;
  const place = placeOfTokens(model);
  const inputs = blockInputs(model, tokens, tokens.length - 1 + count, drawing);
  const chosenOf = (outputs: readonly Uint8Array[]): number[] => {
    const all = new BigInt64Array(Uint8Array.from(outputs[place]!).buffer);
    return Array.from(all.subarray(tokens.length - 1, tokens.length - 1 + count), Number);
  };
  const { vocabulary = Infinity } = model.limits;
  /** A right run repeats the prompt, chooses tokens that there are, and leaves the rest as it was. */
  const fits = (outputs: readonly Uint8Array[]): boolean => {
    const chosen = chosenOf(outputs);
    if (chosen.some((token) => token < 0 || token >= vocabulary)) return false;
    const right = tokensOutput(model, [...tokens, ...chosen]);
    return outputs.length === 1 && Buffer.compare(right, outputs[place]!) === 0;
  };
  const bought = await sellers.buy(inputs, fits, signal);
  return { ...bought, tokens: chosenOf(bought.outputs) };
}

/** Waits for another request, or for an abort. */
async function aborted(other: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const ended = new Promise<void>((resolve) => (stop = () => resolve()));
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([other, ended]);
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
}
