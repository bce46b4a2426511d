import { onnxEngine } from "../../src/executor/onnx/onnxEngine.ts";
import { webEngine } from "../webEngine.ts";
import type { Variant } from "./check.ts";

/** The executors that must agree: onnxruntime with one thread and with two, and onnxruntime-web; by turns every product on the engine and in small pieces. */
export async function openVariants(): Promise<{ variants: Variant[]; close(): Promise<void> }> {
  const [one, two, web] = [await onnxEngine(1), await onnxEngine(2), await webEngine()];
  const variants: Variant[] = [
    { name: "onnxruntime with one thread", options: { engine: one } },
    { name: "onnxruntime with two threads, every product", options: { engine: two, leastEngineWork: 0 } },
    { name: "onnxruntime-web", options: { engine: web, leastEngineWork: 0, chunkElements: 40 } },
  ];
  const close = async (): Promise<void> => {
    for (const engine of [one, two, web]) await engine.close();
  };
  return { variants, close };
}
