import { expect } from "chai";
import { Side } from "../../src/chain/structs.ts";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { dueOf } from "../../src/runs/dueOf.ts";
import { Lane } from "../../src/parties/role/lane.ts";

type Claims = JobRecord["claims"];
const OPEN = { games: [], windowEnd: 500n, finalised: false, refuted: false, accepted: false };
const claim = (change: object): Claims[number] => ({ ...OPEN, ...change }) as unknown as Claims[number];
const game = (since: number, closed?: object): object => ({
  moves: [{ state: { turn: Side.worker, since, workerSeconds: 40, challengerSeconds: 90 } }],
  closed,
});
const holder = { worker: "0x01", until: 300n } as JobRecord["holder"];

describe("when an execution is due", () => {
  it("isTheEarliestEnd_ofClocksWindowsAndClaims", () => {
    expect(dueOf({ holder: undefined, claims: [] })).to.equal(Infinity);
    expect(dueOf({ holder, claims: [] })).to.equal(300);
    expect(dueOf({ holder: undefined, claims: [claim({}), claim({ windowEnd: 400n })] })).to.equal(400);
    expect(dueOf({ holder: undefined, claims: [claim({ games: [game(100), game(90)] })] })).to.equal(130);
    expect(dueOf({ holder, claims: [claim({ games: [game(100, {})] })] })).to.equal(300);
    for (const over of ["finalised", "refuted", "accepted"])
      expect(dueOf({ holder: undefined, claims: [claim({ [over]: true })] })).to.equal(Infinity);
  });
});

describe("a lane", () => {
  it("thatIsRunTwice_doesTwoPiecesAtATime_butNoneTwice", async () => {
    const lane = new Lane<string>();
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const act = (piece: string): Promise<void> => {
      begun.push(piece);
      return new Promise((resolve) => ends.set(piece, resolve));
    };
    lane.renew(["a", "b", "c"]);
    const runs = [lane.run(act), lane.run(act)];
    expect(begun).to.deep.equal(["a", "b"]);
    lane.renew(["b", "d"]);
    ends.get("a")!();
    // The first one goes on: b is being done, so that d comes.
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun.slice(2)).to.include("d");
    expect(begun.filter((piece) => piece === "b")).to.have.length(1);
    const end = setInterval(() => ends.forEach((finish) => finish()), 1);
    await Promise.all(runs);
    clearInterval(end);
  });
});
