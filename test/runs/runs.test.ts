import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { numberToHex, type Hex } from "viem";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { fromHash, sha256, toHash, toHex, type Hash } from "../../src/program/merkle/hash.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { executeItems, executeRun } from "../../src/runs/executeRun.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { Executions } from "../../src/runs/executions.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { MissingItemsError, type RunExecution } from "../../src/dispute/run/runExecution.ts";
import { StoredRuns } from "../../src/runs/storedRuns.ts";
import { commitProgram } from "../../src/program/root.ts";
import { RunInputError, RunInputs } from "../../src/program/trace/runInputs.ts";
import { MissingTensorsError } from "../../src/program/trace/trace.ts";
import { TracePublisher } from "../../src/parties/worker/publisher.ts";
import { RUN_COUNT, RUN_STEPS, runInputBytes, runProgram } from "../../testkit/programs/runProgram.ts";
import { publishedRun } from "../../testkit/programs/publishedRun.ts";
import { executionOf } from "../../testkit/programs/runsOf.ts";
import type { Execute } from "../../src/runs/execute.ts";

const carrying = runProgram();

/** The same steps, of which none reads what the item before gives. */
const apart = withoutCarried(carrying);

function withoutCarried({ model }: KnownProgram): KnownProgram {
  const inputs = model.program.inputs.map((input, k) => (k === 0 ? { dtype: input.dtype, count: input.count } : input));
  const program = { ...model.program, inputs };
  return knownProgram({ ...model, program, programRoot: commitProgram(program).programRoot });
}

const inputsOf = ({ model }: KnownProgram, items: number): RunInputs =>
  new RunInputs(model.program.inputs, { items, firstItem: 0 }, runInputBytes(items));

/** Executes by the definition, and counts. Of an item only the steps asked for are there. */
function counted(): { execute: Execute; items: number[] } {
  const items: number[] = [];
  const execute: Execute = async (model, inputs, keep = () => true) => {
    items.push(Number(new DataView(inputs[3]!.buffer, inputs[3]!.byteOffset).getBigInt64(0, true)));
    const kept: Uint8Array[] = [];
    (await executionOf()(model, inputs)).forEach((tensor, step) => {
      if (keep(step)) kept[step] = tensor;
    });
    return kept;
  };
  return { execute, items };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, k) => k);
const rootsOf = ({ list }: RunExecution): Hash[] => range(list.width).map((item) => list.node(0, item));
const stateAt = (run: RunExecution, item: number): Hex => toHex(run.item(item).trace.tensor(RUN_STEPS.last));

/** What a loop over the definition gives: the tensors of each item. */
function loop({ model }: KnownProgram, items: number): Uint8Array[][] {
  const bytes = runInputBytes(items);
  const results: Uint8Array[][] = [];
  for (let item = 0; item < items; item++) {
    const carries = model.program.inputs[0]!.source?.kind === "carried";
    const state = carries && item > 0 ? results[item - 1]![RUN_STEPS.last]! : bytes[0]!;
    const x = bytes[1]!.subarray(4 * RUN_COUNT * item, 4 * RUN_COUNT * (item + 1));
    const index = new Uint8Array(BigInt64Array.of(BigInt(item)).buffer);
    results.push(executeReference(model, [state, x, bytes[2]!, index]));
  }
  return results;
}

