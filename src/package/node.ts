/** `refute/node`: compiling, executing, and running a worker or a watcher, in Node. */
export { compile, type CompileOptions } from "../compiler/compile.ts";
export {
  createExecutor,
  type ExecutionResult,
  type Executor,
  type ExecutorOptions,
} from "../executor/createExecutor.ts";
export { selfTestExecutor, type SelfTestReport } from "../executor/selfTest.ts";
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
