/** `refute/node`: compiling, executing, and running a worker or a watcher, in Node. */
export { compile, type CompileOptions } from "../compiler/compile.ts";
export {
  createExecutor,
  type ExecutionResult,
  type Executor,
  type ExecutorOptions,
} from "../executor/createExecutor.ts";
export { selfTestExecutor, type SelfTestReport } from "../executor/selfTest.ts";
export { cutBatch, type Batch, type BatchRequest, type Part } from "../dispatcher/batch.ts";
export { costsOf, type BatchCost, type PartCost } from "../dispatcher/costs.ts";
export { dispatch } from "../dispatcher/dispatcher.ts";
export * from "../dispatcher/errors.ts";
export type { DispatchEvent } from "../dispatcher/events.ts";
export { requireWritable, writeOutputs, type OutputFiles } from "../dispatcher/gather.ts";
export type { DispatchOptions, DispatchTerms } from "../dispatcher/options.ts";
export { DispatchStore } from "../dispatcher/store.ts";
export { followMarket, type Snapshot } from "../market/session.ts";
export { readModel } from "../onnx/readModel.ts";
export { MissingPackageError } from "../optionalPackage.ts";
export { knownProgram, type KnownProgram } from "../player/execution.ts";
export { FastExecutors } from "../player/fastExecutors.ts";
export { Health } from "../player/health.ts";
export { createLogger, type Logger } from "../player/log.ts";
export { ProgramLibrary } from "../player/programLibrary.ts";
export { describeProgram, type Labels } from "../sdk/describeProgram.ts";
export type { WorkerEvent } from "../worker/events.ts";
export { runWorker, type WorkerOptions } from "../worker/worker.ts";
export type { WatcherEvent } from "../../watcher/events.ts";
export { runWatcher, type WatcherOptions } from "../../watcher/watcher.ts";
