import { zeroHash, type Address, type Hex } from "viem";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import { answerRun } from "./answerRun.ts";
import { WrongAnswerError } from "./errors.ts";
import type { PayerLedger } from "./payerLedger.ts";
import { landClaim } from "./landClaim.ts";
import type { TicketSession } from "./ticketSession.ts";
import type { Execute } from "../../runs/execute.ts";

export type JudgeOptions = { at: TicketSession; ledger: PayerLedger; program: KnownProgram; execute: Execute };

/**
 * Executes exactly what a worker has answered. A right answer can be paid then, a wrong one never.
 * @param digest Of its signed claim, which the ledger holds.
 * @throws WrongAnswerError if it is wrong, once its claim is on chain
 */
export async function judgeAnswer(options: JudgeOptions, digest: Hex, inputs: RunInputs): Promise<void> {
  const { at, ledger, program, execute } = options;
  const { root } = await answerRun(program, inputs, execute);
  const held = ledger.find(digest)!;
  // SAFETY: kept before anything else: whatever ends this process now, the answer is not paid later.
  ledger.judged(digest, root === held.claim.root ? "open" : "wrong");
  if (root === held.claim.root) return;
  await landClaim(at, held, program);
  throw new WrongAnswerError(
    `the worker's answer is wrong: its root is ${held.claim.root}, exact execution gives ${root}. It is not paid, ` +
      "and its claim is on chain now: a watcher of these claims refutes it (refute watcher --market)",
  );
}

/**
 * Judges the answers of a worker that an earlier process drew and did not judge, or found wrong and did not put on
 * chain, as far as they are of this program and can still be put there.
 * @throws WrongAnswerError as above
 */
export async function judgeRest(options: JudgeOptions, worker: Address): Promise<void> {
  const { at, ledger, program } = options;
  const { timestamp } = await at.session.publicClient.getBlock();
  for (const { digest, claim, inputs, fate } of ledger.unsent(worker)) {
    const isOld = claim.issued + BigInt(at.claimLifetime) < timestamp;
    if (fate === "open" || isOld || claim.programRoot !== program.model.programRoot) continue;
    if (fate === "wrong" && (await at.tickets.claimIdOf(digest)) !== zeroHash) continue;
    await judgeAnswer(options, digest, new RunInputs(program.model.program.inputs, claim, inputs));
  }
}
