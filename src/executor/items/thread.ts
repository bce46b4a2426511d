/** A thread for executing a run's items one after the other, with its own executor. */
import { parentPort, workerData } from "node:worker_threads";
import type { MerkleList } from "../../program/merkle/list.ts";
import { createWithBlocks } from "../blocks/createWithBlocks.ts";
import { createExecutor } from "../createExecutor.ts";
import { onnxEngine } from "../engine/onnxEngine.ts";
import { EngineFaultError } from "../errors.ts";
import { SuccessiveTrees } from "../successiveTrees.ts";
import type { FromThread, ThreadModel, ToThread } from "./messages.ts";

const port = parentPort!;
const report = (message: FromThread, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);

try {
  // An executor with its own engine starts no threads: the other items use the other processors.
  const engine = await onnxEngine();
  const model = workerData as ThreadModel;
  let executor = await createExecutor({ ...model }, { engine });
  let isForBlocks = false;
  const successive = new SuccessiveTrees();
  let last = Promise.resolve();
  port.on("message", (message: ToThread) => {
    last = last.then(() => act(message)).catch(fail);
  });
  report({ ready: true });

  async function act(message: ToThread): Promise<void> {
    if (message.kind === "item") return execute(message);
    if (message.kind === "block") return executeBlock(message);
    await executor.close();
    await engine.close();
    port.close();
  }

  async function executeBlock({ items, blocks, isHashed, isUnsure }: ToThread & { kind: "block" }): Promise<void> {
    if (!isForBlocks) {
      isForBlocks = true;
      await executor.close();
      executor = await createWithBlocks({ ...model }, { engine }, blocks);
    }
    const result = await executor.runBlock(items, { isUnsure, ...(isHashed && { trees: successive }) });
    const sent = result.items.map(({ list, tensors }) => ({ roots: list?.leaves, tensors }));
    report({ block: { ...result, items: sent } });
  }

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
