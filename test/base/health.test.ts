import { expect } from "chai";
import { pino } from "pino";
import { ExecutionInputError, ExecutionMemoryError } from "../../src/executor/errors.ts";
import { HeadAge } from "../../src/runs/figures.ts";
import { NO_METER } from "../../src/runs/figures.ts";
import { Health, problemOf } from "../../src/base/health.ts";
import { measured } from "../../src/runs/measured.ts";
import { rejection } from "../../testkit/rejection.ts";

const MINUTE = 60_000;

describe("health of a role", () => {
  let time: number;
  let lines: { level: number; msg: string; condition: string; reason?: string }[];
  let health: Health;
  beforeEach(() => {
    time = 0;
    lines = [];
    const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[number]);
    health = new Health(pino({ level: "info" }, { write }), () => time);
  });

  it("eachNoHasAReason_andALineAtOnce_thenEveryTenMinutes", () => {
    health.set("judges", { reason: "out of memory" });
    health.set("pays", { reason: "no ether" });
    expect(health.reasons).to.deep.equal([
      { condition: "judges", reason: "out of memory" },
      { condition: "pays", reason: "no ether" },
    ]);
    expect(lines.map(({ level, msg, reason }) => [level, msg, reason])).to.deep.equal([
      [50, "not ready: judges", "out of memory"],
      [40, "not ready: pays", "no ether"],
    ]);
    for (time = 0; time < 60 * MINUTE; time += MINUTE) health.set("judges", { reason: "out of memory" });
    expect(lines).to.have.length(12);
  });

  it("whatHoldsAgain_isLoggedOnce", () => {
    health.set("judges", undefined);
    health.set("judges", { reason: "out of memory" });
    health.set("judges", undefined);
    health.set("judges", undefined);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(["not ready: judges", "all right again: judges"]);
    expect(health.reasons).to.deep.equal([]);
    expect(health.conditions).to.deep.equal([{ condition: "judges", holds: true }]);
  });

  it("whatComesAndGoes_isLoggedAtMostOnceAMinute", () => {
    for (; time < 10 * MINUTE; time += 100) health.set("executes", time % 200 === 0 ? { reason: "no" } : undefined);
    expect(lines.filter(({ level }) => level === 50)).to.have.length(10);
    expect(lines).to.have.length(20);
  });

  it("attestationThatEndsSoon_isLogged_butReadyMeanwhile", () => {
    health.set("attestation", { reason: "ends in 3 hours" });
    expect(health.reasons).to.deep.equal([]);
    expect(health.conditions).to.deep.equal([{ condition: "attestation", holds: false }]);
    for (; time < 180 * MINUTE; time += MINUTE) health.repeat();
    expect(lines.map(({ msg }) => msg)).to.deep.equal(Array(3).fill("soon not ready: attestation"));
  });

  it("problem_hasTheErrorsCode_andNoPathOfANode", () => {
    const problem = problemOf(new ExecutionMemoryError("see http://node/secret"), "an audit failed");
    expect(problem).to.deep.equal({ reason: "an audit failed: see http://node", code: "EXECUTION_MEMORY" });
  });

  it("executionThatFails_isNoted_untilOneEnds_butNotInputsThatDoNotFit", async () => {
    let fails: Error | undefined;
    const execute = measured(
      () => (fails === undefined ? Promise.resolve([]) : Promise.reject(fails)),
      health,
      NO_METER,
    );
    const run = () => execute(undefined as never, []);
    fails = new ExecutionInputError("one input too many");
    await rejection(run());
    expect(health.reasons).to.deep.equal([]);
    fails = new Error("Invalid argument");
    await rejection(run());
    expect(health.reasons).to.deep.equal([{ condition: "executes", reason: "an execution failed: Invalid argument" }]);
    fails = undefined;
    await run();
    expect(health.reasons).to.deep.equal([]);
  });

  it("head_isOld_ifNoBlockComesForLongerThanUsual", () => {
    const age = new HeadAge();
    expect(age.of({ blockNumber: 1n, now: 1_000n }, 1_010)).to.deep.equal({ lag: 10, problem: undefined });
    expect(age.of({ blockNumber: 11n, now: 1_120n }, 1_120).problem).to.equal(undefined);
    expect(age.of({ blockNumber: 11n, now: 1_120n }, 1_240).problem).to.equal(undefined);
    expect(age.of({ blockNumber: 11n, now: 1_120n }, 1_241)).to.deep.equal({
      lag: 121,
      problem:
        "the newest block that the nodes show, 11, is 121 s old: the nodes are behind the chain, or this machine's " +
        "clock is wrong",
    });
    const slow = new HeadAge();
    slow.of({ blockNumber: 1n, now: 0n }, 0);
    expect(slow.of({ blockNumber: 2n, now: 60n }, 60 + 600).problem).to.equal(undefined);
    expect(slow.of({ blockNumber: 2n, now: 60n }, 60 + 601).problem).to.contain("601 s old");
  });
});
