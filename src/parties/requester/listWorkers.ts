import { getAddress, type Address } from "viem";
import { ProvisioningReader } from "../../chain/clients/provisioning.ts";
import { StakeVaultReader } from "../../chain/clients/stakeVault.ts";
import type { History } from "../../chain/market/history.ts";
import { followMarket } from "../../chain/market/session.ts";
import { readExams } from "../../attestation/exams/openExams.ts";
import type { Reader } from "../../chain/market/reader.ts";

/** A worker that has claimed a job in the market, with the worker's stake (smallest units) and record (times unix). */
type WorkerStanding = {
  worker: Address;
  staked: bigint;
  /** The locked part of the stake: backs current claims. */
  locked: bigint;
  since: bigint;
  refuted: number;
  late: number;
  /** Whether it may claim now. */
  live: boolean;
  /** Claims of it that became final. Can be bought by serving oneself: no part of the record. */
  finalised: number;
  /** The classes that the worker holds, if exams were named. */
  classes?: readonly number[];
};

/**
 * The workers of a market, from its events: those with the largest stake first.
 * @param exams The deployment's exams, if classes are asked for.
 * @throws RpcUnavailableError
 */
export async function listWorkers(reader: Reader, exams?: Address): Promise<WorkerStanding[]> {
  return standingsOf(reader, (await followMarket(reader)()).history, exams);
}

/** The same of a history that is known. @throws RpcUnavailableError */
export async function standingsOf(reader: Reader, history: History, exams?: Address): Promise<WorkerStanding[]> {
  const { deployment, publicClient } = reader;
  const finals = new Map<Address, number>();
  const count = (worker: Address, more: number): void => {
    finals.set(getAddress(worker), (finals.get(getAddress(worker)) ?? 0) + more);
  };
  for (const { holder, late, sealed, broken } of history.jobs.values())
    for (const worker of [holder?.worker, sealed?.worker, broken, ...late]) if (worker !== undefined) count(worker, 0);
  for (const { claim, finalised } of history.claims.values()) count(claim.worker, finalised ? 1 : 0);
  const vault = new StakeVaultReader(deployment.vault, { publicClient });
  const classes = exams === undefined ? undefined : (await readExams(reader, exams)).exams;
  const provisioning = new ProvisioningReader(deployment.provisioning, { publicClient });
  const standings = await Promise.all(
    [...finals].map(async ([worker, finalised]): Promise<WorkerStanding> => {
      const [{ staked, locked }, record, { reason }, held] = await Promise.all([
        vault.accountOf(worker),
        vault.recordOf(worker),
        provisioning.eligibilityOf(worker),
        classes?.classesOf(worker),
      ]);
      const live = reason === "eligible";
      return { worker, staked, locked, ...record, live, finalised, ...(held && { classes: held }) };
    }),
  );
  return standings.sort((a, b) => Number(b.staked - a.staked));
}
