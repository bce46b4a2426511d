/**
 * A team's thread: computes parts of steps, and sleeps when no parts are left. The thread never returns to the event
 * loop before its end.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { onnxEngine } from "../engine/onnxEngine.ts";
import { machineOf, partsOf } from "../plan/threadMachine.ts";
import type { Operation } from "../machine.ts";
import { planProgram } from "../plan/planProgram.ts";
import { noStats } from "../certificateStats.ts";
import { EngineFaultError } from "../errors.ts";
import { testEngine } from "../product/testEngine.ts";
import { StageClock } from "../stages.ts";
import { Control, ControlWord } from "./poolMemory.ts";
import { HashJob } from "./hashJob.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./messages.ts";

/** How long a worker looks for work within a job: steps follow each other faster than a thread wakes up. */
const SPIN_MS = 0.1;

/** The parts of each step that is split. */
type Loaded = (readonly Operation[] | undefined)[];

const { control: buffer, threads, thread } = workerData as WorkerStart;
const control = new Control(buffer, threads);
const port = parentPort!;
const engine = await onnxEngine();
/** Counted over all programs. */
const stats = noStats();
const clock = new StageClock();
const programs = new Map<number, Loaded>();
const report = (message: FromWorker): void => port.postMessage(message);
await testEngine(engine).catch(fail);

let hashing: { base: number; job: HashJob } | undefined;
let read = 0;
let ends = false;
while (!ends) attend();
await engine.close();
port.close();

/** Does the available work, or waits for some. */
function attend(): void {
  const signal = control.read(ControlWord.signal);
  guard(obeyAll);
  const part = ends ? undefined : control.take();
  if (part !== undefined) {
    guard(() => timed(() => compute(part)));
    return control.count(ControlWord.finished);
  }
  const unit = ends ? undefined : control.takeHash();
  if (unit !== undefined) {
    guard(() => timed(() => hash(unit)));
    return control.count(ControlWord.hashDone);
  }
  if (!ends) rest(signal);
}

/** Reports a failure to the first thread, which then ends the job. */
function guard(action: () => void): void {
  try {
    action();
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): void {
  control.write(ControlWord.failed, 1);
  report(
    error instanceof EngineFaultError ? { fault: error.finding } : { reason: String((error as Error).stack ?? error) },
  );
}

function obeyAll(): void {
  while (read !== control.read(ControlWord.messages)) {
    const received: { message: unknown } | undefined = receiveMessageOnPort(port);
    if (received === undefined) continue;
    read++;
    obey(received.message as ToWorker);
  }
}

function obey(message: ToWorker): void {
  if (message.kind === "load") {
    programs.set(message.number, load(message));
    control.writeLoaded(thread, message.number);
    report({ loaded: message.number });
  } else if (message.kind === "unload") programs.delete(message.number);
  else if (message.kind === "hash") hashing = { base: message.base, job: new HashJob(message.layout, message.buffer) };
  else ends = true;
}

function load(message: ToWorker & { kind: "load" }): Loaded {
  const { program, options, findings, memories, alwaysExact, checksAll, parts } = message;
  const plan = planProgram({ program, constants: new Map() }, options, findings);
  const machine = { ...machineOf(plan, memories, engine, { thread, alwaysExact, checksAll }), stats, clock };
  return partsOf(plan, machine, parts);
}

/** The message that describes a unit or a part was sent before the unit or part was offered. */
function compute(part: number): void {
  obeyAll();
  void programs.get(control.read(ControlWord.program))![control.read(ControlWord.step)]![part]!();
}

function hash(unit: number): void {
  obeyAll();
  clock.enter("hash");
  hashing!.job.hash((unit - hashing!.base) | 0);
}

function timed(action: () => void): void {
  clock.resume(control.read(ControlWord.profiled) === 1);
  action();
  clock.stop();
  control.writeTally(thread, stats, clock.milliseconds);
}

function rest(signal: number): void {
  const { words } = control;
  const until = performance.now() + SPIN_MS;
  while (control.read(ControlWord.running) === 1 && performance.now() < until) {
    for (let k = 0; k < 32; k++) if (Atomics.load(words, ControlWord.signal) !== signal) return;
  }
  Atomics.add(words, ControlWord.sleepers, 1);
  Atomics.wait(words, ControlWord.signal, signal);
  Atomics.sub(words, ControlWord.sleepers, 1);
}
