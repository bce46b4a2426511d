import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { numberToHex, type Hex } from "viem";
import { submittedList } from "../../src/dispute/disputed.ts";
import { programFacts } from "../../src/dispute/run/execution.ts";
import { Executions } from "../../src/runs/executions.ts";
import { openingPick } from "../../src/dispute/pick.ts";
import { submissionOf, workerMove } from "../../src/dispute/workerMove.ts";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { ONE_ITEM } from "../../src/program/run.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { rejection } from "../../testkit/rejection.ts";
import { lyingTrace, chainProgram, type GameProgram } from "../../testkit/protocol/chainProgram.ts";
import { runOfOne } from "../../testkit/programs/runOfOne.ts";
import { MemoryGame } from "../../src/dispute/memoryGame.ts";
import { challengerMove } from "../../src/dispute/challengerMove.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** Ranges of 3 and 6 steps. */
const subject = chainProgram(300, [3, 6]);
const steps = subject.program.steps.map((_, step) => step);
const lost = steps.filter((step) => subject.program.checkpoints.every((checkpoint) => checkpoint.step !== step));

function jobOf({ model, commitment, input }: GameProgram, k = 1): JobRecord {
  const root = tensorRoot(input);
  return {
    id: numberToHex(k),
    job: { programRoot: model.programRoot, inputsRoot: MerkleList.fromHashes([root]).root, ...ONE_ITEM, answers: 0 },
    program: programFacts(commitment),
    inputRoots: [root],
    parts: new Map([[0, new Map([[0, toHex(input)]])]]),
    claims: [],
  } as unknown as JobRecord;
}
const job = jobOf(subject);

/** Every job of a program has the same inputs here. */
const known = new Map<CompiledModel, Uint8Array[]>();

/** Executions one after the other, as the executor's are, of which only the tensors asked for are there. */
function counted(
  subject: GameProgram,
  budget?: number,
): { executions: Executions; count: () => number; fail: (times: number) => void; leaveGpu: () => void } {
  let [count, failures, device] = [0, 0, "a GPU"];
  let last: Promise<unknown> = Promise.resolve();
  const execute: Execute = (model, inputs, keep) => {
    const done = last.then(async () => {
      count++;
      await sleep(2);
      if (failures-- > 0) throw new Error("out of memory");
      const tensors = (known.get(model) ?? known.set(model, executeReference(model, inputs)).get(model))!;
      const kept: Uint8Array[] = [];
      tensors.forEach((tensor, step) => {
        if (keep === undefined || keep(step)) kept[step] = tensor;
      });
      return kept;
    });
    last = done.catch(() => undefined);
    return done;
  };
  const onDevice = Object.assign(execute, { device: () => device });
  const executions = new Executions(ProgramLibrary.of([subject]), onDevice, budget);
  const leaveGpu = (): void => void (device = "cpu");
  return { executions, count: () => count, fail: (times) => void (failures = times), leaveGpu };
}

/** Ranges of several steps, whose tensors have many chunks. */
const wide = chainProgram(3_000, [3, 6, 5, 8]);

/** A challenger's execution that differs from the worker's inside the second range. */
const sham = runOfOne({ ...wide, inputs: [wide.input], trace: lyingTrace(wide, 5, 700) });
const ARITY_BITS = 1;
const CLAIMS = 12;

/** Sham games, one on each of as many claims, in which the honest worker moves in turns. */
class ShamGames {
  readonly #executions: Executions;
  readonly #games: { job: JobRecord; game: MemoryGame; nodes: Hex }[] = [];
  maxBytes = 0;
  moves = 0;

  constructor(executions: Executions) {
    this.#executions = executions;
  }

