import { expect } from "chai";
import fc from "fast-check";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { openingPick } from "../../src/dispute/pick.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { submissionOf, workerMove } from "../../src/dispute/workerMove.ts";
import { Side } from "../../src/chain/structs.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { MemoryGame } from "../../src/dispute/memoryGame.ts";
import { randomSums, sumsInput } from "../../testkit/programs/randomSums.ts";
import { runOfOne } from "../../testkit/programs/runOfOne.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { challengerMove } from "../../src/dispute/challengerMove.ts";
import { isWholeGame } from "../../src/dispute/wholeGame.ts";

type Lie = { step: number; element: number };

/** An execution; with a lie, one element is changed and the rest runs on from it. */
function execute(model: CompiledModel, input: Uint8Array, lie?: Lie): RunExecution {
  const onStep = (step: number, tensor: Uint8Array) => {
    if (step === lie?.step) tensor[lie.element * 4]! ^= 0x40;
  };
  const inputs = [input];
  const trace = new Trace(model.program, executeReference(model, inputs, { onStep }));
  return runOfOne({ ...knownProgram(model), inputs, trace });
}

/** A random program with an honest execution and one that is wrong from a random element on. */
function randomLie(seed: number): { honest: RunExecution; lie: Lie; wrong: RunExecution } {
  const prng = new Prng(seed);
  const model = randomSums(prng);
  const input = sumsInput(prng, model);
  const { steps, inputs } = model.program;
  const lie = { step: prng.below(steps.length), element: prng.below(inputs[0]!.count) };
  return { honest: execute(model, input), lie, wrong: execute(model, input, lie) };
}

/** Plays both strategies against each other until the challenger proves or gives up. */
function play(worker: RunExecution, challenger: RunExecution, arityBits: number) {
  const nodes = submissionOf(worker.claimed, arityBits);
  const opening = openingPick(challenger, submittedList(challenger, nodes), arityBits);
  if (opening === undefined) return undefined;
  const game = new MemoryGame(challenger.program, worker.root, opening);
  for (let k = 0; k < 60; k++) {
    if (game.state.turn === Side.worker) {
      game.answer(workerMove(worker, game.state, arityBits, 0n));
      continue;
    }
    const move = challengerMove(challenger, nodes, game.moves, arityBits, 0n);
    if (move.kind === "pick") game.pick(move.pick);
    else return { game, move };
  }
  throw new Error("the game does not end");
}

describe("challengerMove against workerMove", function () {
  const cases = fc.record({ seed: fc.nat(), arityBits: fc.integer({ min: 1, max: 6 }) });

  it("aLie_isAlwaysFoundAtItsStepAndElement", function () {
    fc.assert(
      fc.property(cases, ({ seed, arityBits }) => {
        const { honest, lie, wrong: liar } = randomLie(seed);
        // A wrong tensor that no checkpoint depends on leaves the claim true.
        if (liar.root === honest.root) return;
        const { game, move } = play(liar, honest, arityBits)!;
        expect(move.kind).to.equal("prove");
        if (move.kind !== "prove") return;
        expect([game.state.step, Number(move.proof.element)]).to.deep.equal([lie.step, lie.element]);
        const claimed = game.claimedBy(move.proof, 4);
        expect(BigInt.asUintN(32, move.exact) ^ claimed).to.equal(0x40n);
      }),
      { numRuns: 150 },
    );
  });

  it("aMissingMove_isWaitedFor", function () {
    let gaps = 0;
    fc.assert(
      fc.property(cases, ({ seed, arityBits }) => {
        const { honest, wrong: liar } = randomLie(seed);
        if (liar.root === honest.root) return;
        const nodes = submissionOf(liar.claimed, arityBits);
        const { moves } = play(liar, honest, arityBits)!.game;
        for (let end = 2; end <= moves.length; end++) {
          const known = moves.slice(0, end);
          expect(isWholeGame(known, arityBits)).to.equal(true);
          if (known.at(-1)!.state.turn !== Side.challenger) continue;
          for (let length = 1; length < end; length++)
            for (let from = 0; from + length < end; from++) {
              const left = known.filter((_, k) => k < from || k >= from + length);
              expect(challengerMove(honest, nodes, left, arityBits, 0n).kind).to.equal("wait");
              gaps++;
            }
        }
      }),
      { numRuns: 60 },
    );
    expect(gaps).to.be.above(1_000);
  });

  it("anHonestWorker_alwaysHasAMove_andAWrongChallengerProvesNothing", function () {
    fc.assert(
      fc.property(cases, ({ seed, arityBits }) => {
        const { honest, wrong: confused } = randomLie(seed);
        if (confused.root === honest.root) return;
        const { game, move } = play(honest, confused, arityBits)!;
        if (move.kind !== "prove") return;
        // The element is what the step gives on the worker's own tensors, whatever the challenger believes.
        expect(BigInt.asUintN(32, move.exact)).to.equal(game.claimedBy(move.proof, 4));
      }),
      { numRuns: 150 },
    );
  });

  it("outOfTime_theOtherSideClaimsTheTimeout", function () {
    const model = randomSums(new Prng(1), 4);
    const input = sumsInput(new Prng(2), model);
    const honest = execute(model, input);
    const liar = execute(model, input, { step: 3, element: 0 });
    const nodes = submissionOf(liar.claimed, 4);
    const opening = openingPick(honest, submittedList(honest, nodes), 4)!;
    const game = new MemoryGame(honest.program, liar.root, opening);
    expect(challengerMove(honest, nodes, game.moves, 4, 100n).kind).to.equal("wait");
    expect(challengerMove(honest, nodes, game.moves, 4, 101n).kind).to.equal("timeout");
    game.answer(workerMove(liar, game.state, 4, 0n));
    expect(workerMove(liar, game.state, 4, 100n).kind).to.equal("wait");
    expect(workerMove(liar, game.state, 4, 101n).kind).to.equal("timeout");
  });

  it("claimThatIsOnesOwn_isNotOpened", function () {
    const model = randomSums(new Prng(3), 6);
    const honest = execute(model, sumsInput(new Prng(4), model));
    expect(play(honest, honest, 2)).to.equal(undefined);
  });
});
