import { expect } from "chai";
import { HttpRequestError, zeroAddress, type Hex } from "viem";
import { Disputes } from "../../../watcher/disputes.ts";
import type { WatcherEvent } from "../../../watcher/events.ts";
import { watcherLine } from "../../../watcher/watcher.ts";
import { Panel } from "../../../src/chain/clients/panel.ts";
import { deposit } from "../../../src/chain/market/deposit.ts";
import type { SeatOdds } from "../../../src/parties/requester/followPanel.ts";
import { SeatJudge } from "../../../src/parties/requester/seatJudge.ts";
import { Role } from "../../../src/parties/role/role.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { awayAtTransactions, fitfulSession } from "../../../testkit/nodes/fitfulSession.ts";
import { PanelPlayers, WINDOW, type PostedPanel } from "../../../testkit/players/panelPlayers.ts";
import { first, quiet, reference } from "../../../testkit/players/players.ts";

/** A lie and an honest seat, and no watcher besides those who see both. */
describe("a panel with a lie and an honest seat", function () {
  const program = mlpProgram();
  const lie = reference({ step: 0, element: 150 });
  let at: PanelPlayers;
  beforeEach(async () => void (at = await PanelPlayers.create(program)));
  afterEach(() => at.close());

  const judgeOf = ({ poster: session }: PostedPanel, known = [program]) => {
    const events: WatcherEvent[] = [];
    const options = { session, programs: ProgramLibrary.of(known), execute: reference(), intervalMs: 30 };
    return { judge: new SeatJudge({ ...options, onEvent: (event) => void events.push(event) }), events };
  };

  it("itsFollowerExecutesOnce_refutesTheLie_andTheHonestSeatSurvives", async () => {
    const workers = [await at.work(lie), await at.work(reference())];
    const posted = await at.post([mlpInput(7)], 2);
    await at.sealAndOpen(posted, workers);
    const { judge, events } = judgeOf(posted);
    const odds: SeatOdds[] = [];
    const end = at.follow(posted, { judge, onOdds: (one) => void odds.push(one) });
    const isRefuted = () => events.some((event) => event.kind === "moved" && event.move === "prove");
    while (!isRefuted()) await new Promise((resolve) => setTimeout(resolve, 30));
    await at.players.chain.advance(WINDOW + 600);
    const ended = await end;
    expect([ended.outcome, ended.finals]).to.deep.equal(["survived", 1]);
    expect(ended.seats.map(({ phase }) => phase).sort()).to.deep.equal(["final", "refuted"]);
    expect(odds[0]!.claims).to.have.length(2);
    expect(odds.at(-1)!.right).to.equal(ended.root);
    // The right claim once at most, and the wrong one, which needs the tensors.
    expect(events.filter(({ kind }) => kind === "agrees" || kind === "differs").length).to.be.at.most(2);
    // The bond is back.
    const { credit } = await posted.poster.vault.accountOf(posted.poster.sender.address);
    expect(credit >= posted.poster.deployment.bond).to.equal(true);
    await Promise.all(workers.map(({ stop }) => stop()));
  });

  it("itsFollowerWaitsOutOutages_atEachMove_andWhenItTakesTheRestOut", async () => {
    const workers = [await at.work(reference()), await at.work(reference())];
    const posted = await at.post([mlpInput(11)], 2);
    await at.sealAndOpen(posted, workers);
    await Promise.all(workers.map(({ stop }) => stop()));
    await at.players.chain.advance(WINDOW + 600);
    const away = new Set<string>();
    // Before a transaction, after one, not at one, and so on.
    const turns = [true, false, true, false, false];
    let turn = 0;
    const isAway = awayAtTransactions(() => turns[turn++ % turns.length]!, 1);
    const poster = fitfulSession(posted.poster, (moment) => {
      const isIt = isAway(moment);
      if (isIt) away.add(moment);
      return isIt;
    });
    const panel = new Panel(posted.panel.address, poster);
    const { outcome, finals } = await at.follow({ ...posted, poster, panel });
    expect([outcome, finals]).to.deep.equal(["survived", 2]);
    expect([...away].sort()).to.deep.equal(["after a transaction", "before a transaction", "read"]);
    expect(await posted.panel.owed(posted.poster.sender.address)).to.equal(0n);
  });

  it("itsFollowerWithoutTheModel_saysSo_andFinalisesNeither", async () => {
    const workers = [await at.work(lie, undefined), await at.work(reference())];
    const posted = await at.post([mlpInput(8)], 2);
    await at.sealAndOpen(posted, workers);
    await Promise.all(workers.map(({ stop }) => stop()));
    await at.players.chain.advance(WINDOW + 600);
    for (const judge of [undefined, judgeOf(posted, []).judge]) {
      const stop = new AbortController();
      const moves: string[] = [];
      const said = new Promise<SeatOdds>((resolve) => {
        const onOdds = (odds: SeatOdds): void => (odds.undisputed.length > 0 ? resolve(odds) : undefined);
        const onMove = ({ kind }: { kind: string }): void => void moves.push(kind);
        at.follow(posted, { ...(judge && { judge }), onOdds, onMove, signal: stop.signal }).catch(() => undefined);
      });
      const { right, undisputed } = await said;
      await new Promise((resolve) => setTimeout(resolve, 300));
      stop.abort();
      expect([right, undisputed.length, moves.length]).to.deep.equal([undefined, 2, 0]);
    }
  });

  it("theLieIsRefuted_andTheHonestWorkerGone_theSeatIsFinalisedAfterTheWindow", async () => {
    const workers = [await at.work(lie), await at.work(reference())];
    const watcher = await at.watch(reference());
    const posted = await at.post([mlpInput(10)], 2);
    await at.sealAndOpen(posted, workers);
    await first(watcher, "moved", (event) => event.move === "prove");
    await Promise.all([...workers.map(({ stop }) => stop()), watcher.stop()]);
    await at.players.chain.advance(WINDOW + 600);
    const { judge, events } = judgeOf(posted);
    const { outcome, finals } = await at.follow(posted, { judge });
    expect([outcome, finals, events]).to.deep.equal(["survived", 1, []]);
  });

  for (const [seatMode, phases] of [
    ["defend", ["final", "refuted"]],
    ["watch", ["submitted", "submitted"]],
  ] as const)
    it(`itsHonestWorker_inMode_${seatMode}`, async () => {
      const liar = await at.work(lie);
      const honest = await at.work(reference(), undefined, { seatMode });
      const session = await at.players.chain.sessionOf(honest.key);
      await deposit(session, session.deployment.bond);
      const posted = await at.post([mlpInput(9)], 2);
      await at.sealAndOpen(posted, [liar, honest]);
      await first(honest.running, "differs");
      if (seatMode === "defend") {
        await first(honest.running, "moved", (event) => event.move === "prove");
        await at.players.chain.advance(WINDOW + 600);
        await first(honest.running, "finalised");
      }
      const stop = new AbortController();
      const state = await new Promise<string[]>((resolve) => {
        const onState = ({ seats }: { seats: readonly { phase: string }[] }): void =>
          resolve(seats.map(({ phase }) => phase).sort());
        at.follow(posted, { onState, signal: stop.signal }).catch(() => undefined);
      });
      stop.abort();
      expect(state).to.deep.equal(phases);
      await Promise.all([liar.stop(), honest.stop()]);
    });
});