for (const [kind, program] of [
  ["carrying", carrying],
  ["without carried inputs", apart],
] as const) {
  describe(`a run executed by its players, ${kind}`, () => {
    // Fewer items than snapshots, as many, more, and numbers between.
    for (const items of [1, 2, 15, 16, 17, 33, 50]) {
      it(`anyItemOf${items}_executedAgain_isTheFirstExecution`, async () => {
        const { execute } = counted();
        const run = await executeRun(program, inputsOf(program, items), execute);
        const expected = loop(program, items);
        expect(run.items).to.equal(items);
        for (const item of range(items)) {
          await executeItems(run, [item], execute);
          expect(run.item(item).trace.root).to.equal(run.list.node(0, item));
          expect(stateAt(run, item)).to.equal(toHex(expected[item]![RUN_STEPS.last]!));
          run.release();
        }
        expect(run.claimed.root).to.equal(run.root);
      });
    }

    it("itemsAskedForAtOnce_takeOneSweep_andAreThoseAskedForOneByOne", async () => {
      const { execute, items } = counted();
      const run = await executeRun(program, inputsOf(program, 40), execute);
      const wanted = [38, 5, 6, 4, 20, 21, 39, 0, 5];
      items.length = 0;
      await executeItems(run, wanted, execute);
      expect(new Set(items).size, `executed ${items.join()}`).to.equal(items.length);
      for (const item of wanted) expect(run.item(item).trace.root).to.equal(run.list.node(0, item));
      // Held already.
      items.length = 0;
      await executeItems(run, wanted, execute);
      expect(items).to.deep.equal([]);
    });

    it("itemsThatWereNotKept_areNamed_andReleasedAgain", async () => {
      const { execute } = counted();
      const run = await executeRun(program, inputsOf(program, 20), execute);
      const [missing, bytes] = [run.missing(range(20)), run.bytes];
      expect(missing).to.deep.equal(range(19));
      expect(() => run.require([3, 19, 7])).to.throw(MissingItemsError, "items 3, 7 were not kept");
      await executeItems(run, [3, 7], execute);
      run.require([3, 19, 7]);
      const { trace } = run.item(3);
      expect(run.ofTrace(trace)).to.equal(run.item(3));
      expect(run.bytes).to.be.above(bytes + 2 * 2 * 4 * RUN_COUNT);
      run.release();
      expect(run.bytes).to.equal(bytes);
      expect(() => run.item(3)).to.throw(MissingItemsError);
      expect(() => run.ofTrace(trace)).to.throw(RangeError);
    });

    it("fastExecutor_givesTheSameRun", async () => {
      const executor = await createExecutor(program.model, { threads: 1 });
      const fast: Execute = async (_, inputs, keep, trees) =>
        (await executor.run(inputs, { ...(keep && { keep }), ...(trees && { trees }) })).tensors;
      const own = await executeRun(program, inputsOf(program, 35), fast);
      const reference = await executeRun(program, inputsOf(program, 35), counted().execute);
      expect(rootsOf(own)).to.deep.equal(rootsOf(reference));
      for (const item of [0, 17, 33]) {
        await executeItems(own, [item], fast);
        expect(own.item(item).trace.root).to.equal(reference.list.node(0, item));
      }
    });
  });
}

