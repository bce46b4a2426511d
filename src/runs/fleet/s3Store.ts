import type { AwsClient } from "aws4fetch";
import { s3Client, type S3Keys } from "../../base/s3Client.ts";
import { requireName, type BlobStore } from "./blobStore.ts";
import { StoreCorruptError, StoreError, StoreFullError } from "./errors.ts";

/** Where a bucket is, and who asks. */
type S3Options = S3Keys & {
  bucket: string;
  /** Before the names of objects; empty, or `folder/`. */
  prefix: string;
  /** The server's URL, for servers with the S3 protocol (MinIO, for example); without a URL, Amazon's. */
  endpoint?: string | undefined;
  /** Time limit of a request, in milliseconds, plus the time for its bytes at 1 MB a second. */
  timeoutMs?: number;
};

const TIMEOUT_MS = 60_000;
const BYTES_A_MS = 1_000;

/** Tries for a request that gets a temporary refusal (5xx, 429) or no answer. */
const TRIES = 4;
const FIRST_PAUSE_MS = 100;

/** Signs of a full store in a server's answer: HTTP 507, or one of these codes. */
const FULL = /<Code>(?:XMinioStorageFull|QuotaExceeded|InsufficientStorage|EntityTooLarge)<\/Code>/;

/** Size limit for an error answer: an XML document of some hundred bytes. */
const MAX_ERROR_TEXT = 4_096;

/** A store in a bucket of S3, or of another server with the S3 protocol. */
export class S3Store implements BlobStore {
  readonly name: string;
  readonly #url: string;
  readonly #client: AwsClient;
  readonly #timeoutMs: number;

  constructor(options: S3Options) {
    const { bucket, prefix, endpoint } = options;
    const host = endpoint?.replace(/\/+$/, "") ?? `https://s3.${options.region}.amazonaws.com`;
    this.name = `s3://${bucket}/${prefix}`;
    this.#url = `${host}/${bucket}/${prefix}`;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#client = s3Client(options);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#ask("PUT", name, bytes);
  }

  async get(name: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    return this.#ask("GET", name, undefined, maxBytes, signal);
  }

  async has(name: string): Promise<boolean> {
    return (await this.#ask("HEAD", name)) !== undefined;
  }

  async delete(name: string): Promise<void> {
    await this.#ask("DELETE", name);
  }

  /** @returns What the answer holds; undefined if there is no such object. */
  async #ask(
    method: string,
    name: string,
    body?: Uint8Array,
    maxBytes = 0,
    stop?: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    requireName(name);
    for (let tries = 1, pause = FIRST_PAUSE_MS; ; tries++, pause *= 2) {
      const answer = await this.#askOnce(method, name, body, maxBytes, stop);
      if (!("reason" in answer)) return answer.bytes;
      if (!answer.mayPass || tries === TRIES || stop?.aborted === true)
        throw new StoreError(`${this.name} does not answer ${method}: ${answer.reason}`, { cause: answer.cause });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #askOnce(
    method: string,
    name: string,
    body: Uint8Array | undefined,
    maxBytes: number,
    stop: AbortSignal | undefined,
  ): Promise<Answer> {
    let response: Response;
    try {
      const late = AbortSignal.timeout(this.#timeoutMs + Math.ceil((body?.length ?? maxBytes) / BYTES_A_MS));
      const signal = stop === undefined ? late : AbortSignal.any([late, stop]);
      const sent = body && { body: body as Uint8Array<ArrayBuffer> };
      response = await this.#client.fetch(this.#url + name, { method, signal, ...sent });
      if (response.ok) return { bytes: method === "GET" ? await bodyOf(response, name, maxBytes) : NOTHING };
    } catch (cause) {
      if (cause instanceof StoreCorruptError) throw cause;
      const { code } = ((cause as Error).cause ?? {}) as { code?: string };
      return { reason: code ?? (cause as Error).message, mayPass: true, cause };
    }
    const { status } = response;
    const text = (await response.text().catch(() => "")).slice(0, MAX_ERROR_TEXT);
    if (status === 404 && method !== "PUT" && !text.includes("NoSuchBucket")) return { bytes: undefined };
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1];
    const reason = `HTTP ${status}${code === undefined ? "" : ` (${code})`}`;
    if (status === 507 || FULL.test(text)) throw new StoreFullError(`${this.name} has no room: ${reason}; free some`);
    return { reason, mayPass: status >= 500 || status === 429 };
  }
}

type Answer = { bytes: Uint8Array | undefined } | { reason: string; mayPass: boolean; cause?: unknown };

const NOTHING = new Uint8Array(0);

/** Reads the bytes of an answer. @throws StoreCorruptError if the answer exceeds the maximum */
async function bodyOf(response: Response, name: string, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > maxBytes) throw new StoreCorruptError(`${name} is larger than it can be`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
