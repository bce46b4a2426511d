import { expect } from "chai";
import { Monitor } from "../../src/cli/monitor.ts";

const ADDRESS = `0x${"11".repeat(20)}` as const;

describe("monitor", function () {
  let monitor: Monitor;
  let base: string;
  let balance: () => Promise<bigint>;

  beforeEach(async function () {
    balance = () => Promise.resolve(10n ** 18n);
    const publicClient = { getBalance: () => balance() };
    monitor = new Monitor({ publicClient, sender: { address: ADDRESS } } as never, 1_000);
    base = `http://127.0.0.1:${await monitor.listen(0)}`;
  });

  afterEach(() => monitor.close());

  const get = async (path: string) => {
    const response = await fetch(`${base}${path}`);
    return { status: response.status, text: await response.text() };
  };

  it("healthz_isUpAtOnce_anythingElseIsNotFound", async function () {
    expect((await get("/healthz")).status).to.equal(200);
    expect((await get("/")).status).to.equal(404);
  });

  it("readyz_is503_untilARoundEndsWell_andAfterOneThatFails", async function () {
    expect(await get("/readyz")).to.deep.equal({ status: 503, text: "no round has ended yet\n" });
    monitor.onRound("done");
    expect((await get("/readyz")).status).to.equal(200);
    monitor.onRound("failed");
    expect(await get("/readyz")).to.deep.equal({ status: 503, text: "the last round failed\n" });
  });

  it("readyz_is503_withoutANodeOrEther", async function () {
    monitor.onRound("done");
    balance = () => Promise.reject(new Error("down"));
    expect(await get("/readyz")).to.deep.equal({ status: 503, text: "no node answers\n" });
    balance = () => Promise.resolve(0n);
    expect((await get("/readyz")).status).to.equal(503);
  });

  it("metrics_countRoundsEventsAndGas", async function () {
    monitor.onRound("done");
    monitor.onEvent({ kind: "submitted", receipt: { gasUsed: 50_000n } });
    monitor.onEvent({ kind: "executed" });
    const { text } = await get("/metrics");
    expect(text).to.contain('refute_rounds_total{outcome="done"} 1');
    expect(text).to.contain('refute_gas_total{kind="submitted"} 50000');
    expect(text).to.contain('refute_events_total{kind="executed"} 1');
    expect(text).to.contain("refute_balance_wei 1000000000000000000");
  });
});
