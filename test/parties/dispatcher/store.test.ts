import { expect } from "chai";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAddress } from "viem";
import { DispatchStateError } from "../../../src/parties/dispatcher/errors.ts";
import { DispatchStore, type Owner } from "../../../src/parties/dispatcher/store.ts";
import { rejection } from "../../../testkit/rejection.ts";

const OWNER: Owner = {
  batch: `0x${"11".repeat(32)}`,
  chainId: 31_337,
  market: `0x${"22".repeat(20)}`,
  requester: `0x${"33".repeat(20)}`,
};
const OTHER_OWNER: Owner = { ...OWNER, market: `0x${"ab".repeat(20)}`, requester: `0x${"cd".repeat(20)}` };
const [CLAIM, OTHER] = [`0x${"44".repeat(32)}`, `0x${"55".repeat(32)}`] as const;

describe("the state of a batch", () => {
  let folder: string;
  const path = (): string => join(folder, "batch.db");
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "refute-dispatch-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it("everything_isThereAfterOpeningAgain", async () => {
    const terms = { fee: 5n, window: 60, claimSeconds: 30, deadline: 99n, items: 4, salt: CLAIM };
    const first = await DispatchStore.open(path(), OWNER);
    first.begin({ part: 2, attempt: 0, terms });
    first.refunded(2, 0, 5n);
    for (const gas of [70, 70]) first.spent(2, 0, OTHER, gas, 700n);
    for (const claim of [CLAIM, OTHER]) first.keep(2, claim, 1, new Map([[0, new Uint8Array([1, 2, 3])]]));
    first.checked(2, CLAIM, "drawn");
    first.checked(2, CLAIM, "right");
    for (const seconds of [1.5, 2]) first.usedGpu(seconds);
    first.finish({ part: 2, claim: CLAIM, worker: OWNER.market, source: "worker" });
    first.close();
    const again = await DispatchStore.open(path(), OWNER);
    expect(again.attempts()).to.deep.equal([{ part: 2, attempt: 0, terms, refund: 5n }]);
    // The same transaction counts once.
    expect(again.spending(2)).to.deep.equal({ transactions: 1, gas: 70, cost: 700n });
    expect(again.gpuSeconds()).to.equal(3.5);
    expect(again.output(2, CLAIM, 1, 0)).to.deep.equal(new Uint8Array([1, 2, 3]));
    expect(again.hasOutput(2, OTHER, 1, 0)).to.equal(false);
    expect(again.check(CLAIM)).to.equal("right");
    expect(again.done().map(({ part, claim }) => [part, claim])).to.deep.equal([[2, CLAIM]]);
    again.close();
  });

  it("theStateOfAnotherBatchAccountOrMarket_isRefused", async () => {
    (await DispatchStore.open(path(), OWNER)).close();
    for (const [change, says] of [
      [{ batch: OTHER }, /another batch \(inputs, program, parts or name\)/],
      [{ requester: OWNER.market }, /another batch \(account\)/],
      [{ market: OWNER.requester, chainId: 1 }, /another batch \(chain, market\)/],
    ] as const) {
      const error = await rejection(DispatchStore.open(path(), { ...OWNER, ...change }));
      expect(error).to.be.instanceOf(DispatchStateError);
      expect(error.message).to.match(says);
    }
    // Capitals of an address make no difference.
    const written = { market: getAddress(OTHER_OWNER.market), requester: getAddress(OTHER_OWNER.requester) };
    (await DispatchStore.open(join(folder, "other.db"), OTHER_OWNER)).close();
    (await DispatchStore.open(join(folder, "other.db"), { ...OTHER_OWNER, ...written })).close();
    // A refusal holds no lock.
    (await DispatchStore.open(path(), OWNER)).close();
  });
});
