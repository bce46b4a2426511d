/** Runs a model once in plain onnxruntime, in a process of its own: see `answer`. */
import * as ort from "onnxruntime-node";
import { fromOrt, toOrt } from "../../../src/native/plain/ortTensor.ts";
import { answer } from "./figures.ts";

answer(async ({ path, inputs, threads }, stages) => {
  const session = await ort.InferenceSession.create(path, { intraOpNumThreads: threads, logSeverityLevel: 3 });
  stages.end("session created");
  const feeds = Object.fromEntries([...inputs].map(([name, tensor]) => [name, toOrt(tensor)]));
  const results = await session.run(feeds);
  stages.end("run");
  const output = fromOrt(results[session.outputNames[0]!]!)!.bytes;
  await session.release();
  return output;
});
