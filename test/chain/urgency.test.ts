import { expect } from "chai";
import { zeroAddress } from "viem";
import { JobMarket } from "../../src/chain/clients/jobMarket.ts";
import { Tickets } from "../../src/chain/clients/tickets.ts";
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

  it("earliestDeadline_isFirst_thoseThatAreOver_comeAfterThoseInTime_andBeforeThoseWithout", async function () {
    const order = await begun([130, 99, 110, 100, 120, 50], 100);
    expect(order).to.deep.equal([110, 120, 130, 50, 99, 100]);
    // Of calls that are all too late, the order is the same.
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

describe("calls whose time ends", function () {
  it("areSentWithTheirEnd", async function () {
    const sent: [name: string, by?: number][] = [];
    const send = ({ functionName }: { functionName: string }, by?: number) => {
      sent.push([functionName, by]);
      return Promise.resolve({});
    };
    const access = { publicClient: {}, sender: { address: zeroAddress, send } } as never;
    const market = new JobMarket(zeroAddress, access);
    const any = {} as never;
    await market.submit(any, "0x", undefined, 1);
    await market.submit(any, "0x", any, 2);
    await market.claimAndSubmit(any, any, "0x", 3);
    await market.seal(any, any, "0x", 4);
    await market.openSeal(any, any, zeroAddress, "0x", "0x", 5);
    await new Tickets(zeroAddress, access).submitAndCash(any, "0x", any, any, "0x", "0x", 6);
    const names = ["submit", "submitOnTerms", "claimAndSubmit", "seal", "openSeal", "submitAndCash"];
    expect(sent).to.deep.equal(names.map((name, k) => [name, k + 1]));
  });
});
