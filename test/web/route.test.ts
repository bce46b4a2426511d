import { expect } from "chai";
import fc from "fast-check";
import { parseRoute, routeHash } from "../../web/route.ts";
import { targetOf, TargetError } from "../../web/explorer/deployment.ts";

const MARKET = `0x${"12".repeat(20)}`;

const NOTHING = { exams: undefined, panels: undefined };

describe("web: routes", () => {
  it("everyRoute_readsBackAsItIs", () => {
    const part = fc.string({ minLength: 1, unit: "grapheme" });
    const query = fc.dictionary(part, part, { noNullPrototype: true });
    const holds = (path: string[], entries: Record<string, string>): void => {
      expect(parseRoute(routeHash(path, entries))).to.deep.equal({ path, query: entries });
    };
    fc.assert(fc.property(fc.array(part), query, holds));
  });

  it("whatIsNoEncoding_isTakenAsWritten", () => {
    expect(parseRoute("#/%zz/a?x=%zz")).to.deep.equal({ path: ["%zz", "a"], query: { x: "%zz" } });
    expect(parseRoute("")).to.deep.equal({ path: [], query: {} });
  });

  it("deployment_isReadFromTheQuery", () => {
    const target = targetOf({ rpc: "http://127.0.0.1:8545", market: MARKET, from: "7" });
    expect(target).to.deep.equal({ rpc: "http://127.0.0.1:8545/", market: MARKET, fromBlock: 7n, ...NOTHING });
    expect(targetOf({})).to.equal(undefined);
  });

  it("whatNamesNoDeployment_isRefused", () => {
    const wrong = [
      { rpc: "javascript:alert(1)", market: MARKET },
      { rpc: "file:///etc/passwd", market: MARKET },
      { rpc: "", market: MARKET },
      { rpc: "http://node", market: "0x12" },
      { rpc: "http://node", market: MARKET, from: "-1" },
      { rpc: "http://node", market: MARKET, exams: "0x" },
    ];
    for (const query of wrong) expect(() => targetOf(query as object as Record<string, string>)).to.throw(TargetError);
  });
});
