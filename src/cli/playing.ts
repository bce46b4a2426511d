import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAccount } from "viem";
import { withLookup } from "../runs/blocks.ts";
import { KEPT_BYTES } from "../runs/executions.ts";
import { FastExecutors } from "../runs/fastExecutors.ts";
import type { ExecutionQueue } from "../runs/executionQueue.ts";
import { Health } from "../base/health.ts";
import { STORED_BYTES } from "../runs/storedRuns.ts";
import type { RoleOptions } from "../parties/role/role.ts";
import { selfTestExecutor } from "../executor/selfTest.ts";
import { requirePackages } from "../base/optionalPackage.ts";
import { requireTriedPlatform, thisPlatform } from "../base/platform.ts";
import { accountSettings, CACHE_FOLDER, sessionFrom } from "./chainSettings.ts";
import { SharedRuns } from "../runs/fleet/sharedRuns.ts";
import { deviceSettings, deviceEvents, openDevice } from "./deviceSettings.ts";
import { fleetSettings, openExecutionQueue, openStore, snapshotSecret } from "./fleetSettings.ts";
import { loadAccount } from "./keys.ts";
import { createLogger, type Logger } from "../base/log.ts";
import type { ProgramLibrary } from "../runs/programLibrary.ts";
import type { ModelSpec } from "../compiler/wraps/modelSpec.ts";
import { openLibrary } from "../runs/programs/openLibrary.ts";
import { throughOutages, type OutageOptions } from "../parties/requester/outages.ts";
import { withoutPaths } from "../base/redact.ts";
import { UsageError } from "./errors.ts";
import { readModels } from "./models.ts";
import { Monitor, type CountedEvent } from "./monitor.ts";
import type { Output } from "./output.ts";
import { list, oneOf, filePath, fileOrUrl, port, positive, whole } from "./parse.ts";
import { defaulted, optional, required, toggle, type SettingValues } from "./settings.ts";
import { untilStopped } from "./stop.ts";
import { version } from "./version.ts";
import { cacheProblem } from "./folders.ts";

const MIB = 2 ** 20;
const logLevel = oneOf("trace", "debug", "info", "warn", "error");
const guess = oneOf("none", "lookup");

/** Milliseconds between checks for ending rounds, and between repeated logs of open problems. */
const TICK_MS = 15_000;

/** The settings that a worker and a watcher share. */
export const playerSettings = {
  ...accountSettings,
  models: required("file", "JSON array of {path, shapes, uint8}: the models to serve or to judge", filePath),
  interval: defaulted("seconds", "pause between rounds", positive, 4),
  cache: defaulted(
    "folder",
    "what a restart need not do again; may be deleted, but for inputs-* while claims on their jobs are open",
    filePath,
    CACHE_FOLDER,
  ),
  keepMib: defaulted("n", "MiB of executions kept in memory for games", whole(0), KEPT_BYTES / MIB),
  snapshotMib: defaulted(
    "n",
    "MiB of runs kept in that folder, for games about their items",
    whole(0),
    STORED_BYTES / MIB,
  ),
  catalogue: optional<string>("source", "file or https URL of models that may be fetched for jobs", fileOrUrl, "none"),
  licences: optional<string[]>("names", "licences of such models, comma-separated", list, "all"),
  fetchMib: defaulted("n", "MiB of models fetched, at most, until the process ends", positive, 2_048),
  monitorPort: optional<number>("port", "serve /healthz, /readyz and /metrics on 127.0.0.1", port, "none"),
  logLevel: defaulted("level", "trace, debug, info, warn or error", logLevel, "info"),
  guess: defaulted(
    "kind",
    "what is expected of the text being written: lookup in the text so far, or none",
    guess,
    "lookup",
  ),
  untriedPlatform: toggle("run where nobody has tried Refute, at your own risk"),
  ...deviceSettings,
  ...fleetSettings,
};

type PlayerSettings = SettingValues<typeof playerSettings>;

/** The time that the first round waits for programs in the cache. Slower programs are known in a later round. */
const CACHE_WAIT_MS = 1_000;

const UNUSED_KEY = "the key in REFUTE_PRIVATE_KEY is not used, because";

/** The command of each role, and the role's further packages. */
const ROLES = {
  worker: { words: "worker", packages: [] },
  watcher: { words: "watcher", packages: [] },
  serve: { words: "tickets serve", packages: ["tiny-secp256k1"] },
  gateway: { words: "text gateway", packages: ["tiny-secp256k1", "@huggingface/jinja"] },
} as const;

/** How long a role waits at its start for an answer: a node and a role of one machine start together. */
const START_WAIT_MS = 5 * 60_000;

/** Repeats what a role does at its start, while no node answers. */
type AtStart = <T>(action: () => Promise<T>) => Promise<T>;

/** How long a role that ends waits for snapshots that are being written to the store: they are a cache. */
const SHARE_WAIT_MS = 10_000;

/**
 * Opens the models and the session, and runs a worker or a watcher until a stop signal. Models that must be compiled
 * are known later: games do not wait for them.
 * @param role The role's name, for the metrics.
 */
