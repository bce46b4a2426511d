import { zeroHash, type Address, type Hex } from "viem";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import { answerRun } from "./answerRun.ts";
import { WrongAnswerError } from "./errors.ts";
import type { PayerLedger } from "./payerLedger.ts";
import { landClaim } from "./landClaim.ts";
import type { TicketSession } from "./ticketSession.ts";
import type { Execute } from "../../runs/execute.ts";

/** The part of a lie's inputs on chain: nothing, not even the claim; only what its proof opens; all if they are few. */
export type Publishing = "never" | "chunk" | "all";

export type JudgeOptions = {
  at: TicketSession;
  ledger: PayerLedger;
  program: KnownProgram;
  execute: Execute;
  /** By default all. */
  publishing?: Publishing;
};

/**
 * Executes a worker's answered run exactly. Afterwards a right answer can be paid; a wrong answer never.
 * @param digest The signed claim's digest; the ledger holds the claim.
 * @throws WrongAnswerError for a wrong answer, once the claim is on chain
 */
export async function judgeAnswer(options: JudgeOptions, digest: Hex, inputs: RunInputs): Promise<void> {
  const { at, ledger, program, execute, publishing = "all" } = options;
  const { root } = await answerRun(program, inputs, execute);
  const held = ledger.find(digest)!;
  // SAFETY: the verdict is saved first: even if the process ends now, a wrong answer is never paid later.
  ledger.judged(digest, root === held.claim.root ? "open" : "wrong");
  if (root === held.claim.root) return;
  const roots = `its root is ${held.claim.root}, exact execution gives ${root}`;
  const found = `the worker's answer is wrong: ${roots}. It is not paid`;
  if (publishing === "never") throw new WrongAnswerError(`${found}, and its claim is not put on chain`);
  await landClaim(at, held, program, publishing === "all");
  throw new WrongAnswerError(
    `${found}, and its claim is on chain now: a watcher of these claims refutes it (refute watcher --market)`,
  );
}

/**
 * Judges the rest of a worker's answers: answers to the same program that an earlier process drew without judging, or
 * found wrong without putting the claim on chain, if the claim can still go on chain.
 * @throws WrongAnswerError for a wrong answer
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