describe("Executions of runs", () => {
  const ITEMS = 20;
  const jobOf = (program: KnownProgram, count: number): JobRecord => publishedRun(program, inputsOf(program, count));
  const executionsOf = (program: KnownProgram, count = ITEMS) => {
    const { execute, items } = counted();
    return { executions: new Executions(ProgramLibrary.of([program]), execute), items, job: jobOf(program, count) };
  };

  for (const program of [carrying, apart]) {
    const kind = program === carrying ? "carried" : "notCarried";

    it(`tensorsInsideAnItem_thatWereNotKept_areThere_${kind}`, async () => {
      const { executions, job } = executionsOf(program);
      const expected = loop(program, ITEMS);
      for (const item of [0, 7, 18, 19]) {
        let [items, tensors] = [0, 0];
        const found = await executions.use(job, (run) => {
          try {
            return run.item(item).trace.tensor(RUN_STEPS.carriedAndEach);
          } catch (error) {
            if (error instanceof MissingItemsError) items++;
            else if (error instanceof MissingTensorsError) tensors++;
            throw error;
          }
        });
        expect(toHex(found!)).to.equal(toHex(expected[item]![RUN_STEPS.carriedAndEach]!));
        expect([items, tensors]).to.deep.equal([item === ITEMS - 1 ? 0 : 1, 1]);
      }
    });

    it(`manyWhoAskAtOnce_waitForOneSweep_${kind}`, async () => {
      const { executions, items, job } = executionsOf(program, 100);
      await executions.of(job);
      items.length = 0;
      // Snapshots are before items 7 and 14.
      const asked = [13, 12, 11, 10, 9, 8, 13];
      const roots = await Promise.all(
        asked.map((k) => executions.use(job, (run) => [run.item(k).trace.root, run.list.node(0, k)])),
      );
      for (const pair of roots) expect(pair![0]).to.equal(pair![1]);
      expect(items).to.deep.equal(program === carrying ? [7, 8, 9, 10, 11, 12, 13] : [8, 9, 10, 11, 12, 13]);
    });

    it(`tensorForOthers_takesOneExecutionAtMost_${kind}`, async () => {
      const { executions, items, job } = executionsOf(program);
      const expected = loop(program, ITEMS);
      const ask = (item: number, step: number) => executions.tensor(job, item, step);
      // Before anything is executed: what takes nothing from the item before.
      for (const item of program === carrying ? [0] : [0, 5, 19]) {
        for (const step of range(4)) {
          items.length = 0;
          expect(toHex((await ask(item, step))!)).to.equal(toHex(expected[item]![step]!));
          expect(items).to.deep.equal([item]);
        }
      }
      if (program === carrying) expect(await ask(5, 0)).to.equal(undefined);
      await executions.use(job, (run) => run.item(5));
      for (const item of [5, 19]) {
        for (const step of range(4)) {
          items.length = 0;
          expect(toHex((await ask(item, step))!)).to.equal(toHex(expected[item]![step]!));
          expect(items.length).to.equal(step === 1 || step === 3 ? 0 : 1);
        }
      }
      for (const [item, step] of [
        [20, 0],
        [2 ** 16, 0],
        [5, 4],
      ] as const)
        expect(await ask(item, step)).to.equal(undefined);
    });
  }

  it("tensorsAndOutputsForOthers_ofAnyItemOfARunThatWasExecuted_executeItFromTheNearestState", async () => {
    const count = 100;
    const expected = loop(carrying, count);
    const { execute, items } = counted();
    // No room: nothing of it is kept but its roots, and some states where they are on disk.
    const folder = mkdtempSync(join(tmpdir(), "refute-runs-"));
    const stored = new StoredRuns({ folder });
    const executions = new Executions(ProgramLibrary.of([carrying]), execute, 0, stored);
    const [job, other] = [jobOf(carrying, count), publishedRun(carrying, inputsOf(carrying, 3), 2)];
    await executions.of(job);
    await executions.of(other);
    for (const item of [0, 7, 98, 99]) {
      for (const step of [RUN_STEPS.carriedAndEach, RUN_STEPS.last]) {
        items.length = 0;
        expect(toHex((await executions.tensor(job, item, step))!)).to.equal(toHex(expected[item]![step]!));
        expect(items).to.deep.equal([item]);
      }
      items.length = 0;
      const opened = await executions.output(job, item, 1);
      expect(toHex(opened!.bytes)).to.equal(toHex(expected[item]![RUN_STEPS.shared]!));
      expect(items).to.deep.equal([item]);
    }
    rmSync(folder, { recursive: true });
  });

  it("outputsForOthers_displaceNothingThatAGameNeeds", async () => {
    const { execute, items } = counted();
    const [played, ...asked] = [jobOf(carrying, ITEMS), jobOf(carrying, 60), jobOf(carrying, 61)] as const;
    const expected = loop(carrying, 61);
    // Room for one of them.
    const size = (await executeRun(carrying, inputsOf(carrying, 61), execute)).bytes;
    const executions = new Executions(ProgramLibrary.of([carrying]), execute, 1.5 * (size + 2 ** 16));
    await executions.use(played, (run) => run.item(5));
    for (const [k, job] of asked.entries()) {
      const opened = await executions.output({ ...job, id: numberToHex(2 + k) }, 7, 1);
      expect(toHex(opened!.bytes)).to.equal(toHex(expected[7]![RUN_STEPS.shared]!));
    }
    items.length = 0;
    await executions.use(played, (run) => run.item(5));
    expect(items).to.deep.equal([]);
  });

  it("publisher_servesTheTensorsOfItems", async () => {
    const { executions, job } = executionsOf(apart);
    const claimId = numberToHex(7, { size: 32 });
    const claim = { id: claimId, finalised: false, refuted: false, games: [], windowEnd: 0n };
    job.claims.push(claim as unknown as JobRecord["claims"][number]);
    const publisher = new TracePublisher();
    publisher.publish(new Map([[claimId, job]]), executions);
    const port = await publisher.listen(0);
    const ask = async (path: string): Promise<[number, Hex]> => {
      const response = await fetch(`http://127.0.0.1:${port}/${claimId}${path}`);
      return [response.status, toHex(new Uint8Array(await response.arrayBuffer()))];
    };
    const expected = loop(apart, ITEMS);
    for (const item of [0, 11, 19]) expect(await ask(`/${item}/1`)).to.deep.equal([200, toHex(expected[item]![1]!)]);
    for (const path of ["/20/1", "/0/4", "/0", "/0/1/2", "/-1/1", "/0x1/1", "/999999999/1"])
      expect((await ask(path))[0], path).to.equal(404);
    await publisher.close();
  });
});

