import { createExecutorOn } from "../../src/executor/gpu/chooseExecutor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { unlessLacking, type Exactly } from "../playground/execute.ts";
import { plainEngine } from "../playground/plainEngine.ts";

/**
 * Makes what executes the runs of a model: a GPU of this browser that passes its tests, item by item; else the
 * kernels, in blocks; where this browser does not have what they need, the definition.
 */
export async function runsExactly(
  model: CompiledModel,
): Promise<{ execute: Execute; by: () => Exactly["by"]; close: () => Promise<void> }> {
  const isOffered = typeof navigator === "object" && "gpu" in navigator;
  const warn = (reason: string): void => console.info(reason);
  const chosen = isOffered
    ? await unlessLacking(createExecutorOn("auto", model, warn, { engine: plainEngine }))
    : undefined;
  if (chosen !== undefined && chosen.device !== "cpu") {
    const execute: Execute = async (_model, inputs, keep) => (await chosen.run(inputs, keep && { keep })).tensors;
    const device = (): string => chosen.device;
    return {
      execute: Object.assign(execute, { device }),
      by: () => (device() === "cpu" ? "kernels" : "gpu"),
      close: () => chosen.close(),
    };
  }
  await chosen?.close();
  const fast = new FastExecutors({ engine: plainEngine });
  let isLacking = false;
  const execute: Execute = async (...args) => {
    const tensors = isLacking ? undefined : await unlessLacking(fast.execute(...args));
    if (tensors !== undefined) return tensors;
    isLacking = true;
    return [...executeReference(model, args[1])];
  };
  const block: Execute["block"] = async (...args) =>
    (isLacking ? undefined : await unlessLacking(fast.execute.block!(...args))) ?? {
      ...{ items: [], carried: new Map<number, Uint8Array>(), isWrong: false },
    };
  return {
    execute: Object.assign(execute, { block }),
    by: () => (isLacking ? "definition" : "kernels"),
    close: () => fast.close(),
  };
}
