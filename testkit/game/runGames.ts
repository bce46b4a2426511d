import type { Hex } from "viem";
import { Level } from "../../src/chain/structs.ts";
import { challengerMove, type ChallengerMove } from "../../src/dispute/challengerMove.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { openingPick } from "../../src/dispute/pick.ts";
import { submissionOf, workerMove } from "../../src/dispute/workerMove.ts";
import type { Executor } from "../../src/executor/createExecutor.ts";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import type { Executions } from "../../src/runs/executions.ts";
import { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { MemoryGame } from "../../src/dispute/memoryGame.ts";
import type { Execute } from "../../src/runs/execute.ts";

const ARITY_BITS = 4;

/** An element of a step's tensor in an item. The tensor has four-byte words. */
export type RunElement = { item: number; step: number; element: number };

/**
 * Returns the fast executor with a count of executed items. An optional lie changes an element in one item, and
 * everything computed from the element.
 */
export function countedExecute(
  executor: Pick<Executor, "run">,
  lie?: RunElement,
): { execute: Execute; items: number[] } {
  const items: number[] = [];
  const execute: Execute = async (_, inputs, keep, trees) => {
    // The last input is the index.
    const index = inputs.at(-1)!;
    const item = Number(new DataView(index.buffer, index.byteOffset).getBigInt64(0, true));
    items.push(item);
    const onStep = (step: number, tensor: Uint8Array): void => {
      if (step === lie?.step) tensor[4 * lie.element]! ^= 1;
    };
    const options = { ...(keep && { keep }), ...(trees && { trees }), ...(item === lie?.item && { onStep }) };
    return (await executor.run(inputs, options)).tensors;
  };
  return { execute, items };
}

/** Plays the game of a right challenger against a wrong claim. @returns The challenger's last move. */
export async function playRunGame(job: JobRecord, worker: Executions, challenger: Executions): Promise<ChallengerMove> {
  const nodes = (await worker.use(job, ({ claimed }) => submissionOf(claimed, ARITY_BITS)))!;
  const own = (await challenger.of(job))!;
  const opening = openingPick(own, submittedList(own, nodes), ARITY_BITS)!;
  const game = new MemoryGame(own.program, (await worker.of(job))!.root, opening, own.items);
  for (;;) {
    game.answer((await worker.use(job, (run) => workerMove(run, game.state, ARITY_BITS, 0n)))!);
    const move = await challenger.use(job, (run) => challengerMove(run, nodes, game.moves, ARITY_BITS, 0n));
    if (move?.kind !== "pick") return move!;
    game.pick(move.pick);
  }
}

/**
 * Returns a challenger's execution with a single wrong element in one item. The element belongs to a step with a
 * checkpoint.
 */
function shamRun(honest: RunExecution, { item, step, element }: RunElement): RunExecution {
  const { program, inputs, list, items } = honest;
  const own = honest.item(item);
  const { steps } = program.model.program;
  own.trace.require(steps.map((_, s) => s));
  const tensors = steps.map((_, s) => new Uint8Array(own.trace.tensor(s)));
  tensors[step]![4 * element]! ^= 1;
  const trace = new Trace(program.model.program, tensors);
  const roots = Array.from({ length: items }, (_, k) => (k === item ? trace.root : list.node(0, k)));
  const sham = new RunExecution(program, inputs, { traces: MerkleList.fromHashes(roots), answer: honest.answer });
  sham.hold(item, { ...own, trace });
  return sham;
}

/** Sham games against an honest worker. Each game disputes another item of the same claim. */
export class ShamRunGames {
  readonly #worker: Executions;
  readonly #challenger: Executions;
  readonly #job: JobRecord;
  #open: { sham: RunExecution; game: MemoryGame; nodes: Hex }[] = [];
  /** The number of moves by the worker. */
  moves = 0;

  /** @param challenger Right executions, which the challengers alter. */
  constructor(worker: Executions, challenger: Executions, job: JobRecord) {
    [this.#worker, this.#challenger, this.#job] = [worker, challenger, job];
  }

  async open(elements: readonly RunElement[]): Promise<void> {
    const nodes = (await this.#worker.use(this.#job, ({ claimed }) => submissionOf(claimed, ARITY_BITS)))!;
    for (const element of elements) {
      const opened = await this.#challenger.use(this.#job, (run) => {
        const sham = shamRun(run, element);
        const pick = openingPick(run, submittedList(sham, nodes), ARITY_BITS)!;
        return { sham, nodes, game: new MemoryGame(run.program, run.root, pick, run.items) };
      });
      this.#open.push(opened!);
    }
  }

  /** The worker's next moves in all games, made at once, and the challengers' answers. @returns Whether any goes on. */
  async playRound(): Promise<boolean> {
    const answer = async ({ game }: { game: MemoryGame }): Promise<void> => {
      game.answer((await this.#worker.use(this.#job, (run) => workerMove(run, game.state, ARITY_BITS, 0n)))!);
      this.moves++;
    };
    await Promise.all(this.#open.map(answer));
    this.#open = this.#open.filter(({ sham, game, nodes }) => {
      // Only a proof would remain, and the challenger cannot make the proof.
      if (game.state.level === Level.tensor && game.state.depth === 0) return false;
      const move = challengerMove(sham, nodes, game.moves, ARITY_BITS, 0n);
      if (move.kind === "pick") game.pick(move.pick);
      return move.kind === "pick";
    });
    return this.#open.length > 0;
  }
}
