import type { Address } from "viem";
import { ExamClaims, ExamClaimsReader } from "../../chain/clients/examClaims.ts";
import { ExamsReader } from "../../chain/clients/exams.ts";
import { PledgedClaimsReader } from "../../chain/clients/pledgedClaims.ts";
import { firstBlockSince } from "../../chain/firstBlockSince.ts";
import { PledgeStatus, type ExamClass } from "../../chain/structs.ts";
import { translateError } from "../../chain/translateError.ts";
import { sessionBeside, type Session } from "../../chain/market/session.ts";
import { WrongExamsError } from "../errors.ts";
import { ofExams } from "./openExams.ts";

/** The contracts that turn exam results into claims, with their fixed settings. */
export type ExamClaimContracts = {
  examClaims: ExamClaims;
  exams: ExamsReader;
  pledges: PledgedClaimsReader;
  /** By number. */
  classes: readonly ExamClass[];
  /** Seconds after an exam result during which anybody can challenge the result. */
  lifetime: bigint;
};

/**
 * Where a worker's exam results are disputed: the claims made from the results, and the session in which the worker's
 * account plays games about the claims.
 */
export type OwnExamClaims = { session: Session; claimContracts: ExamClaimContracts };

/**
 * Opens what a worker's own exam results become when they are challenged.
 * @param session The worker's. @param exams Those that it sits. @param address By which they are challenged.
 * @throws WrongExamsError if no exam can be challenged there, or other exams; RpcUnavailableError
 */
export async function openOwnExamClaims(session: Session, exams: Address, address: Address): Promise<OwnExamClaims> {
  const claims = await ofExams(() => new ExamClaimsReader(address, session).claims(), notThere(address));
  const beside = await sessionBeside(session, claims);
  const claimContracts = await openExamClaims(beside, address);
  if (claimContracts.exams.address.toLowerCase() !== exams.toLowerCase())
    throw new WrongExamsError(
      `exams at ${claimContracts.exams.address} are challenged at ${address}, not those at ${exams}: give --exams ` +
        claimContracts.exams.address,
    );
  const fromBlock = await firstBlockOf(beside, claimContracts);
  return { session: { ...beside, fromBlock }, claimContracts };
}

/** Whether a pledge backs what the session's account sits. @throws RpcUnavailableError */
export async function isBacked({ session: { sender }, claimContracts }: OwnExamClaims): Promise<boolean> {
  const [pledge, enrolment] = await Promise.all([
    claimContracts.pledges.pledgeOf(sender.address),
    claimContracts.examClaims.enrolmentOf(sender.address),
  ]);
  return pledge.status === PledgeStatus.active && enrolment.pledged === pledge.time;
}

/**
 * Returns the earliest block at which a still open claim of a result may have begun. The block may be older than the
 * first block that the worker follows.
 */
async function firstBlockOf(
  { publicClient, deployment, fromBlock }: Session,
  claimContracts: ExamClaimContracts,
): Promise<bigint> {
  const { maxWindow, baseClock, maxWork, rate } = deployment.parameters;
  const clock = BigInt(baseClock) + (2n * maxWork) / rate;
  const { timestamp } = await publicClient.getBlock().catch((error: unknown) => {
    throw translateError(error, "reading the head");
  });
  const oldest = timestamp - claimContracts.lifetime - BigInt(maxWindow) - 2n * clock;
  const block = await firstBlockSince(publicClient, oldest, 0n);
  return block < fromBlock ? block : fromBlock;
}

/**
 * Reads what is at an address.
 * @param session About the pledged claims: its market is theirs.
 * @throws WrongExamsError if no exam can be challenged there, or its claims are others; RpcUnavailableError
 */
export async function openExamClaims(session: Session, address: Address): Promise<ExamClaimContracts> {
  const { market } = session.deployment;
  const examClaims = new ExamClaims(address, session);
  const [named, examsAt] = await ofExams(
    () => Promise.all([examClaims.claims(), examClaims.exams()]),
    notThere(address),
  );
  if (named.toLowerCase() !== market.toLowerCase())
    throw new WrongExamsError(
      `exams that are challenged at ${address} become claims at ${named}, not at ${market}: give --market ${named}`,
    );
  const exams = new ExamsReader(examsAt, session);
  const pledges = new PledgedClaimsReader(market, session);
  const [classes, lifetime] = await Promise.all([exams.classes(), pledges.lifetimeOf(address)]);
  return { examClaims, exams, pledges, classes, lifetime };
}

const notThere = (address: Address): string => `no exams can be challenged at ${address}: name the contract ExamClaims`;
