import type { OwnExamClaims } from "../../attestation/exams/openExamClaims.ts";
import type { Logger } from "../../base/log.ts";
import { PledgeStatus } from "../../chain/structs.ts";

/** Logs a warning if no pledge backs the exam sittings. */
export async function warnWithoutPledge({ session, claimContracts }: OwnExamClaims, log: Logger): Promise<void> {
  const { address } = session.sender;
  const [pledge, enrolment] = await Promise.all([
    claimContracts.pledges.pledgeOf(address),
    claimContracts.examClaims.enrolmentOf(address),
  ]);
  if (pledge.status === PledgeStatus.active && enrolment.pledged === pledge.time) return;
  const market = session.deployment.market;
  const examClaims = claimContracts.examClaims.address;
  log.warn({ market, examClaims }, "no pledge backs what it sits of exams: refute tickets pledge --exam-claims");
}
