import { expect } from "chai";
import { numberToHex } from "viem";
import type { ClaimRecord, JobRecord } from "../../src/chain/market/history.ts";
import { submissionOf } from "../../src/dispute/workerMove.ts";
import { outputAt, type RunExecution } from "../../src/dispute/run/runExecution.ts";
import type { RunOptions } from "../../src/executor/createExecutor.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { encodeOutput } from "../../src/program/trace/openedOutput.ts";
import type { OutputSource } from "../../src/program/trace/published.ts";
import { Executions, KEPT_BYTES } from "../../src/runs/executions.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { StoredRuns } from "../../src/runs/storedRuns.ts";
import {
  blockedText,
  countedExecute,
  TEXT_ITEMS,
  type BlockedText,
  type CountedExecute,
} from "../../testkit/decoders/blockedText.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { Auditor, type Verdict } from "../../watcher/auditor.ts";

const ARITY_BITS = 4;

describe("a watcher's check of a text", function () {
  this.timeout(60_000);
  let text: BlockedText;
  let honest: RunExecution;

  before(async () => {
    text = await blockedText(llama(LLAMA_TINY), [7, 20]);
    honest = await claimed();
  });

  after(() => text.executor.close());

  const claimed = (onStep?: RunOptions["onStep"]): Promise<RunExecution> =>
    executeRun(text.program, text.inputs, countedExecute(text.executor, false, onStep).execute);

  /** The last item's tokens as a publisher serves them. */
  const published = (run: RunExecution): Uint8Array =>
    encodeOutput(outputAt(run, TEXT_ITEMS - 1, run.item(TEXT_ITEMS - 1).trace, 0)!);

  async function judge(
    run: RunExecution,
    outputs?: OutputSource,
  ): Promise<{ verdict: Verdict; counts: CountedExecute["counts"] }> {
    const { program, inputs, executor } = text;
    const { model, commitment } = program;
    const job = {
      id: numberToHex(1),
      job: {
        ...{ programRoot: model.programRoot, inputsRoot: inputs.list.root, items: TEXT_ITEMS, firstItem: 0 },
        ...{ answers: 0, checkpoints: model.program.checkpoints.length },
      },
      program: { header: toHex(commitment.header) },
      inputRoots: inputs.roots,
      parts: new Map(),
      claims: [],
    } as unknown as JobRecord;
    const nodes = submissionOf(run.claimed, ARITY_BITS);
    const claim = { id: numberToHex(7), claim: { root: run.root }, nodes } as unknown as ClaimRecord;
    const { execute, counts } = countedExecute(executor);
    const held = { of: () => inputs };
    const executions = new Executions(ProgramLibrary.of([program]), execute, KEPT_BYTES, new StoredRuns(), held);
    const auditor = new Auditor(executions, ARITY_BITS, undefined, { outputs });
    return { verdict: await auditor.judge(job, claim, 0), counts };
  }

  it("publishedText_isCheckedInBlocks", async () => {
    const asked: unknown[] = [];
    const { verdict, counts } = await judge(honest, (name) => {
      asked.push(name);
      return Promise.resolve(published(honest));
    });
    expect(verdict.kind).to.equal("agrees");
    // The last item is executed by itself.
    expect(counts).to.deep.equal({ singles: 1, blocks: 2, wrong: 0 });
    expect(asked).to.deep.equal([{ claimId: numberToHex(7), item: TEXT_ITEMS - 1, output: 0 }]);
  });

  it("withoutAPublisher_isCheckedItemByItem", async () => {
    const { verdict, counts } = await judge(honest);
    expect(verdict.kind).to.equal("agrees");
    expect(counts).to.deep.equal({ singles: TEXT_ITEMS, blocks: 0, wrong: 0 });
  });

  it("publisherThatLiesFailsOrIsSilent_changesNoVerdict_andCostsNoBlock", async () => {
    const right = published(honest);
    const flipped = Uint8Array.from(right);
    flipped[right.length - 8 * TEXT_ITEMS + 40]! ^= 1;
    const answers: readonly (() => Promise<Uint8Array | undefined>)[] = [
      () => Promise.resolve(flipped),
      () => Promise.resolve(right.subarray(1)),
      () => Promise.resolve(new Uint8Array(right.length + 1)),
      () => Promise.resolve(new Uint8Array()),
      () => Promise.resolve(undefined),
      () => Promise.reject(new Error("no route to host")),
    ];
    for (const answer of answers) {
      const { verdict, counts } = await judge(honest, answer);
      expect(verdict.kind).to.equal("agrees");
      expect(counts).to.deep.equal({ singles: TEXT_ITEMS, blocks: 0, wrong: 0 });
    }
  });

  it("claimOfAWrongText_isFound_withOneWrongBlock", async () => {
    let item = 0;
    const place = 5;
    const lying = await claimed((step, tensor) => {
      if (step === text.step && item++ === place) tensor[8 * place]! ^= 1;
    });
    const { verdict, counts } = await judge(lying, () => Promise.resolve(published(lying)));
    expect(verdict).to.deep.include({ kind: "differs", own: honest.root });
    const { verdict: itemByItem } = await judge(lying);
    expect({ ...verdict, milliseconds: 0 }).to.deep.equal({ ...itemByItem, milliseconds: 0 });
    expect([counts.blocks, counts.wrong]).to.deep.equal([1, 1]);
  });
});
