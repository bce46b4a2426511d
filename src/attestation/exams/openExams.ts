import type { Address } from "viem";
import { Exams, ExamsReader } from "../../chain/clients/exams.ts";
import { ProvisioningReader } from "../../chain/clients/provisioning.ts";
import type { ExamClass } from "../../chain/structs.ts";
import { NotDeployedError } from "../../chain/errors.ts";
import { ofContract } from "../../chain/market/deployment.ts";
import type { Session } from "../../chain/market/session.ts";
import { WrongExamsError } from "../errors.ts";
import type { Reader } from "../../chain/market/reader.ts";

/** A deployment's exams contract, with its fixed settings. */
export type ExamClasses<E extends ExamsReader = ExamsReader> = {
  exams: E;
  /** By number. */
  classes: readonly ExamClass[];
  gridBlocks: bigint;
};

/**
 * Reads the exams at an address. @throws WrongExamsError if the exams belong to another deployment; RpcUnavailableError
 */
export const readExams = (reader: Reader, address: Address): Promise<ExamClasses> =>
  read(reader, new ExamsReader(address, reader));

/** The same, to sit them. @throws WrongExamsError, RpcUnavailableError */
export const openExams = (session: Session, address: Address): Promise<ExamClasses<Exams>> =>
  read(session, new Exams(address, session));

/**
 * Reads from contracts of exams.
 * @param absent What to say if they are not there.
 * @throws WrongExamsError if they are not there, RpcUnavailableError
 */
export const ofExams = <T>(action: () => Promise<T>, absent: string): Promise<T> =>
  ofContract(action, absent).catch((cause: unknown) => {
    throw cause instanceof NotDeployedError ? new WrongExamsError(absent, { cause }) : cause;
  });

async function read<E extends ExamsReader>({ deployment, publicClient }: Reader, exams: E): Promise<ExamClasses<E>> {
  const [named, classes] = await ofExams(
    () => Promise.all([exams.provisioning(), exams.classes()]),
    `no exams are at ${exams.address}: name the contract of this deployment's exams`,
  );
  if (named.toLowerCase() !== deployment.provisioning.toLowerCase())
    throw new WrongExamsError(
      `the exams at ${exams.address} are of devices at ${named}, not of those at ${deployment.provisioning}`,
    );
  const provisioning = new ProvisioningReader(deployment.provisioning, { publicClient });
  return { exams, classes, gridBlocks: BigInt(await provisioning.gridBlocks()) };
}
