import { RefuteError } from "../base/errors.ts";

/** The exit statuses of the command line (docs/cli.md). */
export const ExitStatus = {
  done: 0,
  /** The answer is no, or a refusal: by a model, a contract, an account's funds. */
  refused: 1,
  /** A command, flag, argument, setting, key or file that cannot be used. Nothing was done. */
  usage: 2,
  /** The same command may succeed later: no node answers, a transaction was lost, stake is not ready. */
  later: 3,
  /** An error that nobody expected. */
  unexpected: 4,
  /** Ended by Ctrl-C or SIGTERM. */
  interrupted: 130,
} as const;

/** Errors of what the user gave. */
const USAGE_CODES = new Set([
  "USAGE",
  "KEY",
  "STAND_IN_FILE",
  "INPUT_FILE",
  "MODEL_FILE",
  "DEPLOY_PARAMETERS",
  "PROGRAM_DESCRIPTION",
  "NO_NODE",
  "PORT",
  "CASE_FOLDER",
  "CALIBRATION",
  "DECISION_APPEND",
  "COMPILE_INPUT_SHAPE",
  "COMPILE_RUN",
  "DECODER_REQUEST",
  "TOKENIZER",
  "MODEL_INPUT_BINDING",
  "MODEL_PREPROCESSING",
  "WRONG_CHAIN",
  "NOT_DEPLOYED",
  "JOB_TERMS",
  "JOB_INPUT",
  "INPUT_REFERENCE",
  "DISPATCH_INPUT",
  "DISPATCH_BUDGET",
  "DISPATCH_STATE",
  "DISPATCH_OUTPUT",
  "DATABASE_FILE",
  "DATABASE_ACCESS",
  "PORT",
]);

/** Returns true for Refute's own errors, which have a message for people. */
export const isExpected = (error: unknown): error is RefuteError => error instanceof RefuteError;

/** The stable name of an error. */
export const codeOf = (error: unknown): string => (isExpected(error) ? error.code : "UNEXPECTED");

/** Returns the exit status for a command that ended with an error. */
export function exitStatusOf(error: unknown): number {
  if (!isExpected(error)) return ExitStatus.unexpected;
  if (USAGE_CODES.has(error.code)) return ExitStatus.usage;
  if (error.code === "INTERRUPTED") return ExitStatus.interrupted;
  return error.retryable ? ExitStatus.later : ExitStatus.refused;
}