export async function play(
  role: keyof typeof ROLES,
  settings: PlayerSettings,
  { mode }: Output,
  run: (options: RoleOptions<CountedEvent>, atStart: AtStart) => Promise<void>,
): Promise<void> {
  const log = createLogger(mode.quiet ? "error" : settings.logLevel);
  if (!settings.untriedPlatform)
    requireTriedPlatform(thisPlatform(), "try it at your own risk with --untried-platform");
  const fleet = settings.queue === undefined ? [] : ["bullmq", "ioredis"];
  const { words, packages } = ROLES[role];
  requirePackages(["onnxruntime-node", ...fleet, ...packages], `refute ${words}`);
  const specs = readModels(settings.models);
  for (const { path } of specs) requireFile(path);
  // Before the self test, which takes seconds: a wrong password is known at once.
  const account = await loadAccount(settings);
  const { keystore, signer } = settings;
  if ((keystore ?? signer) !== undefined && (process.env.REFUTE_PRIVATE_KEY ?? "") !== "")
    log.warn({ account: account.address }, `${UNUSED_KEY} ${signer === undefined ? "--keystore" : "--signer"} is used`);
  const uncached = cacheProblem(settings.cache);
  if (uncached !== undefined) log.warn(uncached);
  log.info("self test begins");
  log.info(await selfTestExecutor(), "self test passed");
  const onStop = (): void => log.info("stopping after this round; once more to stop at once");
  await untilStopped(onStop, (signal) => playUntil(signal, { role, settings, specs, account, log }, run));
}

type Player = {
  role: string;
  settings: PlayerSettings;
  specs: readonly ModelSpec[];
  account: LocalAccount;
  log: Logger;
};

async function playUntil(
  signal: AbortSignal,
  { role, settings, specs, account, log }: Player,
  run: (options: RoleOptions<CountedEvent>, atStart: AtStart) => Promise<void>,
): Promise<void> {
  // Whatever ends the loop ends the compiling.
  const ended = new AbortController();
  const models = {
    specs,
    cache: settings.cache,
    catalogue: catalogueOf(settings),
    log,
    signal: AbortSignal.any([signal, ended.signal]),
  };
  const { library, cached, close } = await openLibrary(models);
  const executors = new FastExecutors();
  const health = new Health(log);
  const intervalMs = settings.interval * 1_000;
  const monitor = new Monitor(health, intervalMs);
  const ticking = setInterval(() => {
    reportProblems(health, library);
    monitor.tick();
  }, TICK_MS).unref();
  const { onRound, onEvent, meter } = monitor;
  let device: Awaited<ReturnType<typeof openDevice>> | undefined;
  let queue: ExecutionQueue | undefined;
  let sharedRuns: SharedRuns | undefined;
  try {
    // First: a supervisor asks while no node answers too, and a taken port ends the process at once.
    if (settings.monitorPort !== undefined)
      log.info({ port: await monitor.listen(settings.monitorPort) }, "monitor listens");
    const secret = snapshotSecret(settings.snapshotKey, settings.store);
    device = await openDevice(settings, executors.execute, deviceEvents(settings, { health, monitor, log }));
    const here = settings.guess === "lookup" ? withLookup(device.execute) : device.execute;
    queue = await openExecutionQueue(settings, here, { health, meter, log });
    const patience = { signal, intervalMs, maxMs: START_WAIT_MS, onOutage: outageLog(log) };
    const atStart: AtStart = (action) => throughOutages(action, patience);
    const session = await atStart(() => sessionFrom(settings, monitor.onRpcFailure, account));
    const { store } = settings;
    monitor.about({ role, version: version(), chain: String(settings.chainId), market: session.deployment.market });
    sharedRuns = store === undefined ? undefined : await SharedRuns.open(openStore(store), account, log, secret);
    health.set("executes", undefined);
    await Promise.race([cached, sleep(CACHE_WAIT_MS, undefined, { ref: false })]);
    reportProblems(health, library);
    const { keepMib, snapshotMib, cache: cacheFolder, atOnce } = settings;
    const kept = { keptBytes: keepMib * MIB, storedBytes: snapshotMib * MIB, cacheFolder, sharedRuns };
    const callbacks = { onRound, onEvent, health, meter, clock: () => Date.now() / 1_000 };
    const options = { session, programs: library, execute: queue.execute, signal, intervalMs, log, atOnce };
    await run({ ...options, ...kept, ...callbacks }, atStart);
  } catch (error) {
    // A role stopped during its wait at the start ends well.
    if (!signal.aborted || error !== signal.reason) throw error;
  } finally {
    clearInterval(ticking);
    await monitor.close();
    await sharedRuns?.close(SHARE_WAIT_MS);
    ended.abort();
    await close();
    await queue?.close();
    await device?.close();
    await executors.close();
  }
}

/** Says in a log that no node answers at the start, and that one does. */
const outageLog =
  (log: Logger): NonNullable<OutageOptions["onOutage"]> =>
  (error) => {
    if (error === undefined) return log.info("there is an answer");
    const reason = withoutPaths(error.message);
    log.warn({ code: error.code, reason }, `no answer at the start: waits for one, ${START_WAIT_MS / 60_000} minutes`);
  };

/** Reports which requested models cannot be used, or are not compiled yet. */
function reportProblems(health: Health, library: ProgramLibrary): void {
  const reason = [...library.problems, ...library.pending].join("; ");
  health.set("programs", reason === "" ? undefined : { reason });
}

const catalogueOf = ({ catalogue, licences, fetchMib }: PlayerSettings) =>
  catalogue === undefined ? undefined : { source: catalogue, licences, fetchBytes: fetchMib * MIB };

/** @throws UsageError if a model's file is missing: a wrong path is found at the start. */
export function requireFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new UsageError(`the models file names ${path}, which is no file that can be read`);
}
