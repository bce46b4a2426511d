/**
 * The process for compiling one model, separate from the game-playing loop. A compilation blocks its thread until the
 * end, and may take any amount of memory. `compileApart` starts this process.
 */
import { once } from "node:events";
import { constants as os, setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { compile } from "../../compiler/compile.ts";
import { RefuteError } from "../../base/errors.ts";
import { cacheKey } from "./cacheKey.ts";
import type { CompileAnswer, CompileJob } from "./compileJob.ts";
import { loadModel } from "../../compiler/wraps/modelSpec.ts";
import { ProgramCache } from "./programCache.ts";

/**
 * Guards the process during its first thread's compilation: ends the process if memory exceeds the limit, or if nobody
 * waits for it.
 */
const GUARD = `
  const { workerData, parentPort } = require("node:worker_threads");
  const { writeSync } = require("node:fs");
  const parent = process.ppid;
  const look = () => {
    const { rss } = process.memoryUsage();
    if (rss > workerData.maxBytes)
      writeSync(2, "it holds " + Math.round(rss / 2 ** 20) + " MiB, at most " + workerData.maxBytes / 2 ** 20);
    if (rss > workerData.maxBytes || process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  };
  look();
  setInterval(look, 100);
  parentPort.postMessage("ready");
`;

async function compileOne({ spec, folders, expectedRoot }: CompileJob): Promise<CompileAnswer> {
  const key = await cacheKey(spec);
  const files: string[] = [];
  const loaded = loadModel(spec, (path) => files.push(path));
  const model = compile(loaded.model, { ...spec, run: loaded.run });
  if (expectedRoot !== undefined && model.programRoot !== expectedRoot)
    return { kind: "other root", root: model.programRoot };
  if (loaded.decoder !== undefined) {
    // Other models need no executor, and the process loads none.
    const { checkDecoder } = await import("../../native/plain/decoder/checkDecoder.ts");
    await checkDecoder(spec.path, model, loaded.decoder, loaded);
  }
  if ((await cacheKey(spec)) !== key)
    return { kind: "refused", code: "MODEL_FILE", reason: `${spec.path} changed while it was compiled` };
  let unwritable: string | undefined;
  for (const folder of folders) {
    try {
      const cached = await new ProgramCache(folder).store(key, model, spec.path, files);
      return { kind: "done", cached, folder, ...(unwritable === undefined ? {} : { unwritable }) };
    } catch (error) {
      unwritable = (error as Error).message;
    }
  }
  return { kind: "refused", code: "CACHE", reason: `the compiled program cannot be stored: ${unwritable}` };
}

process.once("message", (job: CompileJob) => {
  void (async () => {
    // Executions and games come first.
    setPriority(os.priority.PRIORITY_LOW);
    const guard = new Worker(GUARD, { eval: true, workerData: { maxBytes: job.maxBytes }, execArgv: [] });
    await once(guard, "message");
    const answer = await compileOne(job).catch((error: unknown): CompileAnswer => {
      const { message } = error as Error;
      return { kind: "refused", code: error instanceof RefuteError ? error.code : "UNEXPECTED", reason: message };
    });
    process.send!(answer, () => process.exit(0));
  })();
});