describe("disputes of seats", () => {
  /** An account of a code, while no node tells its money. */
  const disputesOf = (code: Hex): Disputes => {
    const away = (): Promise<never> => Promise.reject(new HttpRequestError({ url: "http://node" }));
    const session = {
      ...{ publicClient: { getCode: () => Promise.resolve(code) }, sender: { address: zeroAddress } },
      ...{ deployment: { bond: 1n, parameters: {} }, vault: { accountOf: away }, asset: { balanceOf: away } },
    } as never;
    const { signal } = new AbortController();
    const options = { session, programs: ProgramLibrary.of([]), execute: reference(), log: quiet, signal };
    return new Disputes(options, new Role("test", { ...options, intervalMs: 30 }, watcherLine));
  };
  const claim = { id: "0x01", games: [] } as never;

  it("noNodeAnswers_waitsForTheNextRound", async () => {
    const disputes = disputesOf("0x");
    disputes.take([claim]);
    expect([disputes.bonds, await disputes.tend()]).to.deep.equal([1n, []]);
  });

  it("theAccountDelegates_saysWhyTheClaimIsNotJudged", async () => {
    const problem = await disputesOf(`0xef0100${"11".repeat(20)}`).judge(claim);
    expect(problem?.claim).to.equal("0x01");
    expect(problem?.why).to.contain("EIP-7702");
  });
});
