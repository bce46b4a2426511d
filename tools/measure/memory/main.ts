/**
 * Measures a worker's memory. By default the tool executes jobs for catalogue models, with a budget for kept
 * executions. With `--decoder` a large decoder is compared with plain onnxruntime, with `--beyond LAYERS` layers with
 * 462 MiB each. The tool runs with `--expose-gc`, for figures without garbage.
 */
import { flag, list, readOptions, whole } from "../../options.ts";
import { measureBeyond } from "./beyond.ts";
import { measureDecoder } from "./decoder.ts";
import { measureJobs } from "./jobs.ts";

const values = readOptions({
  models: list("models whose jobs are executed", ["ppocr2_cls", "ppocr4_rec", "ppocr4_det"]),
  jobs: whole("jobs of each model", 50),
  "keep-mib": whole("budget for kept executions, MiB", 512),
  decoder: flag("a decoder of 125 million weights of four bits, beside plain onnxruntime"),
  beyond: whole("so many layers of float32 of 462 MiB each, beside plain onnxruntime"),
  tokens: whole("tokens that --decoder and --beyond execute", 16),
  past: whole("tokens that the decoder has seen before", 0),
  threads: whole("threads of --decoder and --beyond", 1),
  "data-file": flag("the decoder's weights in a file of their own"),
});

const { tokens, past, threads } = values;
if (values.beyond !== undefined) {
  await measureBeyond(values.beyond, tokens, threads);
} else if (values.decoder) {
  await measureDecoder({ tokens, past, threads, dataFile: values["data-file"] });
} else {
  await measureJobs(values.models, values.jobs, values["keep-mib"]);
}
