import { expect } from "chai";
import { Level, Move, Side } from "../../src/chain/structs.ts";
import { challengerMove, type ChallengerMove } from "../../src/dispute/challengerMove.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { disputeMoves } from "../../src/dispute/moveGas.ts";
import { openingPick, pickAt } from "../../src/dispute/pick.ts";
import { submissionOf, workerMove } from "../../src/dispute/workerMove.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { programShape, type KnownProgram } from "../../src/dispute/run/execution.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { MemoryGame } from "../../src/dispute/memoryGame.ts";
import { apartAnswers, carriedAnswers } from "../../testkit/programs/answerPrograms.ts";
import { runInputBytes, type RunRanges } from "../../testkit/programs/runProgram.ts";
import { executedRun, heldRun, itemsOf } from "../../testkit/soak/executedRun.ts";

type Lie = { item: number; step: number; element: number };

const inputsOf = ({ model }: KnownProgram, items: number): RunInputs =>
  new RunInputs(model.program.inputs, { items, firstItem: 0 }, runInputBytes(items));

/** An answer's execution; with a lie, one element is changed and the rest runs on from it. */
const execute = (known: KnownProgram, items: number, lie?: Lie): RunExecution =>
  executedRun({ known, inputs: inputsOf(known, items), form: "answer" }, (item, own) =>
    executeReference(known.model, own, {
      onStep: (step, tensor) => {
        if (item === lie?.item && step === lie.step) tensor[4 * lie.element]! ^= 0x40;
      },
    }),
  );

/** Opens a game where the challenger finds the first difference, or undefined. */
function opened(worker: RunExecution, challenger: RunExecution, arityBits: number) {
  const nodes = submissionOf(worker.claimed, arityBits, worker.form);
  const opening = openingPick(challenger, submittedList(challenger, nodes), arityBits);
  if (opening === undefined) return undefined;
  return { nodes, game: new MemoryGame(challenger.program, worker.root, opening, worker.items, "answer") };
}

/** Plays both strategies against each other until the challenger proves or gives up. */
function play(worker: RunExecution, challenger: RunExecution, arityBits: number): [MemoryGame, ChallengerMove] {
  const { game, nodes } = opened(worker, challenger, arityBits)!;
  for (;;) {
    if (game.state.turn === Side.worker) {
      game.answer(workerMove(worker, game.state, arityBits, 0n));
      continue;
    }
    const move = challengerMove(challenger, nodes, game.moves, arityBits, 0n);
    if (move.kind !== "pick") return [game, move];
    game.pick(move.pick);
  }
}

const PROGRAMS = [
  ["carried", carriedAnswers],
  ["apart", apartAnswers],
] as const;
const NAMES = ["open", "reveal", "pick", "expand"] as const;

for (const [name, programOf] of PROGRAMS) {
  for (const ranges of ["two", "one", "step"] satisfies RunRanges[]) {
    describe(`answers of a program that is ${name}, with ranges of ${ranges}`, () => {
      const known = programOf(ranges);
      const { steps } = known.model.program;

      for (const items of [1, 2, 7, 17]) {
        it(`lieInAnyStepAndItemOf${items}_isProven_whereItIs`, () => {
          const honest = execute(known, items);
          for (const item of new Set([0, Math.floor(items / 2), items - 1])) {
            for (const step of steps.keys()) {
              const wrong = execute(known, items, { item, step, element: 299 });
              // Of items that only the last output tells, others may be wrong.
              if (wrong.root === honest.root) continue;
              for (const arityBits of [1, 4]) {
                const [game, move] = play(wrong, honest, arityBits);
                expect(move.kind).to.equal("prove");
                if (move.kind !== "prove") return;
                const place = { item: game.state.item, step: game.state.step, element: Number(move.proof.element) };
                expect(place).to.deep.equal({ item, step, element: 299 });
                expect(BigInt.asUintN(32, move.exact) ^ game.claimedBy(move.proof, 4)).to.equal(0x40n);
              }
            }
          }
        });
      }

      it("honestWorker_alwaysHasAMove_andAWrongChallengerProvesNothing", () => {
        for (const items of [1, 3]) {
          const honest = execute(known, items);
          for (const step of steps.keys()) {
            const confused = execute(known, items, { item: items - 1, step, element: 5 });
            if (confused.root === honest.root) continue;
            const [game, move] = play(honest, confused, 4);
            if (move.kind !== "prove") continue;
            expect(BigInt.asUintN(32, move.exact)).to.equal(game.claimedBy(move.proof, 4));
          }
        }
      });

      it("anyOutput_opened_isExpandedByItsWorker_withoutACause", () => {
        const honest = execute(known, 3);
        const { list } = honest.answer;
        for (let index = 0; index < list.width; index++) {
          const landing = { depth: 0, index, node: list.node(0, index), siblings: list.path(index) };
          const game = new MemoryGame(known, honest.root, pickAt(honest, landing), 3, "answer");
          const { turn } = game.state;
          expect(turn).to.equal(Side.worker);
          game.answer(workerMove(honest, game.state, 4, 0n));
          expect(game.state.turn).to.equal(Side.challenger);
        }
      });

      it("expandedIntoATraceWithAnotherOutput_isRefused", () => {
        const [honest, wrong] = [execute(known, 3), execute(known, 3, { item: 2, step: steps.length - 1, element: 1 })];
        // A wrong answer, and nothing but the right execution to show.
        const job = { known, inputs: inputsOf(known, 3), form: "answer" } as const;
        const liar = heldRun(job, itemsOf(honest), { answer: wrong.answer });
        const { game, nodes } = opened(liar, honest, 4)!;
        while (game.state.level === Level.items && game.state.depth > 0) {
          game.answer(workerMove(liar, game.state, 4, 0n));
          const move = challengerMove(honest, nodes, game.moves, 4, 0n);
          if (move.kind === "pick") game.pick(move.pick);
        }
        const next = (): void => game.answer(workerMove(liar, game.state, 4, 0n));
        expect(next).to.throw(/refused/);
      });

      it("disputeMoves_areThoseOfAGameOverTheLastElement", () => {
        const lie = { item: 6, step: steps.length - 1, element: 299 };
        const [game] = play(execute(known, 7, lie), execute(known, 7), 4);
        const shape = programShape(known);
        const isEach = name === "apart" && ranges !== "two";
        const answer = { outputs: shape.outputs, isEach, isCarried: shape.isCarried };
        const { moves } = disputeMoves({ ...shape, items: 7, arityBits: 4, answer });
        const played = game.moves.map(({ move }, k) => {
          const before = game.moves[k - 1]?.state;
          return move === Move.reveal && before?.level === Level.tensor && before.depth === 0 ? "chunk" : NAMES[move];
        });
        expect([...played, "prove"]).to.deep.equal(moves);
      });
    });
  }
}
