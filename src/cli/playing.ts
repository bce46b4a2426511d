import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { KEPT_BYTES } from "../player/executions.ts";
import { FastExecutors } from "../player/fastExecutors.ts";
import { Health, problemOf } from "../player/health.ts";
import type { RoleOptions } from "../player/role.ts";
import { selfTestExecutor } from "../executor/selfTest.ts";
import { requireTriedPlatform, thisPlatform } from "../platform.ts";
import { chainShape, sessionFrom } from "./chainSettings.ts";
import { createLogger } from "../player/log.ts";
import { loadProgram, readModels } from "./models.ts";
import { Monitor, type CountedEvent } from "./monitor.ts";
import { stopSignal } from "./stop.ts";

const MIB = 2 ** 20;
/** How often is looked whether rounds still end, and what is wrong is logged again. */
const TICK_MS = 15_000;
/** Where caches lie if nothing else is said: the user's folder for them (XDG Base Directory Specification). */
const CACHE_FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "refute");

/** The settings that a worker and a watcher share. */
export const playerShape = {
  ...chainShape,
  models: z.string(),
  /** Folder of what is found again faster after a restart. It may be deleted at any time. */
  cache: z.string().min(1).default(CACHE_FOLDER),
  interval: z.coerce.number().positive().default(4),
  /** MiB of executions that are kept in memory. */
  keepMib: z.coerce
    .number()
    .nonnegative()
    .default(KEPT_BYTES / MIB),
  /** Whether to stake money on a system on which nobody has tried Refute. */
  untriedPlatform: z
    .union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")])
    .default(false),
  /** Port of /healthz, /readyz and /metrics on 127.0.0.1; none if left out. */
  monitorPort: z.coerce.number().int().min(0).max(65_535).optional(),
};

type PlayerSettings = z.infer<z.ZodObject<typeof playerShape>>;

/** Compiles the models, opens the session, and runs a worker or a watcher until a stop signal. */
export async function play(
  settings: PlayerSettings,
  run: (options: RoleOptions<CountedEvent>) => Promise<void>,
): Promise<void> {
  const log = createLogger(settings.logLevel);
  if (!settings.untriedPlatform)
    requireTriedPlatform(thisPlatform(), "try it at your own risk with --untried-platform");
  log.info(await selfTestExecutor(), "self test passed");
  const programs = readModels(settings.models).map(loadProgram);
  const session = await sessionFrom(settings);
  const executors = new FastExecutors();
  const signal = stopSignal(() => log.info("stopping after this round; once more to stop at once"));
  const intervalMs = settings.interval * 1_000;
  const health = new Health(log);
  const monitor = new Monitor(health, intervalMs);
  const ticking = setInterval(() => monitor.tick(), TICK_MS).unref();
  health.set("executes", undefined);
  const { onRound, onEvent, meter } = monitor;
  if (settings.monitorPort !== undefined)
    log.info({ port: await monitor.listen(settings.monitorPort) }, "monitor listens");
  const kept = { keptBytes: settings.keepMib * MIB, cacheFolder: settings.cache };
  const callbacks = { onRound, onEvent, health, meter };
  await run({ session, programs, execute: executors.execute, ...kept, signal, intervalMs, log, ...callbacks });
  clearInterval(ticking);
  await monitor.close();
  await executors.close();
}
