import { WrappedEther } from "../../chain/clients/wrappedEther.ts";
import { ZERO_HASH } from "../../chain/structs.ts";
import { deposit } from "../../chain/market/deposit.ts";
import type { Session } from "../../chain/market/session.ts";
import { attest } from "../../attestation/attest.ts";
import { SoftwareDevice } from "../../attestation/device.ts";
import type { SoftwareManufacturer } from "../../attestation/manufacturer.ts";

/** Wraps ether of an account into the stake asset. @param amount wei */
export async function giveAsset({ sender, deployment }: Session, amount: bigint): Promise<void> {
  await new WrappedEther(deployment.asset, { sender }).deposit(amount);
}

/** Gives an account credit in the vault, from its ether. @param credit wei */
export async function giveCredit(session: Session, credit: bigint): Promise<void> {
  await giveAsset(session, credit);
  await deposit(session, credit);
}

/** Makes an account a worker with stake for so many claims: its device reports nothing of a machine. */
export async function giveStake(session: Session, manufacturer: SoftwareManufacturer, claims: number): Promise<void> {
  const stake = BigInt(claims) * session.deployment.parameters.collateral;
  await giveCredit(session, stake);
  await attest(session, new SoftwareDevice(manufacturer), ZERO_HASH);
  await session.vault.stake(stake);
}
