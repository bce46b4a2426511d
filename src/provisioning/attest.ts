import type { KnownProgram } from "../player/execution.ts";
import type { Execute } from "../player/executeRun.ts";
import type { Session } from "../market/session.ts";
import { benchmark, identify } from "./content.ts";
import type { SoftwareDevice } from "./device.ts";
import { registerReport, type ReportContent } from "./register.ts";

/** How long reports hold by default: a week, the longest that a deployment allows by default. */
export const WEEK_SECONDS = 7 * 86_400;

/** The contents of a worker's two reports. */
export type Attestation = { identification: ReportContent; provisioning: ReportContent };

/**
 * Registers both reports of a worker's device: what the machine is, and a benchmark of a program on it.
 * @throws ContractRevertError `ManufacturerNotTrusted`, `DeviceIsRevoked`, `DeviceBacksAnother`, `ReportTooLong`
 */
export async function attest(
  session: Session,
  device: SoftwareDevice,
  program: KnownProgram,
  execute: Execute,
  lifetimeSeconds = WEEK_SECONDS,
): Promise<Attestation> {
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
