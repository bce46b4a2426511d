/** `refute-ml/node`: compiling, executing, and running a worker or a watcher, in Node. */
export { KeyProver } from "../circuits/prover.ts";
export { compile, type CompileOptions } from "../compiler/compile.ts";
export {
  createExecutor,
  type ExecutionResult,
  type Executor,
  type ExecutorOptions,
} from "../executor/createExecutor.ts";
export { selfTestExecutor, type SelfTestReport } from "../executor/selfTest.ts";
export { cutBatch, type Batch, type BatchRequest, type BatchPart } from "../parties/dispatcher/batch.ts";
export { costsOf, type BatchCost, type PartCost } from "../parties/dispatcher/costs.ts";
export { dispatch } from "../parties/dispatcher/dispatcher.ts";
export * from "../parties/dispatcher/errors.ts";
export type { DispatchEvent } from "../parties/dispatcher/events.ts";
export { requireWritable, writeOutputs, type OutputFiles } from "../parties/dispatcher/gather.ts";
export type { DispatchOptions, DispatchTerms } from "../parties/dispatcher/options.ts";
export { DispatchStore } from "../parties/dispatcher/store.ts";
export {
  shareTraining,
  trainShares,
  type ShareOptions,
  type ShareTraining,
} from "../parties/dispatcher/trainShares.ts";
export { TrainingStore, type TrainedStep } from "../parties/dispatcher/trainingStore.ts";
export { followMarket, type Snapshot } from "../chain/market/session.ts";
export { readModel } from "../model/onnx/readModel.ts";
export { MissingPackageError } from "../base/optionalPackage.ts";
export { knownProgram, type KnownProgram } from "../dispute/run/execution.ts";
export { FastExecutors } from "../runs/fastExecutors.ts";
export { Health } from "../base/health.ts";
export { createLogger, type Logger } from "../base/log.ts";
export { ProgramLibrary } from "../runs/programLibrary.ts";
export { describeProgram, type Labels } from "../parties/requester/describeProgram.ts";
export * from "../parties/tickets/errors.ts";
export { judgeAnswer, judgeRest, type JudgeOptions } from "../parties/tickets/judgeAnswer.ts";
export { Payer, type Answered, type PayerLimits, type PayerOptions } from "../parties/tickets/payer.ts";
export { SeatJudge, type SeatVerdict } from "../parties/requester/seatJudge.ts";
export { PayerInputs } from "../parties/tickets/payerInputs.ts";
export { PayerLedger, type HeldClaim } from "../parties/tickets/payerLedger.ts";
export { heldSeconds, openTickets, type TicketSession } from "../parties/tickets/ticketSession.ts";
export { unchainedRun, UnchainedRunError, type UnchainedItem } from "../parties/tickets/unchainedRun.ts";
export { RunInputs } from "../program/trace/runInputs.ts";
export type { WorkerEvent } from "../parties/worker/events.ts";
export { runWorker } from "../parties/worker/worker.ts";
export type { WatcherEvent } from "../../watcher/events.ts";
export { runWatcher } from "../../watcher/watcher.ts";
export type { WorkerOptions } from "../parties/worker/options.ts";
export type { WatcherOptions } from "../../watcher/options.ts";
