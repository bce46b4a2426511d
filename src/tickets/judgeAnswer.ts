import type { Hex } from "viem";
import type { Execute } from "../player/executeRun.ts";
import type { KnownProgram } from "../player/execution.ts";
import type { RunInputs } from "../trace/runInputs.ts";
import { answerRun } from "./answerRun.ts";
import { WrongAnswerError } from "./errors.ts";
import type { PayerLedger } from "./payerLedger.ts";
import { putOnChain } from "./refute.ts";
import type { TicketSession } from "./ticketSession.ts";

export type JudgeOptions = { at: TicketSession; ledger: PayerLedger; program: KnownProgram; execute: Execute };

/**
 * Executes exactly what a worker has answered.
 * @param digest Of its signed claim, which the ledger holds.
 * @throws WrongAnswerError if it is wrong, once its claim is on chain
 */
export async function judgeAnswer(options: JudgeOptions, digest: Hex, inputs: RunInputs): Promise<void> {
  const { at, ledger, program, execute } = options;
  const { root } = await answerRun(program, inputs, execute);
  const held = ledger.find(digest)!;
  if (root === held.claim.root) return;
  await putOnChain(at, held, program);
  throw new WrongAnswerError(
    `the worker's answer is wrong: its root is ${held.claim.root}, exact execution gives ${root}. It is not paid, ` +
      "and its claim is on chain now: a watcher of these claims refutes it (refute watcher --market)",
  );
}
