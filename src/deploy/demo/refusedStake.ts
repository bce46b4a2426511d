import { ContractRevertError } from "../../chain/errors.ts";
import { deposit } from "../../chain/market/deposit.ts";
import type { Session } from "../../chain/market/session.ts";

/** Tries to stake, and gives the contract's refusal. @throws Error if it was not refused. */
export async function refusedStake(session: Session, amount: bigint): Promise<ContractRevertError> {
  await deposit(session, amount);
  try {
    await session.vault.stake(amount);
  } catch (error) {
    if (error instanceof ContractRevertError) return error;
    throw error;
  }
  throw new Error("staking without a live attestation was not refused");
}
