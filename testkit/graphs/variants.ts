import { onnxEngine } from "../../src/executor/engine/onnxEngine.ts";
import { Team } from "../../src/executor/threads/threadPool.ts";
import { webEngine } from "../onnx/webEngine.ts";
import type { Variant } from "./check.ts";

/**
 * The executors that must agree: one thread and two, and onnxruntime-web; by turns every product on the engine and in
 * small pieces.
 */
export async function openVariants(): Promise<{ variants: Variant[]; close(): Promise<void> }> {
  const [one, web] = [await onnxEngine(), await webEngine()];
  // Held here, threads are started once and not for each executor.
  const team = Team.hold(2);
  const variants: Variant[] = [
    { name: "one thread", options: { engine: one } },
    {
      name: "two threads, every product and step split",
      options: { threads: 2, minSplit: 0, evenly: true, minEngineWork: 0 },
    },
    { name: "onnxruntime-web", options: { engine: web, minEngineWork: 0, chunkElements: 40 } },
  ];
  const close = async (): Promise<void> => {
    for (const engine of [one, web]) await engine.close();
    await team.release();
  };
  return { variants, close };
}
