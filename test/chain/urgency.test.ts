import { expect } from "chai";
import { byUrgency } from "../../src/chain/urgency.ts";

describe("byUrgency", function () {
  /** Queues actions with deadlines behind eight that run, lets all run, and returns the deadlines as begun. */
  async function begun(deadlines: readonly number[], now: number): Promise<number[]> {
    const run = byUrgency(() => now);
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const first = Array.from({ length: 8 }, () => run(() => gate, now + 1));
    const order: number[] = [];
    const all = deadlines.map((by) => run(() => Promise.resolve(order.push(by)), by));
    open();
    await Promise.all([...first, ...all]);
    return order;
  }

  it("earliestDeadline_isFirst_thoseOver_comeAfterThoseInTime_andBeforeThoseWithout", async function () {
    const order = await begun([130, 99, 110, 100, 120, 50], 100);
    expect(order).to.deep.equal([110, 120, 130, 50, 99, 100]);
    // Nobody can tell which are lost if this machine's clock is wrong.
    expect(await begun([3, 1, 2], 100)).to.deep.equal([1, 2, 3]);
  });

  it("actionWithoutDeadline_begins_thoughOthersAlwaysWait", async function () {
    const run = byUrgency(() => 0);
    const order: string[] = [];
    let isDone = false;
    // Each urgent action brings the next: without a bound the other would never begin.
    const urgent = async (): Promise<void> => {
      order.push("urgent");
      if (isDone || order.length > 1_000) return;
      await Promise.resolve();
      void run(urgent, 1);
      void run(urgent, 1);
    };
    const many = Array.from({ length: 9 }, () => run(urgent, 1));
    await run(async () => {
      isDone = true;
      order.push("other");
      return Promise.resolve();
    }, Infinity);
    await Promise.all(many);
    expect(order.indexOf("other")).to.be.lessThan(40);
  });

  it("failedAction_letsTheNextOneBegin", async function () {
    const run = byUrgency(() => 0);
    const failures = Array.from({ length: 20 }, (_, k) =>
      run(() => Promise.reject(new Error(String(k))), k).catch((error: Error) => error.message),
    );
    expect(await Promise.all(failures)).to.deep.equal([...Array(20).keys()].map(String));
  });
});
