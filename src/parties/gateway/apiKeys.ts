import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { existsSync, statSync } from "node:fs";
import { parseEther } from "viem";
import { z } from "zod/v4";
import { readRegularFile } from "../../base/regularFile.ts";
import { writeWholeSync } from "../../base/writeWhole.ts";
import { ApiError, GatewayFileError } from "./errors.ts";

/** Who asks. */
export type ApiKey = {
  name: string;
  /** What the ledger counts under. */
  owner: string;
  /** What the key may spend in all, smallest units; undefined: without limit. */
  budget: bigint | undefined;
  /** Requests a minute; undefined: without limit. */
  perMinute: number | undefined;
};

const entrySchema = z
  .object({
    name: z.string().min(1).max(100),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    budget: z
      .string()
      .regex(/^\d{1,12}(\.\d{1,18})?$/)
      .optional(),
    perMinute: z.int().min(1).optional(),
  })
  .strict();
const fileSchema = z.array(entrySchema);
type Entry = z.infer<typeof entrySchema>;

const MAX_FILE = 2 ** 24;
const MINUTE_MS = 60_000;
const PREFIX = "sk-refute-";
/** How programs of this machine name the gateway. */
const LOCAL_HOST = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d{1,5})?$/i;

/** Who asks where no keys are needed: only programs of this machine reach the gateway. */
const LOCAL: ApiKey = { name: "local", owner: "local", budget: undefined, perMinute: undefined };

/** Makes a key, and adds its hash to a file. @returns the key, which is nowhere else */
export function addKey(path: string, entry: Omit<Entry, "sha256">): string {
  const key = PREFIX + randomBytes(32).toString("base64url");
  const entries = existsSync(path) ? readKeys(path) : [];
  if (entries.some(({ name }) => name === entry.name))
    throw new GatewayFileError(`${path} has a key named ${entry.name}: choose another name`);
  writeWholeSync(path, `${JSON.stringify([...entries, { ...entry, sha256: hashOf(key) }], undefined, 2)}\n`);
  return key;
}

const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex");

/** @throws GatewayFileError */
function readKeys(path: string): Entry[] {
  try {
    return fileSchema.parse(JSON.parse(Buffer.from(readRegularFile(path, MAX_FILE)).toString()));
  } catch (cause) {
    // What the file has instead may be keys: nothing of it is repeated.
    throw new GatewayFileError(`${path} is no list of keys: make it with refute text key`, { cause });
  }
}

/** The keys in a file. A changed file is read again. Keys themselves are kept nowhere. */
export class ApiKeys {
  readonly #path: string | undefined;
  readonly #times = new Map<string, number[]>();
  readonly #now: () => number;
  #read: { mtimeMs: number; entries: Entry[] } | undefined;

  /** @param path Undefined: whoever reaches the gateway may ask. @throws GatewayFileError */
  constructor(path: string | undefined, now: () => number = () => performance.now()) {
    [this.#path, this.#now] = [path, now];
    this.#entries();
  }

  /** Whether only holders of keys may ask. */
  get areNeeded(): boolean {
    return this.#path !== undefined;
  }

  /**
   * Finds who asks.
   * @throws ApiError for a missing or wrong key, status 401; without keys, for what a web page sends, status 403
   */
  identify({ authorization = "", origin, host = "" }: IncomingHttpHeaders): ApiKey {
    if (this.#path === undefined) {
      // SAFETY: a page in a browser of this machine reaches the gateway too. A page cannot leave its origin out of a
      // request with a body, and a page that renames its own server to this machine keeps the server's name as host.
      if (origin === undefined && LOCAL_HOST.test(host)) return LOCAL;
      throw new ApiError(
        403,
        "authentication_error",
        "web pages, and requests to another host, need a gateway with keys",
      );
    }
    const key = /^Bearer +(\S{1,200})$/i.exec(authorization)?.[1] ?? "";
    const given = createHash("sha256").update(key).digest();
    let found: Entry | undefined;
    // All of them, each in constant time: the time says nothing about any key.
    for (const entry of this.#entries()) if (timingSafeEqual(given, Buffer.from(entry.sha256, "hex"))) found = entry;
    if (found === undefined)
      throw new ApiError(401, "authentication_error", "the API key is missing or wrong", { reason: "invalid_api_key" });
    const { name, sha256, budget, perMinute } = found;
    return { name, owner: sha256, budget: budget === undefined ? undefined : parseEther(budget), perMinute };
  }

  /** Counts a request. @throws ApiError if there were too many in the last minute, status 429 */
  count({ owner, perMinute }: ApiKey): void {
    if (perMinute === undefined) return;
    const now = this.#now();
    const times = (this.#times.get(owner) ?? []).filter((time) => time > now - MINUTE_MS);
    if (times.length >= perMinute)
      throw new ApiError(429, "rate_limit_error", `this key may ask ${perMinute} times a minute`, {
        reason: "rate_limit_exceeded",
      });
    this.#times.set(owner, [...times, now]);
  }

  #entries(): Entry[] {
    if (this.#path === undefined) return [];
    const mtimeMs = statSync(this.#path, { throwIfNoEntry: false })?.mtimeMs ?? -1;
    if (this.#read?.mtimeMs !== mtimeMs) this.#read = { mtimeMs, entries: readKeys(this.#path) };
    return this.#read.entries;
  }
}
