import { problemOf, type Problem } from "../../base/health.ts";
import { PledgeStatus } from "../../chain/structs.ts";
import { requirePlainAccountAtStart } from "../role/plainAccount.ts";
import { Role, type Duty, type RoleOptions } from "../role/role.ts";
import { shortOfGas } from "../role/shortFunds.ts";
import type { WorkerEvent } from "../worker/events.ts";
import { OwnClaims } from "../worker/ownClaims.ts";
import { workerLine } from "../worker/workerLine.ts";
import type { Cashier } from "./cashier.ts";
import { heldSeconds, type TicketSession } from "./ticketSession.ts";
import type { WorkerLedger } from "./workerLedger.ts";

/** Why the pledge backs nothing; undefined if it does. */
async function pledgeProblem({ pledges, account }: TicketSession): Promise<Problem | undefined> {
  const { status } = await pledges.pledgeOf(account.address);
  if (status === PledgeStatus.active) return undefined;
  return { reason: "the pledge is not active, nothing would back an answer: run refute tickets pledge" };
}

/** What a worker of signed claims runs on. The ledger holds the inputs. */
type ServeOptions = Omit<RoleOptions<WorkerEvent>, "session" | "references"> & {
  at: TicketSession;
  ledger: WorkerLedger;
  cashier: Pick<Cashier, "round">;
};

/**
 * Defends and finalises the claims that a worker signed, and cashes its winners, until the signal. Nothing is claimed:
 * the worker needs a pledge, and no free stake.
 * @throws NotPlainAccountError
 */
export async function serveClaims(options: ServeOptions): Promise<void> {
  const { at, ledger, cashier, programs, log } = options;
  const { session } = at;
  const role = new Role<WorkerEvent>("worker", { ...options, session }, workerLine);
  const claims = new OwnClaims({ session, programs, log }, role);
  /** Signed claims that nobody here can defend. A model that is compiled later may change that. */
  const undefended = (now: bigint): void => {
    for (const { programRoot, issued } of ledger.programsSince(now - BigInt(heldSeconds(at)))) {
      if (programs.knows(programRoot) || programs.awaits(programRoot)) continue;
      if (!role.isNew("undefended", "", programRoot)) continue;
      const until = new Date((Number(issued) + heldSeconds(at)) * 1_000).toISOString();
      const message =
        "NOBODY DEFENDS claims that this worker signed: their program is not among the models. Whoever disputes one " +
        "takes the pledge: serve its model too (--models) until then";
      log.error({ programRoot, until }, message);
    }
  };
  const cash = async (): Promise<void> => {
    try {
      role.health.set("pledge", await pledgeProblem(at));
      const { failed } = await cashier.round();
      role.health.set("cashes", failed === undefined ? undefined : problemOf(failed, "a winner cannot be cashed"));
    } catch (error) {
      role.health.set("cashes", problemOf(error, "the winners were not looked at"));
      throw error;
    }
  };
  role.health.set("pledge", { reason: "the pledge was not read yet" });
  await requirePlainAccountAtStart(session);
  const cashing: Duty = {
    conditions: ["runsOnDisk", "cashes"],
    forget: () => "all",
    round: ({ now }, start) => {
      const { stored } = role.executions;
      stored.reserve(claims.openJobs);
      role.health.set("runsOnDisk", stored.problem);
      undefended(now);
      start("cashing", () => role.attempt("cashing", "", cash));
    },
  };
  const owner = session.sender.address;
  await role.run({
    facts: { tickets: at.at.tickets },
    needsPlainAccountTo: "defend claims",
    checkFunds: ({ balance, gasPrice }) => {
      const problem: Problem | undefined = shortOfGas(
        { balance, gasPrice, owner },
        claims.gasNeeded,
        "a claim, and the answers for all claims,",
      );
      role.health.set("pays", problem);
    },
    markets: [{ session, duties: [claims, cashing] }],
  });
}
