/** A thread for executing a run's items one after the other, with its own executor. */
import { parentPort, workerData } from "node:worker_threads";
import type { MerkleList } from "../../program/merkle/list.ts";
import { createExecutor } from "../createExecutor.ts";
import { onnxEngine } from "../engine/onnxEngine.ts";
import { EngineFaultError } from "../errors.ts";
import type { FromThread, ThreadModel, ToThread } from "./messages.ts";

const port = parentPort!;
const report = (message: FromThread, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);

try {
  // An executor with its own engine starts no threads: the other items use the other processors.
  const engine = await onnxEngine();
  const executor = await createExecutor({ ...(workerData as ThreadModel) }, { engine });
  port.on("message", (message: ToThread) => {
    if (message.kind === "item") {
      void execute(message).catch(fail);
      return;
    }
    void executor
      .close()
      .then(() => engine.close())
      .then(() => port.close());
  });
  report({ ready: true });

  async function execute({ inputs, kept, isHashed }: ToThread & { kind: "item" }): Promise<void> {
    const wanted = kept && new Set(kept);
    const trees = isHashed ? new Map<number, MerkleList>() : undefined;
    const options = { ...(wanted && { keep: (step: number) => wanted.has(step) }), ...(trees && { trees }) };
    const { tensors } = await executor.run(inputs, options);
    const buffers = new Set<ArrayBuffer>();
    // `forEach` skips holes.
    tensors.forEach(({ buffer }) => buffers.add(buffer as ArrayBuffer));
    report({ tensors }, [...buffers]);
  }
} catch (error) {
  fail(error);
}

function fail(error: unknown): void {
  report(error instanceof EngineFaultError ? { fault: error.finding } : { reason: (error as Error).message });
}
