import type { Hex } from "viem";
import type { GameRecord } from "../../chain/market/history.ts";
import type { Session } from "../../chain/market/session.ts";
import { Move } from "../../chain/structs.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { wordText } from "./floatText.ts";

/** The measurements of a run. */
export type Figures = {
  program: { root: Hex; steps: number; checkpoints: number; largestStepProofGas: number; terms: string };
  honest: {
    outcome: "finalised";
    answer: string;
    confidencePpm: number;
    executionMilliseconds: number;
    gas: { ask: number; claim: number; submit: number; deliver: number };
  };
  fraud: {
    outcome: "refuted";
    transactions: number;
    gas: number;
    moves: { move: string; gas: number }[];
    step: number;
    operator: string;
    node: string;
    element: number;
    claimed: string;
    exact: string;
    slashed: string;
    rewarded: string;
  };
  seconds: number;
};

/** Returns a game's transactions in order, each with the gas spent. */
export async function gameGas({ publicClient }: Session, game: GameRecord): Promise<{ move: string; gas: number }[]> {
  const names = Object.keys(Move);
  const sent = game.moves.map(({ move, transactionHash }) => ({ name: names[move]!, transactionHash }));
  if (game.closed !== undefined) sent.push({ name: "prove", transactionHash: game.closed.transactionHash });
  return Promise.all(
    sent.map(async ({ name, transactionHash }) => {
      const { gasUsed } = await publicClient.getTransactionReceipt({ hash: transactionHash });
      return { move: name, gas: Number(gasUsed) };
    }),
  );
}

/** Returns the place of the wrong value, with the claimed and the correct value, from the chain's record. */
export function wrongValue({ program, origins }: CompiledModel, game: GameRecord) {
  const { step, element, claimed, exact } = game.proved!;
  const { dtype } = program.steps[step]!;
  const { node, operator } = origins[step]!;
  return {
    step,
    node,
    operator,
    element: Number(element),
    claimed: wordText(claimed, dtype),
    exact: wordText(exact, dtype),
  };
}

/** The last line that the demo prints. */
export function lastLine({ honest, fraud }: Pick<Figures, "honest" | "fraud">): string {
  const { outcome, transactions, gas, step, operator, element, claimed, exact } = fraud;
  return (
    `Honest job: ${honest.outcome}. Fraudulent job: ${outcome} in ${transactions} transactions, ${gas} gas. ` +
    `Wrong value: step ${step} (operator ${operator}), element ${element}: claimed ${claimed}, exact ${exact}.`
  );
}
