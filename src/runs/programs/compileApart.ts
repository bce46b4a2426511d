import { forkBeside } from "../../base/forkBeside.ts";
import { CompileProcessError } from "../errors.ts";
import type { CompileAnswer, CompileJob } from "./compileJob.ts";

/** The limits of a compiling process. */
export type ProcessLimits = { seconds: number; maxBytes: number };

/** How many characters of the process's output a failure's error contains. */
const PRINTED = 500;

/**
 * Compiles a model in a separate process, and stores the program.
 * @param signal Ends the process.
 * @throws CompileProcessError, which names the model, if the process crashes or exceeds its limits
 */
export async function compileApart(
  job: Omit<CompileJob, "maxBytes">,
  { seconds, maxBytes }: ProcessLimits,
  signal: AbortSignal,
): Promise<CompileAnswer> {
  const { path } = job.spec;
  if (signal.aborted) throw new CompileProcessError(`compiling ${path} was given up: this process stops`);
  const memory = `--max-old-space-size=${Math.ceil(maxBytes / 2 ** 20)}`;
  const child = forkBeside(import.meta.url, "compileChild", [memory]);
  let printed = "";
  child.stderr!.on("data", (text: Buffer) => void (printed = (printed + text.toString()).slice(-PRINTED)));
  let answer: CompileAnswer | undefined;
  let ended: string | undefined;
  const end = (why: string) => () => {
    ended = why;
    child.kill("SIGKILL");
  };
  const onStop = end("was given up: this process stops");
  const timer = setTimeout(end(`took longer than ${seconds} s`), seconds * 1_000);
  signal.addEventListener("abort", onStop);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("message", (message) => void (answer = message as CompileAnswer));
      child.once("error", reject);
      child.once("close", (code, killedBy) => {
        ended ??= `ended with ${killedBy ?? code}: ${printed.trim().replaceAll(/\s+/g, " ")}`;
        resolve();
      });
      child.send({ ...job, maxBytes }, (error) => error && (printed += error.message));
    });
  } catch (cause) {
    throw new CompileProcessError(`compiling ${path}: no process: ${(cause as Error).message}`, { cause });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onStop);
  }
  if (answer === undefined) throw new CompileProcessError(`compiling ${path} ${ended}`);
  return answer;
}
