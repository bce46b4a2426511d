import { expect } from "chai";
import { numberToHex, type Hex } from "viem";
import { DecodedLogs } from "../../src/chain/decodedLogs.ts";

const CHARACTERS = 4_098;
const data = (fill: string): Hex => `0x${fill.repeat((CHARACTERS - 2) / 2)}`;

describe("what decoded logs said", function () {
  let decoded = 0;
  const ask = (logs: DecodedLogs, place: number, what: { data: Hex; topics?: Hex[] }): unknown => {
    const log = { blockHash: numberToHex(place, { size: 32 }), logIndex: "0x0", topics: ["0x01"], ...what } as const;
    return logs.of(log, () => ({ eventName: "Large", args: { data: log.data, times: ++decoded } }));
  };

  it("sameLog_isDecodedOnce_anotherAtItsPlaceAnew", () => {
    const logs = new DecodedLogs();
    const first = ask(logs, 1, { data: data("aa") });
    expect(ask(logs, 1, { data: data("aa") })).to.equal(first);
    for (const other of [{ data: data("ab") }, { data: data("ab"), topics: ["0x02"] as Hex[] }])
      expect(ask(logs, 1, other)).to.deep.equal({ eventName: "Large", args: { data: data("ab"), times: decoded } });
  });

  it("shortLog_isNotKept", () => {
    const logs = new DecodedLogs();
    expect(ask(logs, 1, { data: "0xaa" })).not.to.equal(ask(logs, 1, { data: "0xaa" }));
  });

  it("moreThanTheLimit_forgetsWhatWasUsedLeastRecently", () => {
    const logs = new DecodedLogs(2 * CHARACTERS);
    const [first, second] = [1, 2].map((place) => ask(logs, place, { data: data("aa") }));
    expect(ask(logs, 1, { data: data("aa") })).to.equal(first);
    ask(logs, 3, { data: data("aa") });
    expect(ask(logs, 1, { data: data("aa") })).to.equal(first);
    expect(ask(logs, 2, { data: data("aa") })).not.to.equal(second);
  });
});
