import { expect } from "chai";
import { pino } from "pino";
import { Monitor } from "../../src/cli/monitor.ts";
import { Health } from "../../src/base/health.ts";
import { operatorView, readMetrics } from "../../web/operators/metrics.ts";

const TEXT = `# HELP refute_condition 1 while it holds
refute_condition{name="rounds"} 1
refute_condition{name="a\\"b\\\\<img>\\n"} 0
refute_events_total{kind="submitted"} 3
refute_gas_total{kind="submitted"} 450000
refute_execution_seconds_bucket{le="1"} 2
refute_execution_seconds_bucket{le="+Inf"} 3
refute_execution_seconds_sum 6
refute_execution_seconds_count 3
refute_least_clock_seconds +Inf
refute_stake_wei 1.8e18
refute_gas_price_wei 1.5e9
refute_info{role="watcher",version="0.1.0",chain="1",market="0x12"} 1
refute_rpc_errors_total{node="a",reason="b"} 2
no metric at all
`;

describe("web: metrics", () => {
  const view = operatorView(readMetrics(TEXT))!;

  it("process_isShown_asItsMetricsSay", () => {
    // A watcher in defence has a stake metric too: only refute_info says the role.
    expect(view).to.include({ role: "watcher", minClock: undefined, rpcErrors: 2 });
    expect(view.info).to.deep.equal({ version: "0.1.0", chain: "1", market: "0x12" });
    expect(view.events).to.deep.equal([
      { kind: "submitted", count: 3, gas: 450_000, about: "the root of an execution was claimed" },
    ]);
    expect(view.money.map(({ name, units, unit }) => [name, units, unit])).to.deep.equal([
      ["Stake", 18n * 10n ** 17n, "of the stake asset"],
      ["Price of gas", 1_500_000_000n, "gwei"],
    ]);
    expect(view.executions).to.deep.include({ count: 3, mean: 2 });
    expect(view.executions!.buckets.map(({ count }) => count)).to.deep.equal([2, 1]);
  });

  it("labels_areReadWithTheirEscapes", () => {
    expect(view.conditions[1]).to.deep.equal({ name: 'a"b\\<img>\n', holds: false, why: "see its /readyz" });
  });

  it("otherMetrics_areNone", () => {
    expect(operatorView(readMetrics("process_cpu 1\n"))).to.equal(undefined);
    expect(operatorView(readMetrics(""))).to.equal(undefined);
  });

  it("monitorOfAProcess_isReadWhole", async () => {
    const monitor = new Monitor(new Health(pino({ level: "silent" })), 1_000);
    const port = await monitor.listen(0);
    try {
      monitor.onRound("done");
      monitor.onEvent({ kind: "finalised", receipt: { gasUsed: 70_000n } });
      monitor.meter.executed(0.5);
      monitor.meter.figures({ openClaims: 2, staked: 5n, bond: 7n });
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      const own = operatorView(readMetrics(text))!;
      expect(own).to.include({ role: undefined, openClaims: 2 });
      expect(own.conditions).to.have.length(1);
      expect(own.conditions[0]).to.include({ name: "rounds", holds: true });
      expect(own.events).to.have.length(1);
      expect(own.events[0]).to.include({ kind: "finalised", count: 1, gas: 70_000 });
      expect(own.money.map(({ name }) => name)).to.deep.equal(["Stake", "Bond of a game"]);
      expect(own.executions).to.include({ count: 1, mean: 0.5 });
    } finally {
      await monitor.close();
    }
  });
});
