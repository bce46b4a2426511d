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
export * from "../tickets/errors.ts";
export { judgeAnswer, judgeRest, type JudgeOptions } from "../tickets/judgeAnswer.ts";
export { Payer, type Answered, type PayerLimits, type PayerOptions } from "../tickets/payer.ts";
export { PayerInputs } from "../tickets/payerInputs.ts";
export { PayerLedger, type HeldClaim } from "../tickets/payerLedger.ts";
export { heldSeconds, openTickets, type TicketSession } from "../tickets/ticketSession.ts";
export { unchainedRun, UnchainedRunError, type UnchainedItem } from "../tickets/unchainedRun.ts";
export { RunInputs } from "../trace/runInputs.ts";
export type { WorkerEvent } from "../worker/events.ts";
export { runWorker, type WorkerOptions } from "../worker/worker.ts";
export type { WatcherEvent } from "../../watcher/events.ts";
export { runWatcher, type WatcherOptions } from "../../watcher/watcher.ts";