  /** Submits the claims, and opens a game on each. */
  async open(count: number): Promise<void> {
    for (let k = 0; k < count; k++) {
      const job = jobOf(wide, k);
      const [root, nodes] = (await this.#executions.use(job, ({ root, claimed }) => [
        root,
        submissionOf(claimed, ARITY_BITS),
      ]))!;
      const opening = openingPick(sham, submittedList(sham, nodes), ARITY_BITS)!;
      this.#games.push({ job, game: new MemoryGame(wide, root, opening), nodes });
    }
  }

  /** Plays to the end. @param between What else happens before each of the worker's moves. */
  async play({ atOnce = false, between = (): Promise<unknown> => Promise.resolve() } = {}): Promise<void> {
    for (let open = this.#games; open.length > 0;) {
      const answer = async ({ job, game }: (typeof open)[number]): Promise<void> => {
        await between();
        const move = await this.#executions.use(job, (own) => workerMove(own, game.state, ARITY_BITS, 0n));
        game.answer(move!);
        this.moves++;
        if (!atOnce) this.maxBytes = Math.max(this.maxBytes, this.#executions.bytes);
      };
      if (atOnce) await Promise.all(open.map(answer));
      else for (const each of open) await answer(each);
      this.maxBytes = Math.max(this.maxBytes, this.#executions.bytes);
      open = open.filter(({ game, nodes }) => {
        const move = challengerMove(sham, nodes, game.moves, ARITY_BITS, 0n);
        if (move.kind === "pick") game.pick(move.pick);
        return move.kind === "pick";
      });
    }
  }
}

describe("Executions", () => {
  for (const atOnce of [false, true]) {
    it(`shamGameOnEachOfTwelveClaims_takesTwoExecutionsEach_movesMade${atOnce ? "AtOnce" : "InTurns"}`, async () => {
      const { executions, count } = counted(wide);
      const games = new ShamGames(executions);
      await games.open(CLAIMS);
      await games.play({ atOnce });
      expect(games.moves).to.be.above(8 * CLAIMS);
      expect(count()).to.equal(2 * CLAIMS);
    });

    const how = atOnce ? "AtOnce" : "InTurns";
    it(`roomForOneExecutionOnly_isKeptWithin_andEveryGameIsPlayed_movesMade${how}`, async () => {
      const alone = counted(wide);
      const one = new ShamGames(alone.executions);
      await one.open(1);
      await one.play();
      const room = alone.executions.bytes;
      const { executions } = counted(wide, room);
      const games = new ShamGames(executions);
      await games.open(CLAIMS);
      await games.play({ atOnce });
      expect(games.moves).to.equal(CLAIMS * one.moves);
      expect(games.maxBytes).to.be.within(1, room);
      // However little room there is, the latest one stays.
      const none = counted(wide, 0);
      const last = new ShamGames(none.executions);
      await last.open(1);
      await last.play();
      expect([none.count(), none.executions.bytes]).to.deep.equal([2, room]);
    });
  }

  it("audits_andTensorsForOthers_displaceNothingThatGamesNeed", async () => {
    const room = counted(wide);
    const roomy = new ShamGames(room.executions);
    await roomy.open(CLAIMS);
    await room.executions.of(jobOf(wide, 1_000));
    await roomy.play();
    const { executions, count } = counted(wide, room.executions.bytes);
    const games = new ShamGames(executions);
    await games.open(CLAIMS);
    let [audits, asked] = [0, 0];
    const between = async (): Promise<void> => {
      await executions.of(jobOf(wide, 1_000 + audits++));
      // The first step of the last range: no game enters it.
      const tensor = await executions.tensor(jobOf(wide, asked++ % CLAIMS), 0, 14);
      expect(tensor).to.have.length(4 * 3_000);
    };
    await games.play({ between });
    expect(count() - audits - asked).to.equal(2 * CLAIMS);
    const before = count();
    const checkpoint = wide.program.checkpoints[0]!.step;
    expect(await executions.tensor(jobOf(wide, CLAIMS - 1), 0, checkpoint)).to.have.length(4 * 3_000);
    expect(await executions.tensor(jobOf(wide), 0, wide.program.steps.length)).to.equal(undefined);
    expect(count()).to.equal(before);
  });

  it("littleRoom_costsTensorsBetweenCheckpointsFirst_thoseUsedLongestAgo", async () => {
    const room = counted(wide);
    const roomy = new ShamGames(room.executions);
    await roomy.open(3);
    await roomy.play();
    // A byte less than three games take: the first one's tensors between checkpoints go.
    const { executions, count } = counted(wide, room.executions.bytes - 1);
    const games = new ShamGames(executions);
    await games.open(3);
    for (const k of [0, 1, 2]) await executions.use(jobOf(wide, k), (run) => run.item(0).trace.interior(1));
    const missing = async (k: number) =>
      (await executions.of(jobOf(wide, k)))!.item(0).trace.missing([3, 4, 5, 6, 7]).length;
    expect([await missing(0), await missing(1), await missing(2)]).to.deep.equal([5, 0, 0]);
    expect(count()).to.equal(6);
  });

  it("hundredGames_thatMissTensorsAtOnce_haveTheJobExecutedTwiceMore_notAHundredTimes", async () => {
    const { executions, count } = counted(subject);
    await executions.of(job);
    expect([count(), lost.length > 1]).to.deep.equal([1, true]);
    const games = Array.from({ length: 100 }, (_, k) =>
      executions.use(job, async (run) => {
        const tensor = run.item(0).trace.tensor(lost[k % lost.length]!);
        await sleep(1);
        return tensor;
      }),
    );
    const all = executeReference(subject.model, [subject.input]);
    const tensors = await Promise.all(games);
    tensors.forEach((tensor, k) => expect(Buffer.from(tensor!).equals(all[lost[k % lost.length]!]!)).to.equal(true));
    expect(count()).to.be.within(2, 3);
  });

  it("executionThatFails_failsThoseThatWaitForIt_andIsTriedAgain", async () => {
    const { executions, fail } = counted(subject);
    await executions.of(job);
    fail(1);
    const ask = () => executions.use(job, (run) => run.item(0).trace.tensor(lost[0]!));
    expect((await rejection(ask())).message).to.equal("out of memory");
    expect((await ask())!.length).to.be.above(0);
  });

  it("resultsOfADevice_thatIsFoundWrong_areDropped_alsoThoseUnderWay", async () => {
    const { executions, count, leaveGpu } = counted(subject);
    const first = await executions.of(job);
    expect(await executions.of(job)).to.equal(first);
    leaveGpu();
    expect(await executions.of(job)).not.to.equal(first);
    expect(count()).to.equal(2);
    const underWay = counted(subject);
    const asked = underWay.executions.of(job);
    underWay.leaveGpu();
    await asked;
    await underWay.executions.of(job);
    expect(underWay.count()).to.equal(2);
  });
});
