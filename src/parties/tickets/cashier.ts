import type { Logger } from "../../base/log.ts";
import { isAddressEqual, zeroAddress, zeroHash, type Hex } from "viem";
import { ClaimStatus, PledgeStatus, type ClaimEvidence } from "../../chain/structs.ts";
import { programFacts } from "../../dispute/run/execution.ts";
import type { ProgramLibrary } from "../../runs/programLibrary.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import { errorWithCode } from "../../base/errors.ts";
import { heldSeconds, type TicketSession } from "./ticketSession.ts";
import type { KeptAnswer, WorkerLedger } from "./workerLedger.ts";

/** A winner that will not be paid any more. */
class LostWinnerError extends errorWithCode("LOST_WINNER") {}

type CashierOptions = {
  at: TicketSession;
  ledger: WorkerLedger;
  programs: ProgramLibrary;
  log: Logger;
};

/** The outcome for winners in a round. */
export type Cashed = Record<Step, Hex[]> & {
  /** Why the last of the winners waits that failed; undefined if none did. */
  failed: unknown;
};
type Step = "cashed" | "collected" | "lost";

/**
 * Collects the money for a worker's winners. Each call starts from the chain: the process may stop at any point, and
 * cashes nothing twice. The worker that follows the market makes claims final.
 */
export class Cashier {
  readonly #options: CashierOptions;

  constructor(options: CashierOptions) {
    this.#options = options;
  }

  /**
   * Runs the possible actions for each winner: a failing winner does not delay the others. Then forgets winners without
   * a chance.
   */
  async round(): Promise<Cashed> {
    const done: Cashed = { cashed: [], collected: [], lost: [], failed: undefined };
    const { at, ledger } = this.#options;
    for (const answer of ledger.winners()) {
      try {
        const what = await this.#advance(answer);
        if (what !== undefined) done[what].push(answer.digest);
      } catch (error) {
        done.failed = error;
        this.#options.log.warn({ digest: answer.digest, reason: (error as Error).message }, "a winner waits");
      }
    }
    const { timestamp } = await at.session.publicClient.getBlock();
    ledger.forget(timestamp - BigInt(heldSeconds(at)));
    return done;
  }

  async #advance(answer: KeptAnswer): Promise<Step | undefined> {
    const { at, ledger, log } = this.#options;
    const { tickets, session } = at;
    const { digest, claim } = answer;
    const { payer, face } = await tickets.cashed(digest);
    const isCashed = !isAddressEqual(payer, zeroAddress);
    // The face of a cashed ticket has left the deposit: the payer does not owe it a second time.
    ledger.cashed(digest, isCashed);
    if (isCashed) {
      if (face === 0n) {
        // Not at once when it was collected: a reorganisation may undo that.
        ledger.close(digest);
        return undefined;
      }
      if (!(await this.#canCollect(digest))) return undefined;
      await tickets.collect(digest);
      return "collected";
    }
    const { timestamp } = await session.publicClient.getBlock();
    const tooOld = claim.issued + BigInt(at.claimLifetime);
    let isThere: boolean;
    try {
      if (timestamp > answer.ticket!.expiry) throw new LostWinnerError("its ticket has expired");
      isThere = (await tickets.claimIdOf(digest)) !== zeroHash;
      if (!isThere && timestamp > tooOld) throw new LostWinnerError("its claim is too old to be put on chain");
      if ((await at.pledges.pledgeOf(claim.worker)).status === PledgeStatus.stopped)
        throw new LostWinnerError("this worker was refuted: nothing of it is paid");
    } catch (error) {
      if (!(error instanceof LostWinnerError)) throw error;
      log.error({ digest, reason: error.message }, "a winner is lost");
      ledger.close(digest);
      return "lost";
    }
    // The local clock may be ahead of the chain's clock.
    if (claim.issued > timestamp) return undefined;
    const { ticket, ticketSignature, signature, secret } = answer;
    const evidence = await this.#evidence(answer);
    const by = Number(isThere || ticket!.expiry < tooOld ? ticket!.expiry : tooOld);
    await tickets.submitAndCash(claim, signature, evidence, ticket!, ticketSignature!, secret, by);
    ledger.cashed(digest, true);
    return "cashed";
  }

  /** Whether a cashed ticket is paid or returned by now. */
  async #canCollect(digest: Hex): Promise<boolean> {
    const { tickets, pledges, account } = this.#options.at;
    const { status } = await pledges.statusOf(await tickets.claimIdOf(digest));
    return (
      status === ClaimStatus.finalised || (await pledges.pledgeOf(account.address)).status === PledgeStatus.stopped
    );
  }

  async #evidence({ claim, inputs, nodes }: KeptAnswer): Promise<ClaimEvidence> {
    const program = await this.#options.programs.load(claim.programRoot);
    if (program === undefined) throw new LostWinnerError(`program ${claim.programRoot} is not served any more`);
    const run = new RunInputs(program.model.program.inputs, claim, inputs);
    return { program: programFacts(program.commitment), inputRoots: run.roots, inputs: [], nodes };
  }
}
