import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from "viem";
import { detailsMatch } from "./refusals.ts";

/** Maximum of blocks in one request. */
const MAX_SPAN = 2_000n;

/** Requests at the largest accepted span before a longer span is tried. The number doubles with each try. */
const FIRST_PAUSE = 64;
const MAX_PAUSE = 65_536;

/** Requests at a span cut for too many logs, before a span twice as long is tried. */
const DENSE_REQUESTS = 8;

/**
 * Why a node refused a request for logs.
 * - `span`: too many blocks; `named` lists numbers in the node's message that may be the limit.
 * - `logs`: too many logs, or too much time: the refusal tells nothing about other blocks.
 * - `behind`: the node lacks some of the blocks.
 */
type SpanRefusal = { kind: "span"; named: readonly bigint[] } | { kind: "logs" } | { kind: "behind" };

/** Providers' codes for too many requests in a time. */
const TOO_MANY_REQUESTS: readonly number[] = [429, -32_007];
const RATE = /rate.?limit|too many requests|request (count|rate)|requests per/i;
const BEHIND =
  /beyond (the )?(current|latest)? ?head|after last accepted|(unknown|future) block|(header|block) not found/i;
const LOGS = new RegExp(
  [
    /(more than|exceed\w*|over|max\w*|limit( of)?|too many) ?[\d,_]* ?(results|logs|events)\b/,
    /(response|result|body)( size| is)? ?(exceed|too|limit)/,
    /time(d|out)? ?out|took too long|deadline exceeded/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);

/** Words about a request's blocks. */
const SPAN =
  /\brange|\bspan|too (many|large|wide|long|big|far)|limited to|(block|filter|query|search).{0,40}(limit|exceed)/i;

/** Patterns for a block limit in a node's message: "a 1000 block range", "maximum block range: 10", "a 2K block". */
const NAMED = [
  /(?<![\dx,_])([\d,_]+)(k)?[ -]blocks?\b/gi,
  /(?:max(?:imum)?|limit(?:ed)?|up to|range)\D{0,30}?(?<!x)([\d,_]+)(k)?\b/gi,
];

/**
 * Why a node refused a request for logs.
 * @returns undefined if a request for less would not help either
 */
export function refusalOf(error: unknown): SpanRefusal | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const isLarge = (e: unknown): boolean =>
    e instanceof TimeoutError || (e as Error).name === "ResponseBodyTooLargeError";
  if (error.walk(isLarge) !== null) return { kind: "logs" };
  const answer = error.walk(
    (e) => e instanceof RpcRequestError || (e instanceof HttpRequestError && e.status !== undefined),
  );
  if (!(answer instanceof RpcRequestError || answer instanceof HttpRequestError)) return undefined;
  const words = answer.details ?? "";
  const code = answer instanceof RpcRequestError ? answer.code : answer.status!;
  if (TOO_MANY_REQUESTS.includes(code) || RATE.test(words)) return undefined;
  if (BEHIND.test(words)) return { kind: "behind" };
  if (LOGS.test(words)) return { kind: "logs" };
  const named = NAMED.flatMap((pattern) => [...words.matchAll(pattern)]).map(
    ([, digits = "", k]) => BigInt(digits.replaceAll(/[,_]/g, "")) * (k === undefined ? 1n : 1_000n),
  );
  return { kind: "span", named };
}

/** Whether a node's words are about the blocks or the logs of a request, rather than about itself. */
export function isLogLimit(error: unknown): boolean {
  const refusal = refusalOf(error);
  return (
    refusal?.kind === "logs" || (refusal?.kind === "span" && (refusal.named.length > 0 || detailsMatch(error, SPAN)))
  );
}

/**
 * How many blocks a node takes in one request for logs, learnt from accepted and refused requests. Several nodes with
 * different limits may share an address: the lowest limit is then found.
 */
export class SpanLimit {
  /** The longest accepted span, and the shortest refused span. */
  #taken = 0n;
  #refused: bigint | undefined;
  /** The span that all nodes accepted for some time before the current try, and the longer span now tried. */
  #sure = 0n;
  #probe: bigint | undefined;
  /** Requests until a longer span is tried, and how many they will be the next time. */
  #left = FIRST_PAUSE;
  #pause = FIRST_PAUSE;
  /** A span accepted where logs are dense, and for how many more requests it applies. */
  #dense: { span: bigint; left: number } | undefined;

  /** The longest span to ask for. */
  get span(): bigint {
    if (this.#refused === undefined) return MAX_SPAN;
    const between = this.#refused - this.#taken;
    // A limit known to within an eighth suffices: each further try would bring another refusal.
    return between === 1n || between <= this.#taken / 8n ? this.#taken : this.#taken + between / 2n;
  }

  /** Whether as many blocks, or the longest span to ask for, were taken before. */
  isTried(blocks = MAX_SPAN): boolean {
    return (blocks < this.span ? blocks : this.span) <= this.#taken;
  }

  /** The blocks to ask for next. @param wanted At most as many. */
  next(wanted: bigint): bigint {
    // Limits may rise. The tries become rarer, and hardly any request is refused.
    if (this.#refused !== undefined && this.#dense === undefined && this.#left <= 0 && wanted >= this.#refused) {
      this.#pause = Math.min(2 * this.#pause, MAX_PAUSE);
      this.#left = this.#pause;
      this.#sure = this.#taken;
      this.#probe = this.#refused;
      return this.#probe;
    }
    const span = this.#dense !== undefined && this.#dense.span < this.span ? this.#dense.span : this.span;
    return span < wanted ? span : wanted;
  }

  /** A request for so many blocks was answered. */
  accepted(blocks: bigint): void {
    if (blocks >= this.span) this.#left--;
    if (blocks === this.#probe) [this.#probe, this.#refused] = [undefined, undefined];
    // Another node refused any span refused meanwhile.
    if (blocks > this.#taken && (this.#refused === undefined || blocks < this.#refused)) this.#taken = blocks;
    if (this.#dense === undefined || --this.#dense.left > 0) return;
    const span = 2n * this.#dense.span;
    this.#dense = span < MAX_SPAN ? { span, left: DENSE_REQUESTS } : undefined;
  }

  /**
   * Notes that a node refused a request for too many blocks.
   * @param named Possible limits. Only limits below the requested number count.
   */
  refused(blocks: bigint, named: readonly bigint[] = []): void {
    const limit = named.find((n) => n > 0n && n < blocks);
    const refused = limit === undefined ? blocks : limit + 1n;
    if (this.#refused === undefined || refused < this.#refused) this.#refused = refused;
    if (blocks === this.#probe) this.#probe = undefined;
    if (blocks <= this.#sure) this.#sure = 0n;
    if (limit !== undefined && refused === this.#refused) this.#taken = limit;
    else if (blocks <= this.#taken) {
      // Another node takes more than this one: back to what all took.
      this.#taken = this.#sure;
      if (this.#sure > 0n) this.#refused = this.#sure + 1n;
    }
    this.#left = this.#pause;
  }

  /** A request for so many blocks was refused for their logs. */
  tooManyLogs(blocks: bigint): void {
    const half = blocks / 2n;
    const span = this.#dense !== undefined && this.#dense.span < half ? this.#dense.span : half;
    this.#dense = { span, left: DENSE_REQUESTS };
  }

  /**
   * Notes that even a single block was refused. The node had another problem, and the refusals before were no limit.
   */
  forget(): void {
    [this.#taken, this.#refused, this.#sure] = [0n, undefined, 0n];
    [this.#probe, this.#dense] = [undefined, undefined];
    [this.#left, this.#pause] = [FIRST_PAUSE, FIRST_PAUSE];
  }
}
