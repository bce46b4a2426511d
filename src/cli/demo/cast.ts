import type { KnownProgram } from "../../chain/game/execution.ts";
import type { Execute } from "../../chain/game/executions.ts";
import { ContractRevertError } from "../../chain/errors.ts";
import { deposit, stake } from "../../chain/ledger.ts";
import type { Session } from "../../chain/session.ts";
import { benchmark, identify } from "../../provisioning/content.ts";
import type { SoftwareDevice } from "../../provisioning/device.ts";
import { registerReport, type ReportContent } from "../../provisioning/register.ts";

const WEEK = 7 * 86_400;

/** Registers both reports of a worker's device. */
export async function attest(
  session: Session,
  device: SoftwareDevice,
  program: KnownProgram,
  execute: Execute,
): Promise<{ identification: ReportContent; provisioning: ReportContent }> {
  const lifetimeSeconds = WEEK;
  const identification = await registerReport(session, device, {
    kind: "identification",
    content: identify,
    lifetimeSeconds,
  });
  const provisioning = await registerReport(session, device, {
    kind: "provisioning",
    content: (nonce) => benchmark(execute, program, nonce),
    lifetimeSeconds,
  });
  return { identification, provisioning };
}

/** Tries to stake, and gives the contract's refusal. @throws Error if it was not refused. */
export async function refusedStake(session: Session, amount: bigint): Promise<ContractRevertError> {
  await deposit(session, amount);
  try {
    await stake(session, amount);
  } catch (error) {
    if (error instanceof ContractRevertError) return error;
    throw error;
  }
  throw new Error("staking without a live attestation was not refused");
}
