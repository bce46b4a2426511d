import { expect } from "chai";
import { zeroAddress } from "viem";
import { waitUntilMined } from "../../../src/parties/dispatcher/waitUntilMined.ts";
import type { Session } from "../../../src/chain/market/session.ts";
import { rejection } from "../../../testkit/rejection.ts";

describe("transactions of an earlier process", () => {
  /** A session whose account has transactions on their way, of which one is mined with each look. */
  const sessionWith = (onTheirWay: number) => {
    let mined = 0;
    const getTransactionCount = ({ blockTag }: { blockTag: "latest" | "pending" }): Promise<number> =>
      Promise.resolve(blockTag === "pending" ? onTheirWay : mined++);
    const session = { publicClient: { getTransactionCount }, sender: { address: zeroAddress } };
    return { session: session as unknown as Session, looks: () => mined };
  };

  it("areWaitedFor", async () => {
    const { session, looks } = sessionWith(3);
    await waitUntilMined(session, { intervalMs: 1 });
    expect(looks()).to.equal(4);
  });

  it("areNotWaitedFor_afterTheSignal", async () => {
    const { session } = sessionWith(Infinity);
    const error = await rejection(waitUntilMined(session, { intervalMs: 1, signal: AbortSignal.timeout(30) }));
    expect(error.name).to.equal("TimeoutError");
  });
});