describe("inputs of a run", () => {
  const ITEMS = 5;
  const sources = carrying.model.program.inputs;
  const bytes = runInputBytes(ITEMS);
  const inputs = new RunInputs(sources, { items: ITEMS, firstItem: 8 }, bytes);

  /** The node that a path leads to, hashed here. */
  const top = (leaf: Hash, index: number, path: readonly Hash[]): Hash =>
    path.reduce((node, sibling, k) => {
      const pair = [fromHash(node), fromHash(sibling)];
      return toHash(sha256(...((index >> k) & 1 ? pair.reverse() : pair)));
    }, leaf);

  it("bytesOfAnotherLength_areNamed", () => {
    const length5 = { items: ITEMS, firstItem: 0 };
    for (const [k, length, expected] of [
      [0, 0, 1_200],
      [1, 1_200, 6_000],
      [1, 7_200, 6_000],
      [2, 6_000, 1_200],
      [3, 8, 0],
    ] as const) {
      const changed = bytes.map((own, i) => (i === k ? new Uint8Array(length) : own));
      expect(() => new RunInputs(sources, length5, changed)).to.throw(
        RunInputError,
        `input ${k} has ${length} bytes, expected ${expected} for 5 items`,
      );
    }
    const few = () => new RunInputs(sources, length5, bytes.slice(1));
    expect(few).to.throw(RunInputError, "the program takes 4 inputs, got 3");
  });

  it("roots_areTheTensors_theItemsLists_andNothingOfTheIndex", () => {
    const [state, x, seed, index] = inputs.roots;
    expect(state).to.equal(tensorRoot(bytes[0]!));
    expect(seed).to.equal(tensorRoot(bytes[2]!));
    expect(x).to.equal(MerkleList.fromHashes(inputs.tensors(1).map((tensor) => tensorRoot(tensor))).root);
    expect(index).to.equal(`0x${"00".repeat(32)}`);
    expect(inputs.list.root).to.equal(MerkleList.fromHashes([state!, x!, seed!, index!]).root);
    expect(inputs.tensors(3)).to.deep.equal([]);
  });

  it("paths_leadFromTheTensorOfAnItem_toTheInputsRoot", () => {
    for (const item of range(ITEMS)) {
      const path = inputs.path(1, item);
      const list = top(tensorRoot(inputs.tensors(1)[item]!), item, path.slice(0, 3));
      expect(list).to.equal(inputs.roots[1]);
      expect(top(list, 1, path.slice(3))).to.equal(inputs.list.root);
    }
    for (const k of [0, 2]) expect(top(inputs.roots[k]!, k, inputs.path(k, 3))).to.equal(inputs.list.root);
  });

  it("ofAnItem_areItsOwnTensors_theSharedOnes_whatIsCarried_andItsNumber", () => {
    const carried = new Uint8Array(1_200).fill(9);
    for (const item of range(ITEMS)) {
      const [state, x, seed, index] = inputs.of(item, item === 0 ? undefined : new Map([[0, carried]]));
      expect(state).to.equal(item === 0 ? bytes[0] : carried);
      expect(toHex(x!)).to.equal(toHex(bytes[1]!.subarray(1_200 * item, 1_200 * (item + 1))));
      expect(seed).to.equal(bytes[2]);
      expect(toHex(index!)).to.equal(`0x${(8 + item).toString(16).padStart(2, "0")}${"00".repeat(7)}`);
    }
  });

  it("indexPast32Bits_isWhole", () => {
    const far = new RunInputs(sources, { items: 2, firstItem: 2 ** 32 - 1 }, runInputBytes(2));
    expect(toHex(far.of(1)[3]!)).to.equal("0x0000000001000000");
  });
});
