import { readFileSync } from "node:fs";
import type { TensorData } from "../../../src/model/onnx/model.ts";

export const MIB = 2 ** 20;

/** A figure of this process in /proc/self/status, in bytes. Of Linux only. */
export const ownStatus = (name: "VmHWM" | "VmRSS" | "RssFile"): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) * 1_024;

/** Bytes of the process after a stage, garbage collected before, and how long the stage took. */
type Stage = {
  stage: string;
  seconds: number;
  /** Resident memory. */
  resident: number;
  /** The most resident memory so far. */
  peak: number;
};

/** Which run of a model a process is to measure. */
export type RunRequest = {
  /** The model's file. */
  path: string;
  inputs: ReadonlyMap<string, TensorData>;
  /** Inputs that the exact program is compiled for. */
  bind: Readonly<Record<string, unknown>>;
  threads: number;
  /** MiB of tensors that are read, and again that compiling holds, if not the defaults. */
  mib?: number;
};

/** What a process measured, and the model's first output. */
export type RunReport = { stages: readonly Stage[]; output: Uint8Array };

/** Stages of a process, one after the other. */
export class Stages {
  readonly stages: Stage[] = [];
  #start = performance.now();

  /** Ends a stage, and begins the next. */
  end(stage: string): void {
    const seconds = (performance.now() - this.#start) / 1_000;
    globalThis.gc?.();
    this.stages.push({ stage, seconds, resident: ownStatus("VmRSS"), peak: ownStatus("VmHWM") });
    this.#start = performance.now();
  }
}

/** Answers the one request that the parent process sends, and ends. */
export function answer(run: (request: RunRequest, stages: Stages) => Promise<Uint8Array>): void {
  const stages = new Stages();
  process.once("message", (request: RunRequest) => {
    stages.end("modules loaded");
    void run(request, stages).then((output) => {
      process.send!({ stages: stages.stages, output } satisfies RunReport, () => process.disconnect());
    });
  });
}
