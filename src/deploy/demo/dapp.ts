import { keccak256, stringToHex, type Address, type Hex } from "viem";
import { askedJob, TextDirectionDapp } from "../../chain/clients/textDirectionDapp.ts";
import { programFacts, type KnownProgram } from "../../dispute/run/execution.ts";
import type { Session } from "../../chain/market/session.ts";
import { toHex } from "../../program/merkle/hash.ts";
import { tensorRoot } from "../../program/merkle/tensor.ts";

/** The fee and the times of a question to the dapp. */
type TextQuestion = { fee: bigint; window: number; claimSeconds: number; salt: string };

/** Asks the dapp about a picture; the dapp posts the job. @returns The job's id and the gas of the transaction. */
export async function ask(
  { sender, asset, publicClient }: Session,
  dapp: Address,
  program: KnownProgram,
  picture: Uint8Array,
  { fee, window, claimSeconds, salt }: TextQuestion,
): Promise<{ jobId: Hex; gas: bigint }> {
  await asset.approve(dapp, fee);
  const { timestamp } = await publicClient.getBlock();
  const terms = {
    fee,
    window,
    claimSeconds,
    deadline: timestamp + 7n * 86_400n,
    salt: keccak256(stringToHex(salt)),
  };
  const facts = programFacts(program.commitment);
  const contract = new TextDirectionDapp(dapp, { sender });
  const receipt = await contract.ask(facts, toHex(picture), tensorRoot(picture), terms);
  return { jobId: askedJob(receipt), gas: receipt.gasUsed };
}
