import { expect } from "chai";
import { pino } from "pino";
import { Monitor } from "../../src/cli/monitor.ts";
import { Health } from "../../src/base/health.ts";
import { exitStatusOf } from "../../src/cli/exitStatus.ts";
import { rejection } from "../../testkit/rejection.ts";

describe("monitor", function () {
  let time: number;
  let health: Health;
  let monitor: Monitor;
  let base: string;

  beforeEach(async function () {
    time = 1e12;
    health = new Health(pino({ level: "silent" }), () => time);
    monitor = new Monitor(health, 1_000, () => time);
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

  it("portThatIsTaken_isRefusedByName_asAUsageError", async function () {
    const port = Number(new URL(base).port);
    const error = await rejection(new Monitor(health, 1_000).listen(port));
    expect(error).to.have.property("code", "PORT");
    expect(error.message).to.equal(
      `port ${port} of 127.0.0.1 is taken by another process: name another one with --monitor-port`,
    );
    expect(exitStatusOf(error)).to.equal(2);
  });

  it("firstRoundThatDoesNotEnd_isNotCalledTheLastOne", async function () {
    time += 60_001;
    const { status, text } = await get("/readyz");
    expect([status, text]).to.deep.equal([503, "rounds: no round has ended yet\n"]);
  });

  it("readyz_is503_untilARoundEndsWell_afterOneThatFails_andWhenNoneEnds", async function () {
    const none = { status: 503, text: "rounds: no round has ended yet\n" };
    expect(await get("/readyz")).to.deep.equal(none);
    time += 60_001;
    expect(await get("/readyz")).to.deep.equal(none);
    monitor.onRound("done");
    expect((await get("/readyz")).status).to.equal(200);
    monitor.onRound("failed");
    expect(await get("/readyz")).to.deep.equal({ status: 503, text: "rounds: the last round failed\n" });
    monitor.onRound("done");
    time += 60_001;
    expect(await get("/readyz")).to.deep.equal({ status: 503, text: "rounds: the last round ended too long ago\n" });
  });

  it("readyz_listsAllReasons_aLineForEach", async function () {
    monitor.onRound("done");
    health.set("judges", { reason: "out of\nmemory \x1b[2J" });
    health.set("pays", { reason: "no ether" });
    health.set("attestation", { reason: "ends soon" });
    expect(await get("/readyz")).to.deep.equal({
      status: 503,
      text: "judges: out of\\nmemory \\x1b[2J\npays: no ether\n",
    });
  });

  it("metrics_sayWhatTheProcessIs", async function () {
    monitor.about({ role: "watcher", version: "1.2.3", chain: "31337", market: "0x12" });
    const line = 'refute_info{role="watcher",version="1.2.3",chain="31337",market="0x12"} 1';
    expect((await get("/metrics")).text).to.contain(line);
  });

  it("metrics_countRoundsEventsAndGas", async function () {
    monitor.onRound("done");
    monitor.onEvent({ kind: "submitted", receipt: { gasUsed: 50_000n } });
    monitor.onEvent({ kind: "executed" });
    const { text } = await get("/metrics");
    expect(text).to.contain('refute_rounds_total{outcome="done"} 1');
    expect(text).to.contain('refute_gas_total{kind="submitted"} 50000');
    expect(text).to.contain('refute_events_total{kind="executed"} 1');
  });

  it("metrics_showFigures_conditions_auditsAndExecutions", async function () {
    monitor.meter.figures({ credit: 10n ** 18n, openGames: 2, minClock: Infinity });
    monitor.meter.figures({ openGames: 3 });
    monitor.meter.executed(2);
    monitor.onDevice("a GPU");
    for (const seconds of [2, 0.5]) monitor.onGpuSeconds(seconds);
    monitor.meter.auditFailed();
    health.set("judges", { reason: "out of memory" });
    health.set("pays", undefined);
    const { text } = await get("/metrics");
    expect(text).to.contain("refute_credit_wei 1000000000000000000");
    expect(text).to.contain("refute_open_games 3");
    expect(text).to.contain("refute_least_clock_seconds +Inf");
    expect(text).not.to.contain("refute_stake_wei");
    expect(text).to.contain('refute_execution_seconds_bucket{le="3"} 1');
    expect(text).to.contain("refute_failed_audits_total 1");
    expect(text).to.contain('refute_gpu_seconds_total{name="a GPU"} 2.5');
    expect(text).to.contain('refute_condition{name="judges"} 0');
    expect(text).to.contain('refute_condition{name="pays"} 1');
  });

  it("metrics_countFailedRequests_withAFewReasonsOnly", async function () {
    for (let k = 0; k < 1_000; k++) monitor.onRpcFailure({ node: "endpoint 1", method: "eth_call", reason: `r${k}` });
    const { text } = await get("/metrics");
    expect(text).to.contain('refute_rpc_errors_total{node="endpoint 1",reason="r0"} 1');
    expect(text).to.contain('refute_rpc_errors_total{node="endpoint 1",reason="other"} 968');
  });
});
