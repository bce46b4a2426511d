import { expect } from "chai";
import { HttpRequestError, maxUint256, toHex, zeroAddress } from "viem";
import { ContractRevertError } from "../../../src/chain/errors.ts";
import { ZERO_HASH } from "../../../src/chain/structs.ts";
import { Health } from "../../../src/base/health.ts";
import { Examinations } from "../../../src/parties/worker/examinations.ts";
import { Reports } from "../../../src/parties/role/reports.ts";
import { quiet } from "../../../testkit/players/players.ts";

/** The block of the exam. */
const EXAM = 100n;

/** One candidate block in so many. */
const ODDS = 4;

describe("numbers of a worker's exams", function () {
  /** @param lastExam Answers the number of the question, from 1. */
  function examinee(lastExam: (asked: number) => Promise<{ gridBlock: bigint }>) {
    const seen = { asked: 0, numbered: 0, last: 0n, looks: 0, tasks: 0, warnings: 0 };
    const reports = new Reports();
    let isExam = true;
    let release = (): void => undefined;
    const exams = {
      isExam: (block: bigint) => Promise.resolve((seen.looks++, isExam && block === EXAM)),
      lastExam: () => lastExam(++seen.asked),
      examOdds: () => Promise.resolve(ODDS),
      numberExam: (block: bigint) => {
        seen.numbered++;
        seen.last = block;
        return isExam ? Promise.resolve() : Promise.reject(new ContractRevertError("numberExam", "NoExam", [EXAM]));
      },
      classesOf: () => Promise.resolve([]),
    };
    const options = {
      session: {
        sender: { address: zeroAddress },
        publicClient: {
          // Two candidates come after the exam. The first one has the highest hash of a candidate.
          getBlock: ({ blockNumber }: { blockNumber: bigint }) => {
            const most = maxUint256 / BigInt(ODDS);
            const hash = blockNumber === EXAM + 7n ? most : blockNumber === EXAM + 9n ? 1n : most + 1n;
            return Promise.resolve({ hash: toHex(hash, { size: 32 }) });
          },
        },
      },
      // A task lasts until it is released, and leaves the exam due.
      programs: {
        knows: () => true,
        load: () => new Promise<undefined>((resolve) => (seen.tasks++, (release = () => resolve(undefined)))),
      },
      log: { warn: () => void seen.warnings++, info: () => undefined },
    };
    const role = {
      health: new Health(quiet),
      meter: { figures: () => undefined },
      isNew: (kind: string, id: string, what: string) => reports.isNew(kind, id, what),
    };
    const classes = { exams, classes: [{ programRoot: ZERO_HASH, blocks: 64 }], gridBlocks: 1n };
    const examinations = new Examinations(options as never, classes as never, role as never);
    /** @returns Whether the round waited for the task. */
    const round = async (head: bigint): Promise<boolean> => {
      let isDone = false;
      const tended = examinations.tend(head, 0n).then(() => (isDone = true));
      await new Promise((resolve) => setTimeout(resolve, 5));
      const hasWaited = !isDone;
      release();
      await tended;
      return hasWaited;
    };
    return { seen, round, end: () => (isExam = false) };
  }

  it("outage_isWaitedOut_besideTheTask_andTheExamIsNumberedAfterIt", async () => {
    const outage = new HttpRequestError({ url: "http://node" });
    const { seen, round } = examinee((asked) =>
      asked < 4 ? Promise.reject(outage) : Promise.resolve({ gridBlock: 0n }),
    );
    for (let head = EXAM + 1n; head <= EXAM + 5n; head++) expect(await round(head), String(head)).to.equal(true);
    expect(seen).to.include({ asked: 4, numbered: 1, tasks: 5, warnings: 1 });
  });

  it("examThatTheNextBlockDoesNotKnow_isNotNumbered_butTheNextCandidate", async () => {
    const known = examinee(() => Promise.resolve({ gridBlock: 0n }));
    await known.round(EXAM + 255n);
    expect(known.seen).to.include({ numbered: 1, last: EXAM });
    const forgotten = examinee(() => Promise.resolve({ gridBlock: 0n }));
    await forgotten.round(EXAM + 256n);
    expect(forgotten.seen).to.include({ numbered: 1, last: EXAM + 7n });
  });

  it("examThatIsNoneAnyMore_isNotNumberedAgain_andAnotherIsSearchedFor", async () => {
    const { seen, round, end } = examinee((asked) =>
      asked === 1 ? Promise.reject(new HttpRequestError({ url: "http://node" })) : Promise.resolve({ gridBlock: 0n }),
    );
    await round(EXAM + 1n);
    end();
    for (let head = EXAM + 1n; head < EXAM + 6n; head++) await round(head);
    expect(seen).to.include({ numbered: 1, warnings: 2 });
  });
});
