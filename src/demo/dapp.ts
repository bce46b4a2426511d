import { erc20Abi, keccak256, parseEventLogs, stringToHex, toHex, type Address, type Hex } from "viem";
import { textDirectionDappAbi } from "../chain/abi/textDirectionDapp.ts";
import { programFacts, type KnownProgram } from "../player/execution.ts";
import type { Session } from "../market/session.ts";
import { tensorRoot } from "../merkle/tensor.ts";

/** What a question to the dapp costs and allows. */
export type Question = { fee: bigint; window: number; claimSeconds: number; salt: string };

/** Asks the dapp about a picture; the dapp posts the job. @returns The job's id and the gas of the transaction. */
export async function ask(
  { sender, deployment, publicClient }: Session,
  dapp: Address,
  program: KnownProgram,
  picture: Uint8Array,
  { fee, window, claimSeconds, salt }: Question,
): Promise<{ jobId: Hex; gas: bigint }> {
  await sender.send({ address: deployment.asset, abi: erc20Abi, functionName: "approve", args: [dapp, fee] });
  const { timestamp } = await publicClient.getBlock();
  const terms = {
    fee,
    window,
    claimSeconds,
    deadline: timestamp + 7n * 86_400n,
    salt: keccak256(stringToHex(salt)),
  };
  const facts = programFacts(program.commitment);
  const receipt = await sender.send({
    address: dapp,
    abi: textDirectionDappAbi,
    functionName: "ask",
    args: [facts, toHex(picture), tensorRoot(picture), terms],
  });
  const [asked] = parseEventLogs({ abi: textDirectionDappAbi, logs: receipt.logs, eventName: "Asked" });
  return { jobId: asked!.args.jobId, gas: receipt.gasUsed };
}
