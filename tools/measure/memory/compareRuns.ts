/** A model in plain onnxruntime and in exact execution, each in a process of its own, one after the other. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { MIB, type RunReport, type RunRequest } from "./figures.ts";

/** Measures one run in a separate process, which collects garbage on request. */
async function measured(name: "plain" | "exact", request: RunRequest): Promise<RunReport> {
  const file = fileURLToPath(new URL(`${name}Run.ts`, import.meta.url));
  const child = fork(file, [], { execArgv: ["--expose-gc"], serialization: "advanced" });
  const ended = once(child, "exit").then(([status]) => {
    throw new Error(`the process of the ${name} run ended with status ${status}`);
  });
  const answered = once(child, "message").then(([message]) => message as RunReport);
  child.send(request);
  const report = await Promise.race([answered, ended]);
  await ended.catch(() => undefined);
  return report;
}

function print(name: string, { stages }: RunReport): void {
  console.log(name);
  for (const { stage, seconds, resident, peak } of stages) {
    const figures = [resident, peak].map((bytes) => String(Math.round(bytes / MIB)).padStart(6));
    console.log(
      `  ${stage.padEnd(24)}${seconds.toFixed(1).padStart(6)} s  resident${figures[0]}  peak${figures[1]} MiB`,
    );
  }
}

/** Returns the largest difference between two float32 lists, divided by the second list's largest magnitude. */
function difference(a: Uint8Array, b: Uint8Array): number {
  const [got, wanted] = [a, b].map((bytes) => new Float32Array(bytes.slice().buffer)) as [Float32Array, Float32Array];
  let [worst, largest] = [0, 0];
  wanted.forEach((value, i) => {
    worst = Math.max(worst, Math.abs(value - got[i]!));
    largest = Math.max(largest, Math.abs(value));
  });
  return worst / largest;
}

/** Prints the figures of both, their ratios, and how far the first outputs, of float32, are apart. */
export async function compareRuns(request: RunRequest): Promise<void> {
  const plain = await measured("plain", request);
  print("plain onnxruntime", plain);
  const exact = await measured("exact", request);
  print("exact, as a worker", exact);
  const [ours, theirs] = [exact.stages.at(-1)!, plain.stages.at(-1)!];
  console.log(`peak, exact / plain:      ${(ours.peak / theirs.peak).toFixed(2)}`);
  console.log(`after the run:            ${(ours.resident / theirs.resident).toFixed(2)}`);
  console.log(
    `largest difference of an output, by the largest: ${difference(exact.output, plain.output).toExponential(1)}`,
  );
}
