/** The memory of a decoder of 125 million weights of four bits: exact execution against plain onnxruntime. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLAMA_100M, llama, llamaInputs, parameterCount } from "../../../testkit/models/llama.ts";
import { writeInTwoFiles } from "../../../testkit/onnx/dataFile.ts";
import { compareRuns } from "./compareRuns.ts";
import { MIB } from "./figures.ts";

/** What exact execution may take, by what plain onnxruntime takes. */
const BAR = 1.5;

type DecoderOptions = {
  tokens: number;
  /** Tokens before them. */
  past: number;
  /** Threads that each of the two computes on. */
  threads: number;
  /** Whether the weights lie in a file of their own. */
  dataFile: boolean;
};

/** Measures both, one after the other, and prints their figures and ratios. */
export async function measureDecoder({ tokens, past, threads, dataFile }: DecoderOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "refute-memory-"));
  try {
    const path = join(folder, "decoder.onnx");
    const bytes = llama(LLAMA_100M);
    if (dataFile) writeInTwoFiles(path, bytes);
    else writeFileSync(path, bytes);
    const [millions, mib] = [parameterCount(LLAMA_100M) / 1e6, bytes.length / MIB].map(Math.round);
    const files = dataFile ? "two files" : "one file";
    console.log(`decoder of ${millions} M parameters, ${mib} MiB in ${files}`);
    console.log(`${tokens} tokens after ${past}, threads: ${threads}`);
    const inputs = llamaInputs(LLAMA_100M, tokens, past);
    const bind = { attention_mask: [new Array<number>(past + tokens).fill(1)] };
    const request = { path, inputs, bind, threads };
    await compareRuns(request);
    console.log(`Both ratios should stay below ${BAR}.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
