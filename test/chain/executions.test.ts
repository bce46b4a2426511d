import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Executions, type Execute } from "../../src/chain/game/executions.ts";
import type { JobRecord } from "../../src/chain/history.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { toHex } from "../../src/merkle/hash.ts";
import { MerkleList } from "../../src/merkle/list.ts";
import { tensorRoot } from "../../src/merkle/tensor.ts";
import { rejection } from "../../test-support/rejection.ts";
import { toyProgram } from "../../test-support/protocol/toyProgram.ts";

/** Ranges of 3 and 6 steps. */
const toy = toyProgram(300, [3, 6]);
const steps = toy.program.steps.map((_, step) => step);
const lost = steps.filter((step) => toy.program.checkpoints.every((checkpoint) => checkpoint.step !== step));

const root = tensorRoot(toy.input);
const job = {
  id: "0x1",
  job: { programRoot: toy.model.programRoot, inputsRoot: MerkleList.fromHashes([root]).root },
  inputRoots: [root],
  parts: new Map([[0, new Map([[0, toHex(toy.input)]])]]),
} as unknown as JobRecord;

/** Executions one after the other, as the executor's are, of which only the tensors asked for are there. */
function counted(): { executions: Executions; count: () => number; fail: (times: number) => void } {
  let [count, failures] = [0, 0];
  let last: Promise<unknown> = Promise.resolve();
  const execute: Execute = (model, inputs, keep) => {
    const done = last.then(async () => {
      count++;
      await sleep(2);
      if (failures-- > 0) throw new Error("out of memory");
      const tensors = executeReference(model, inputs);
      const kept: Uint8Array[] = [];
      tensors.forEach((tensor, step) => {
        if (keep === undefined || keep(step)) kept[step] = tensor;
      });
      return kept;
    });
    last = done.catch(() => undefined);
    return done;
  };
  const executions = new Executions([toy], execute);
  return { executions, count: () => count, fail: (times) => void (failures = times) };
}

describe("Executions", () => {
  it("hundredGames_thatMissTensorsAtOnce_haveTheJobExecutedTwiceMore_notAHundredTimes", async () => {
    const { executions, count } = counted();
    await executions.of(job);
    expect([count(), lost.length > 1]).to.deep.equal([1, true]);
    const games = Array.from({ length: 100 }, (_, k) =>
      executions.use(job, async ({ trace }) => {
        const tensor = trace.tensor(lost[k % lost.length]!);
        await sleep(1);
        return tensor;
      }),
    );
    const all = executeReference(toy.model, [toy.input]);
    const tensors = await Promise.all(games);
    tensors.forEach((tensor, k) => expect(Buffer.from(tensor!).equals(all[lost[k % lost.length]!]!)).to.equal(true));
    expect(count()).to.be.within(2, 3);
    // Let go when nobody used it.
    await executions.use(job, ({ trace }) => trace.tensor(lost[0]!));
    expect(count()).to.be.within(3, 4);
  });

  it("executionThatFails_failsThoseThatWaitForIt_andIsTriedAgain", async () => {
    const { executions, fail } = counted();
    await executions.of(job);
    fail(1);
    const ask = () => executions.use(job, ({ trace }) => trace.tensor(lost[0]!));
    expect((await rejection(ask())).message).to.equal("out of memory");
    expect((await ask())!.length).to.be.above(0);
  });
});
