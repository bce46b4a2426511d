/** Executes a small program on two threads: `runOnce.ts CLOSES`. The process ends by itself. */
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { matMulStep, stepModel } from "../programs/stepModel.ts";

const executor = await createExecutor(stepModel([matMulStep(4, 8, 4)]), {
  ...{ threads: 2, minSplit: 0, minEngineWork: 0, evenly: true },
});
await executor.run([new Uint8Array(4 * 8 * 4), new Uint8Array(4 * 8 * 4)]);
if (process.argv[2] === "true") await executor.close();
console.log("done");
