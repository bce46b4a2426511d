/**
 * What memory a worker takes. By default it executes jobs of models of the catalogue, with a budget for kept
 * executions. With `--decoder` a large decoder is executed beside plain onnxruntime, with `--beyond LAYERS` layers of
 * 462 MiB each. Run with `--expose-gc` for figures without garbage.
 */
import { parseArgs } from "node:util";
import { measureBeyond } from "./beyond.ts";
import { measureDecoder } from "./decoder.ts";
import { measureJobs } from "./jobs.ts";

const { values } = parseArgs({
  options: {
    models: { type: "string", default: "ppocr2_cls,ppocr4_rec,ppocr4_det" },
    jobs: { type: "string", default: "50" },
    "keep-mib": { type: "string", default: "512" },
    decoder: { type: "boolean", default: false },
    beyond: { type: "string" },
    tokens: { type: "string", default: "16" },
    past: { type: "string", default: "0" },
    threads: { type: "string", default: "1" },
    "data-file": { type: "boolean", default: false },
  },
});

const [tokens, past, threads] = [values.tokens, values.past, values.threads].map(Number) as [number, number, number];
if (values.beyond !== undefined) {
  await measureBeyond(Number(values.beyond), tokens, threads);
} else if (values.decoder) {
  await measureDecoder({ tokens, past, threads, dataFile: values["data-file"] });
} else {
  await measureJobs(values.models.split(","), Number(values.jobs), Number(values["keep-mib"]));
}
