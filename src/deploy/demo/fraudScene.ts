import { formatEther } from "viem";
import type { WatcherEvent } from "../../../watcher/events.ts";
import type { GameRecord } from "../../chain/market/history.ts";
import type { Session } from "../../chain/market/session.ts";
import { JobStatus, Level, Move, Outcome } from "../../chain/structs.ts";
import { cheatingExecute, chooseAlteration } from "./cheat.ts";
import { ask } from "./dapp.ts";
import { gameGas, wrongValue, type Figures } from "./figures.ts";
import { TERMS } from "./honestScene.ts";
import { grouped, short, type Narrator } from "./narrator.ts";
import { readHistory, startWorker, type Running, type SceneContext } from "./players.ts";

/** The same job, a cheating worker, and how it ends. */
export async function fraudScene(
  context: SceneContext,
  cheat: Session,
  watcherSession: Session,
  watcher: Running<WatcherEvent>,
  n: Narrator,
): Promise<Figures["fraud"]> {
  const { program, executors, picture } = context;
  const { jobId } = await ask(context.requester, context.dapp, program, picture, { ...TERMS, salt: "second" });
  n.narrate(`Job ${short(jobId)}: the same picture, the same fee.`);
  const alteration = await chooseAlteration(executors, program, [picture]);
  const stakeBefore = (await cheat.vault.accountOf(cheat.sender.address)).staked;
  const running = startWorker(cheat, context, cheatingExecute(executors, alteration), 0);
  n.narrate(
    `A worker alters one value of step ${alteration.step} of ${program.model.program.steps.length} ` +
      `and runs on from it.`,
  );

  const differs = await watcher.inbox.first(
    "the watcher's finding",
    (e): e is Extract<WatcherEvent, { kind: "differs" }> => e.kind === "differs" && e.jobId === jobId,
  );
  n.narrate(`The watcher executes the job: its root is ${short(differs.own)}, the worker's ${short(differs.claimed)}.`);
  await watcher.inbox.first(
    "the step proof",
    (e): e is Extract<WatcherEvent, { kind: "moved" }> => e.kind === "moved" && e.move === "prove",
  );
  await running.stop();

  const { jobs } = await readHistory(context.requester);
  const claim = jobs.get(jobId)!.claims.at(-1)!;
  const game = claim.games.find(({ proved }) => proved !== undefined)!;
  if (!claim.refuted || game.closed?.outcome !== Outcome.challengerWon) throw new Error("the false claim stands");
  const moves = await gameGas(context.requester, game);
  listMoves(game, moves, n);

  const found = wrongValue(program.model, game);
  n.narrate(`The chain recomputes that one element: ${found.exact}, not ${found.claimed}. The claim is dead.`);
  const slashed = stakeBefore - (await cheat.vault.accountOf(cheat.sender.address)).staked;
  n.narrate(`The worker is slashed ${formatEther(slashed)} WETH.`);
  const { bond, parameters } = watcherSession.deployment;
  n.narrate(
    `The watcher has its bond of ${formatEther(bond)} WETH back, its gas, ` +
      `and ${formatEther(parameters.bounty)} WETH of bounty.`,
  );
  const { status } = await context.requester.market.jobOf(jobId);
  if (status !== JobStatus.open) throw new Error("the job is not open again");
  n.narrate("The job is open again, its fee still in escrow, for another worker.");
  const gas = moves.reduce((sum, move) => sum + move.gas, 0);
  const rewarded = formatEther(game.closed.paid - bond);
  return {
    outcome: "refuted",
    transactions: moves.length,
    gas,
    moves,
    ...found,
    slashed: formatEther(slashed),
    rewarded,
  };
}

function listMoves(game: GameRecord, moves: readonly { move: string; gas: number }[], n: Narrator): void {
  n.narrate("The dispute, one transaction a line:");
  moves.forEach(({ move, gas }, k) => {
    const record = game.moves[k];
    const text = record === undefined ? "one element, recomputed on chain" : explain(record);
    n.narrate(`  ${move.padEnd(7)} ${grouped(gas).padStart(9)} gas  ${text}`);
  });
}

const LISTS = {
  [Level.answer]: "outputs",
  [Level.items]: "items of the output",
  [Level.run]: "items",
  [Level.trace]: "checkpoints",
  [Level.interior]: "steps of the range",
  [Level.tensor]: "chunks",
};

function explain({ move, state, data }: GameRecord["moves"][number]): string {
  const list = LISTS[state.level];
  const under = 2 ** state.depth;
  const first = state.index * under;
  const last = first + under < state.width ? first + under - 1 : state.width - 1;
  const range = first === last ? `number ${first}` : `numbers ${first} to ${last}`;
  const count = (data.length - 2) / 64;
  if (move === Move.reveal) {
    return state.depth === 0 ? "worker shows the 512-byte chunk" : `worker shows ${count} nodes of the ${list}`;
  }
  if (move === Move.expand)
    return `worker commits to the ${state.width} tensors of steps ${state.first} to ${state.last}`;
  const entered = state.level === Level.tensor && state.index === 0 && first === 0 && last === state.width - 1;
  const what = entered ? `the tensor of step ${state.step}` : `${list}, ${range} of ${state.width}`;
  return `watcher disputes ${what}`;
}
