import { expect } from "chai";
import type { Address } from "viem";
import type { Parameters } from "../../../src/chain/structs.ts";
import { emptyHistory, type JobRecord } from "../../../src/chain/market/history.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import { NativeClaims } from "../../../src/parties/worker/nativeClaims.ts";
import type { Role } from "../../../src/parties/role/role.ts";
import type { Logger } from "../../../src/base/log.ts";
import { classifierBytes } from "../../../testkit/models/classifier.ts";
import { nativePrograms } from "../../../testkit/native/nativePrograms.ts";
import { openBoth, type OpenedModel } from "../../../testkit/native/openedModel.ts";

const REQUESTER: Address = `0x${"11".repeat(20)}`;
const PARAMETERS = { rate: 100_000_000n, baseClock: 3_600, collateral: 100n } as Parameters;
const HOLDER = { worker: REQUESTER, until: 0n };

describe("answers of a worker without exact execution", () => {
  let opened: OpenedModel;
  before(async () => {
    opened = await openBoth(classifierBytes());
  });
  after(() => opened.close());

  /** Claims of a worker that may expose the collateral of so many. */
  function claims(max: bigint): { answer: (id: string, open?: JobRecord[]) => Promise<boolean>; of: NativeClaims } {
    const { program, programs } = nativePrograms(opened);
    const values = Array.from({ length: 32 }, (_, k) => Math.sin(k));
    const length = { items: 1, firstItem: 0 };
    const inputs = new RunInputs(program.model.program.inputs, length, [floatTensor(values, [1, 32]).bytes]);
    const nothing = (): void => undefined;
    const role = {
      ...{ meter: { native: nothing }, health: { set: nothing } },
      executions: { inputsOf: () => inputs, of: () => Promise.resolve(undefined) },
    } as unknown as Role<WorkerEvent>;
    const log = { info: nothing, error: nothing } as unknown as Logger;
    const policy = { requesters: [REQUESTER], exposure: max * PARAMETERS.collateral };
    const of = new NativeClaims({ programs, exactShare: 0, policy }, role, log, PARAMETERS);
    return { of, answer: async (id, open = []) => (await of.answer(job(id), open)) !== undefined };
  }

  const job = (id: string): JobRecord =>
    ({
      ...{ id, holder: HOLDER },
      job: { requester: REQUESTER, work: 1n, items: 1, answers: 1, programRoot: opened.compiled.programRoot },
    }) as unknown as JobRecord;

  it("jobsThatAreAnsweredAtTheSameTime_countEachOther", async () => {
    const { answer } = claims(2n);
    const given = await Promise.all(["0xa", "0xb", "0xc"].map((id) => answer(id)));
    expect(given).to.deep.equal([true, true, false]);
  });

  it("aJobCountsOnce_andNotAfterItIsLost", async () => {
    const { of, answer } = claims(1n);
    expect(await answer("0xa")).to.equal(true);
    // Its submission is sent again.
    expect(await answer("0xa")).to.equal(true);
    expect(await answer("0xb", [job("0xa")])).to.equal(false);
    const history = emptyHistory();
    history.jobs.set("0xa", { ...job("0xa"), holder: undefined });
    of.forget(history);
    expect(await answer("0xc")).to.equal(true);
  });
});
