import { forkBeside } from "../../base/forkBeside.ts";
import { MissingPackageError } from "../../base/optionalPackage.ts";
import type { TensorData } from "../../model/onnx/model.ts";
import { PlainRefusalError } from "./plainRun.ts";

/** A run for a process of its own. */
export type PlainJob = {
  /** The path of a model's file, or the file's bytes. */
  from: string | Uint8Array;
  inputs: ReadonlyMap<string, TensorData>;
  /** Values inside the graph, computed without optimisation; without them, the model's outputs. */
  names?: readonly string[];
};

/** What the process answers: values, or why there are none. */
export type PlainAnswer =
  | { kind: "done"; values: Map<string, TensorData> | undefined }
  | { kind: "refused"; reason: string }
  | { kind: "missing"; reason: string };

/**
 * Runs a model in plain onnxruntime in a process of its own, because some models end the process of onnxruntime.
 * @returns the values by name; undefined if values inside the graph cannot be had
 * @throws PlainRefusalError if onnxruntime refuses the model or dies of it; MissingPackageError
 */
export async function plainApart(job: PlainJob): Promise<Map<string, TensorData> | undefined> {
  const child = forkBeside(import.meta.url, "plainChild");
  let answer: PlainAnswer | undefined;
  const ended = await new Promise<string>((resolve) => {
    child.stderr!.resume();
    child.once("message", (message) => void (answer = message as PlainAnswer));
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code, killedBy) => resolve(killedBy ?? `exit status ${code}`));
    // A process that ends at once does not take its job: `close` says so.
    child.send(job, () => {});
  });
  if (answer?.kind === "done") return answer.values;
  if (answer?.kind === "missing") throw new MissingPackageError(answer.reason);
  throw new PlainRefusalError(answer?.reason ?? `onnxruntime dies of the model (${ended}); exact execution does not`);
}
