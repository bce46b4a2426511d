import { hostname } from "node:os";
import { Command } from "commander";
import { maxThreads } from "../../../executor/createExecutor.ts";
import { selfTestExecutor } from "../../../executor/selfTest.ts";
import { takeTasks } from "../../../runs/fleet/bullTasks.ts";
import { runExecutor } from "../../../runs/fleet/executor.ts";
import { FolderStore } from "../../../runs/fleet/folderStore.ts";
import { ThreadedExecutor } from "../../../runs/fleet/threadedExecutor.ts";
import { requirePackages } from "../../../base/optionalPackage.ts";
import { requireTriedPlatform, thisPlatform } from "../../../base/platform.ts";
import { Health } from "../../../base/health.ts";
import { createLogger, type Logger } from "../../../base/log.ts";
import { openLibrary } from "../../../runs/programs/openLibrary.ts";
import { deviceSettings, deviceEvents, openDevice } from "../../deviceSettings.ts";
import { openStore, queuePassword, queueUrl, logQueueErrors } from "../../fleetSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { readModels } from "../../models.ts";
import { Monitor } from "../../monitor.ts";
import type { Output } from "../../output.ts";
import { type Parse, fileOrUrl, seconds, unfit, whole } from "../../parse.ts";
import { playerSettings, requireFile } from "../../playing.ts";
import { addSettings, defaulted, readSettings, required, type SettingValues } from "../../settings.ts";
import { untilStopped } from "../../stop.ts";
import { cacheProblem } from "../../folders.ts";

const { models, cache, monitorPort, logLevel, untriedPlatform } = playerSettings;

/** An executor's name: a part of connection names, where servers take no spaces. */
const executorName: Parse<string> = (given, name) => {
  if (/^[\w.-]{1,100}$/.test(given)) return given;
  throw unfit(given, name, "up to 100 letters, digits, dots, hyphens and underscores");
};

const settings = {
  queue: required<string>("url", "server of Redis or Valkey; password: REFUTE_QUEUE_PASSWORD", queueUrl),
  store: required<string>("place", "folder that all machines share, or s3://bucket/prefix", fileOrUrl),
  models,
  name: defaulted("name", "of this executor, no other's", executorName, hostname(), "that of the machine"),
  threads: defaulted("n", "tasks at a time, each on a thread", whole(1), maxThreads(), "one for each processor, to 8"),
  lease: defaulted("seconds", "after which others take the tasks of an executor that is silent", seconds(5, 3_600), 30),
  keep: defaulted("seconds", "how long a folder keeps what is put there; 0: for ever", seconds(0), 172_800, "2d"),
  ...{ cache, monitorPort, logLevel, untriedPlatform },
  ...deviceSettings,
};

/**
 * Milliseconds between deletions of old files from a folder, and (`LOOK_MS`) between checks that the executor can work.
 */
const PRUNE_MS = 3_600_000;
const LOOK_MS = 5_000;

/** `refute fleet executor`: execute for workers and watchers on other machines, until stopped. */
export function executorCommand(output: Output): Command {
  const command = new Command("executor")
    .description("execute jobs for workers and watchers on other machines: one of a fleet; it needs no key")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const log = createLogger(output.mode.quiet ? "error" : values.logLevel);
      if (!values.untriedPlatform)
        requireTriedPlatform(thisPlatform(), "try it at your own risk with --untried-platform");
      requirePackages(["onnxruntime-node", "bullmq", "ioredis"], "refute fleet executor");
      log.info("self test begins");
      log.info(await selfTestExecutor(), "self test passed");
      const onStop = (): void => log.info("stopping after the tasks that were begun; once more to stop at once");
      await untilStopped(onStop, (signal) => executeUntil(signal, values, log));
    });
  return addExamples(
    addSettings(command, settings),
    "fleet executor --queue redis://queue.internal:6379 --store /mnt/refute --models models.json",
    "fleet executor --queue rediss://queue.internal:6379 --store s3://refute/tensors --models models.json --threads 8",
  );
}

async function executeUntil(signal: AbortSignal, values: SettingValues<typeof settings>, log: Logger): Promise<void> {
  const specs = readModels(values.models);
  for (const { path } of specs) requireFile(path);
  const uncached = cacheProblem(values.cache);
  if (uncached !== undefined) log.warn(uncached);
  const store = openStore(values.store);
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const { library, cached, close } = await openLibrary({ specs, cache: values.cache, log, signal: both });
  const executor = new ThreadedExecutor(values.threads);
  const health = new Health(log);
  const monitor = new Monitor(health, LOOK_MS);
  const prune = async (): Promise<void> => {
    if (store instanceof FolderStore && values.keep > 0) await store.prune(values.keep * 1_000);
  };
  let device: Awaited<ReturnType<typeof openDevice>> | undefined;
  const pruning = setInterval(() => void prune().catch(() => undefined), PRUNE_MS).unref();
  try {
    if (values.monitorPort !== undefined)
      log.info({ port: await monitor.listen(values.monitorPort) }, "monitor listens");
    device = await openDevice(values, executor.execute, deviceEvents(values, { health, monitor, log }));
    // Tasks of programs that are not known yet would go from hand to hand.
    await cached;
    const { queue: url, name, threads: atOnce, lease } = values;
    const source = { url, password: queuePassword(), onError: logQueueErrors(log), name, atOnce };
    await runExecutor({
      ...{ name, programs: library, store, execute: device.execute, health, meter: monitor.meter, log, signal },
      take: (handle) => takeTasks({ ...source, leaseMs: lease * 1_000 }, handle),
      lookMs: LOOK_MS,
      onLook: () => {
        const problems = [...library.problems, ...library.pending].join("; ");
        health.set("programs", problems === "" ? undefined : { reason: problems });
        monitor.onRound("done");
      },
    });
  } finally {
    clearInterval(pruning);
    ended.abort();
    await monitor.close();
    await close();
    await device?.close();
    await executor.close();
  }
}
