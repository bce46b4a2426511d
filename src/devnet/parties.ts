import { WrappedEther } from "../chain/clients/wrappedEther.ts";
import { deposit } from "../market/ledger.ts";
import type { Session } from "../market/session.ts";
import { SoftwareDevice } from "../provisioning/device.ts";
import type { SoftwareManufacturer } from "../provisioning/manufacturer.ts";
import { registerReport } from "../provisioning/register.ts";

/** How long reports hold: below the week that a deployment allows. */
const REPORT_SECONDS = 6 * 86_400;

/** Wraps ether of an account into the stake asset. @param amount wei */
export async function giveAsset({ sender, deployment }: Session, amount: bigint): Promise<void> {
  await new WrappedEther(deployment.asset, { sender }).deposit(amount);
}

/** Gives an account credit in the vault, from its ether. @param credit wei */
export async function giveCredit(session: Session, credit: bigint): Promise<void> {
  await giveAsset(session, credit);
  await deposit(session, credit);
}

/** Makes an account a worker with stake for so many claims: a device of the manufacturer reports for it. */
export async function giveStake(session: Session, manufacturer: SoftwareManufacturer, claims: number): Promise<void> {
  const stake = BigInt(claims) * session.deployment.parameters.collateral;
  await giveCredit(session, stake);
  const device = new SoftwareDevice(manufacturer);
  for (const kind of ["identification", "provisioning"] as const)
    await registerReport(session, device, { kind, content: () => ({ kind }), lifetimeSeconds: REPORT_SECONDS });
  await session.vault.stake(stake);
}
