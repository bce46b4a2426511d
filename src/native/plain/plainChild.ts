/** The process of one run in plain onnxruntime. `plainApart` starts this process. */
import { MissingPackageError } from "../../base/optionalPackage.ts";
import type { PlainAnswer, PlainJob } from "./plainApart.ts";
import { plainOutputs, plainValues } from "./plainRun.ts";

async function run({ from, inputs, names }: PlainJob): Promise<PlainAnswer> {
  try {
    const values = await (names === undefined ? plainOutputs(from, inputs) : plainValues(from, inputs, names));
    return { kind: "done", values };
  } catch (error) {
    return { kind: error instanceof MissingPackageError ? "missing" : "refused", reason: (error as Error).message };
  }
}

process.once("message", (job: PlainJob) => {
  void run(job).then((answer) => process.send!(answer, () => process.exit(0)));
});
