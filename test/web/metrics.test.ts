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
refute_rpc_errors_total{node="a",reason="b"} 2
no metric at all
`;

describe("web: metrics", () => {
  const view = operatorView(readMetrics(TEXT))!;

  it("process_isShown_asItsMetricsSay", () => {
    expect(view).to.include({ role: "worker", minClock: undefined, rpcErrors: 2 });
    expect(view.events).to.deep.equal([{ kind: "submitted", count: 3, gas: 450_000 }]);
    expect(view.money).to.deep.equal([{ name: "Stake", units: 18n * 10n ** 17n }]);
    expect(view.executions).to.deep.include({ count: 3, mean: 2 });
    expect(view.executions!.buckets.map(({ count }) => count)).to.deep.equal([2, 1]);
  });

  it("labels_areReadWithTheirEscapes", () => {
    expect(view.conditions[1]).to.deep.equal({ name: 'a"b\\<img>\n', holds: false });
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
      expect(own).to.include({ role: "worker", openClaims: 2 });
      expect(own.conditions).to.deep.equal([{ name: "rounds", holds: true }]);
      expect(own.events).to.deep.equal([{ kind: "finalised", count: 1, gas: 70_000 }]);
      expect(own.money.map(({ name }) => name)).to.deep.equal(["Stake", "Bond of a game"]);
      expect(own.executions).to.include({ count: 1, mean: 0.5 });
    } finally {
      await monitor.close();
    }
  });
});
