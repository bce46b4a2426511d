import { FleetExecutions, AGAIN_SHARE } from "../runs/fleet/fleetExecutions.ts";
import { BullTasks } from "../runs/fleet/bullTasks.ts";
import type { BlobStore } from "../runs/fleet/blobStore.ts";
import { FolderStore } from "../runs/fleet/folderStore.ts";
import { S3Store } from "../runs/fleet/s3Store.ts";
import { EmbeddedQueue, type ExecutionQueue } from "../runs/executionQueue.ts";
import type { Meter } from "../runs/figures.ts";
import type { Health } from "../base/health.ts";
import type { Logger } from "../base/log.ts";
import { readRegularFile } from "../base/regularFile.ts";
import { UsageError } from "./errors.ts";
import { type Parse, filePath, fileOrUrl, share, whole } from "./parse.ts";
import { s3Keys } from "./s3Keys.ts";
import { defaulted, optional, type SettingValues } from "./settings.ts";
import type { Execute } from "../runs/execute.ts";

/** The URL of a Redis or Valkey server. Other users of the machine would see a password in the URL. */
export const queueUrl: Parse<string> = (given, name) => {
  const expected = "expected redis://host:port/number, or rediss:// for TLS";
  if (!URL.canParse(given)) throw new UsageError(`${name} is no URL: ${expected}`);
  const { protocol, password, search } = new URL(given);
  if (password !== "" || search !== "")
    throw new UsageError(`${name} has a password or a query: set REFUTE_QUEUE_PASSWORD instead`);
  if (protocol !== "redis:" && protocol !== "rediss:")
    throw new UsageError(`${name} has the protocol ${protocol.slice(0, -1)}: ${expected}`);
  return given;
};

/** Where a worker or a watcher has jobs executed. */
export const fleetSettings = {
  queue: optional<string>(
    "url",
    "have other machines execute (refute fleet executor), by a server of Redis or Valkey; " +
      "password: REFUTE_QUEUE_PASSWORD",
    queueUrl,
    "execute in this process",
  ),
  store: optional<string>(
    "place",
    "folder that all of them share, or s3://bucket/prefix, with the AWS_ variables of Amazon's tools",
    fileOrUrl,
    "none",
  ),
  againShare: defaulted("share", "of their executions that others repeat, 0 to 1", share, AGAIN_SHARE),
  snapshotKey: optional<string>(
    "file",
    "32 bytes or more, the same on all machines of the account: protects snapshots in the store",
    filePath,
    "a signature of the account, which must be the same each time",
  ),
  atOnce: defaulted("n", "jobs that are executed at a time: more than one for several machines", whole(1), 1),
};

/** Opens a store. @throws UsageError if a variable needed by the store is missing */
export function openStore(place: string, env: NodeJS.ProcessEnv = process.env): BlobStore {
  if (!place.startsWith("s3://")) return new FolderStore(place);
  const [, bucket = "", path = ""] = /^s3:\/\/([a-z0-9.-]+)\/?(.*)$/.exec(place) ?? [];
  if (bucket === "") throw new UsageError(`--store ${place}: expected s3://bucket/prefix`);
  return new S3Store({
    bucket,
    prefix: path === "" || path.endsWith("/") ? path : `${path}/`,
    endpoint: env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL,
    ...s3Keys(`--store ${place}`, env),
  });
}

/** A file with a secret has at least so many bytes, and no more than these. */
const SECRET_BYTES = { min: 32, max: 2 ** 16 };

/** Returns the secret that protects run snapshots in a store, if the operator gives a secret. @throws UsageError */
export function snapshotSecret(path: string | undefined, store: string | undefined): Uint8Array | undefined {
  if (path === undefined) return undefined;
  if (store === undefined) throw new UsageError("--snapshot-key also needs --store, where snapshots are");
  const refused = (why: string, cause?: unknown): UsageError =>
    new UsageError(`--snapshot-key ${path}: the file ${why}; make one with: openssl rand -hex 32`, { cause });
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(path, SECRET_BYTES.max);
  } catch (error) {
    throw refused((error as Error).message, error);
  }
  const text = new TextDecoder().decode(bytes);
  // An editor may end it with a line feed, or not.
  const secret = /^[\x20-\x7e\s]*$/.test(text) ? new TextEncoder().encode(text.trimEnd()) : bytes;
  if (secret.length < SECRET_BYTES.min) throw refused(`has ${secret.length} bytes of ${SECRET_BYTES.min} at least`);
  return secret;
}

/** Returns a queue's password. */
export const queuePassword = (env: NodeJS.ProcessEnv = process.env): string | undefined => env.REFUTE_QUEUE_PASSWORD;

/** Says once in a minute at most that a queue's connection failed. */
export function logQueueErrors(log: Logger): (error: Error) => void {
  let last = -Infinity;
  return ({ message }) => {
    if (Date.now() - last < 60_000) return;
    last = Date.now();
    log.warn({ reason: message }, "the queue's connection failed; it is made again");
  };
}

/**
 * Where executions go by the settings.
 * @throws UsageError; MissingPackageError if the packages of the queue are not installed
 */
export async function openExecutionQueue(
  { queue, store, againShare }: Omit<SettingValues<typeof fleetSettings>, "atOnce" | "snapshotKey">,
  here: Execute,
  beside: { health: Health; meter: Meter; log: Logger },
): Promise<ExecutionQueue> {
  const embedded = new EmbeddedQueue(here);
  if ((queue === undefined) !== (store === undefined))
    throw new UsageError("--queue and --store go together: give both, or neither");
  if (queue === undefined) return embedded;
  const blobs = openStore(store!);
  const tasks = await BullTasks.open({ url: queue, password: queuePassword(), onError: logQueueErrors(beside.log) });
  return new FleetExecutions({ tasks, store: blobs, here: embedded.execute, againShare, ...beside });
}
