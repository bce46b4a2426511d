import type { Address } from "viem";
import { ExamClaims } from "../../chain/clients/examClaims.ts";
import { ExamsReader } from "../../chain/clients/exams.ts";
import { PledgedClaimsReader } from "../../chain/clients/pledgedClaims.ts";
import type { ExamClass } from "../../chain/structs.ts";
import { translateError } from "../../chain/translateError.ts";
import type { Session } from "../../market/session.ts";
import { WrongExamsError } from "../errors.ts";

/** How sittings of exams become claims, with what is fixed of it. */
export type ExamCourt = {
  examClaims: ExamClaims;
  exams: ExamsReader;
  pledges: PledgedClaimsReader;
  /** By number. */
  classes: readonly ExamClass[];
  /** Seconds after a sitting in which it can be challenged. */
  lifetime: bigint;
};

/**
 * Reads what is at an address.
 * @param session About the pledged claims: its market is theirs.
 * @throws WrongExamsError if no exam can be challenged there, or its claims are others; RpcUnavailableError
 */
export async function openExamClaims(session: Session, address: Address): Promise<ExamCourt> {
  const { market } = session.deployment;
  const examClaims = new ExamClaims(address, session);
  const [named, examsAt] = await Promise.all([examClaims.claims(), examClaims.exams()]).catch((error: unknown) => {
    throw new WrongExamsError(`no exams can be challenged at ${address}: name the contract ExamClaims`, {
      cause: translateError(error, "reading how exams are challenged"),
    });
  });
  if (named.toLowerCase() !== market.toLowerCase())
    throw new WrongExamsError(
      `exams that are challenged at ${address} become claims at ${named}, not at ${market}: give --market ${named}`,
    );
  const exams = new ExamsReader(examsAt, session);
  const pledges = new PledgedClaimsReader(market, session);
  const [classes, lifetime] = await Promise.all([exams.classes(), pledges.lifetimeOf(address)]);
  return { examClaims, exams, pledges, classes, lifetime };
}
