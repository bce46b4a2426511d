import type { Hex } from "viem";
import { disputeGameAbi } from "../../src/chain/abi/disputeGame.ts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { ContractRevertError } from "../../src/chain/errors.ts";
import { stateOf, type ClaimRecord, type GameRecord, type JobRecord } from "../../src/chain/market/history.ts";
import type { Session } from "../../src/chain/market/session.ts";
import { packState, type GameState } from "../../src/chain/market/state.ts";
import { submissionOf } from "../../src/dispute/workerMove.ts";
import type { Pick, StepProof } from "../../src/chain/structs.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { formOf } from "../../src/chain/market/claimForm.ts";
import { runOfOne } from "../programs/runOfOne.ts";
import { RunExecution } from "../../src/dispute/run/runExecution.ts";
import type { Execution } from "../../src/dispute/run/execution.ts";
import { claimContentOf } from "../../src/chain/market/ids.ts";

const atGame = ({ deployment }: Session) => ({ address: deployment.game, abi: disputeGameAbi }) as const;
const atMarket = ({ deployment }: Session) => ({ address: deployment.market, abi: jobMarketAbi }) as const;

export const claim = (session: Session, { job }: JobRecord) =>
  session.sender.send({ ...atMarket(session), functionName: "claim", args: [job] });

/**
 * Returns an execution in the form that claims on a job need. @param execution The only item's execution, or the whole
 * run's.
 */
export const runFor = ({ job }: JobRecord, execution: Execution | RunExecution): RunExecution =>
  execution instanceof RunExecution ? execution : runOfOne(execution, formOf(job));

/** Submits an execution, or a list with the same word in all leaves. */
export const submit = (session: Session, record: JobRecord, execution: Execution | RunExecution | Hex) => {
  const { job } = record;
  const { arityBits } = session.deployment.parameters;
  const form = formOf(job);
  const width = form === "answer" ? job.answers : job.checkpoints;
  const list =
    typeof execution === "string"
      ? MerkleList.fromHashes(new Array<Hex>(width).fill(execution))
      : runFor(record, execution).claimed;
  const nodes = submissionOf(list, arityBits, form);
  return session.sender.send({ ...atMarket(session), functionName: "submit", args: [job, nodes] });
};

export const open = (session: Session, record: ClaimRecord, pick: Pick, number = 0) =>
  session.sender.send({ ...atGame(session), functionName: "open", args: [record.claim, number, pick] });

export const reveal = (session: Session, game: GameRecord, data: Hex, state: GameState = stateOf(game)) =>
  session.sender.send({ ...atGame(session), functionName: "reveal", args: [packState(state), data] });

export const expand = (session: Session, game: GameRecord, children: Hex, siblings: readonly Hex[]) =>
  session.sender.send({
    ...atGame(session),
    functionName: "expand",
    args: [packState(stateOf(game)), claimContentOf(game.key), children, siblings],
  });

export const pick = (session: Session, game: GameRecord, chosen: Pick, state: GameState = stateOf(game)) =>
  session.sender.send({ ...atGame(session), functionName: "pick", args: [packState(state), chosen] });

export const prove = (session: Session, { job }: JobRecord, game: GameRecord, proof: StepProof) => {
  const { worker, root, collateral } = game.key;
  const args = [packState(stateOf(game)), { job, worker, root, collateral }, proof] as const;
  return session.sender.send({ ...atGame(session), functionName: "prove", args });
};

export const concede = (session: Session, game: GameRecord) =>
  session.sender.send({ ...atGame(session), functionName: "concede", args: [packState(stateOf(game)), game.key] });

export const timeout = (session: Session, game: GameRecord) =>
  session.sender.send({ ...atGame(session), functionName: "timeout", args: [packState(stateOf(game)), game.key] });

/** Returns the error's name when a contract refuses a call. @throws If the contract accepts the call. */
export async function refusalOf(sent: Promise<unknown>): Promise<string> {
  try {
    await sent;
  } catch (error) {
    if (error instanceof ContractRevertError) return error.errorName;
    throw error;
  }
  throw new Error("the contract took what it must refuse");
}

/** Checks that a contract refuses a call by a named error. */
export async function mustRefuse(sent: Promise<unknown>, ...names: string[]): Promise<void> {
  const name = await refusalOf(sent);
  if (!names.includes(name)) throw new Error(`refused by ${name}, expected ${names.join(" or ")}`);
}
