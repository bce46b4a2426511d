import { expect } from "chai";
import { pino } from "pino";
import { runLoop } from "../../../src/parties/role/loop.ts";
import { RpcUnavailableError } from "../../../src/chain/errors.ts";

describe("runLoop", function () {
  const logged: { level: number; code?: string; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number]) });
  beforeEach(() => void logged.splice(0));

  it("failingRounds_areLoggedAndTriedAgain", async function () {
    const stop = new AbortController();
    let rounds = 0;
    await runLoop({ signal: stop.signal, intervalMs: 1, log }, () => {
      rounds++;
      if (rounds === 1) throw new RpcUnavailableError("node is down");
      if (rounds === 2) throw new TypeError("a defect");
      stop.abort();
      return Promise.resolve();
    });
    expect(rounds).to.equal(3);
    expect(logged.map(({ level, code }) => [level, code])).to.deep.equal([
      [40, "RPC_UNAVAILABLE"],
      [50, undefined],
    ]);
  });

  it("stopSignal_endsThePauseAtOnce", async function () {
    const stop = new AbortController();
    await runLoop({ signal: stop.signal, intervalMs: 3_600_000, log }, () => {
      setTimeout(() => stop.abort(), 5);
      return Promise.resolve();
    });
    expect(logged).to.deep.equal([]);
  });
});
