import { expect } from "chai";
import type { Hex } from "viem";
import { stakeVaultAbi } from "../../src/chain/abi/stakeVault.ts";
import type { PanelMove } from "../../src/parties/requester/panelMoves.ts";
import type { PanelState } from "../../src/parties/requester/panelState.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { FEE, PanelPlayers, WINDOW, type PostedPanel } from "../../testkit/players/panelPlayers.ts";
import { first, reference } from "../../testkit/players/players.ts";

/** The stock worker, watcher and poster; times of the chain pass at once. */
describe("panels, end to end", function () {
  this.timeout(120_000);
  const program = mlpProgram();
  const lie = reference({ step: 0, element: 150 });
  let at: PanelPlayers;
  beforeEach(async () => void (at = await PanelPlayers.create(program)));
  afterEach(() => at.close());

  const tokensOf = ({ poster }: PostedPanel): Promise<bigint> => poster.asset.balanceOf(poster.sender.address);
  const stakeOf = async ({ poster }: PostedPanel, worker: Hex) => (await poster.vault.accountOf(worker)).staked;
  const phasesOf = ({ seats }: PanelState) => seats.map(({ phase }) => phase);
  /** The panel's contract keeps nothing, and the market has nothing in custody. */
  const expectNothingLeft = async ({ poster }: PostedPanel): Promise<void> => {
    expect((await poster.vault.accountOf(at.panel)).credit).to.equal(0n);
    const { vault } = poster.deployment;
    const custody = { address: vault, abi: stakeVaultAbi, functionName: "custody" } as const;
    expect(await poster.publicClient.readContract(custody)).to.equal(0n);
  };
  /** Lets windows pass, and time for the finalising of others. */
  const passWindow = (): Promise<void> => at.players.chain.advance(WINDOW + 600);

  it("threeHonestSeats_agree_allAreJudgedByOneWatcher_andSurvive", async () => {
    const workers = [await at.work(reference()), await at.work(reference()), await at.work(reference())];
    const watcher = await at.watch(reference());
    const posted = await at.post([mlpInput(1)], 3);
    await at.sealAndOpen(posted, workers);
    const agreed = await at.follow(posted, { untilAgreed: true });
    expect([agreed.outcome, ...phasesOf(agreed)]).to.deep.equal(["agreed", "submitted", "submitted", "submitted"]);
    const judged = await Promise.all(posted.jobs.map((job) => first(watcher, "agrees", ({ jobId }) => jobId === job)));
    expect(new Set(judged.map(({ claimId }) => claimId)).size).to.equal(3);
    await passWindow();
    const survived = await at.follow(posted);
    expect([survived.outcome, survived.finals, survived.root]).to.deep.equal(["survived", 3, agreed.root]);
    await Promise.all([watcher.stop(), ...workers.map(({ stop }) => stop())]);
    await expectNothingLeft(posted);
  });

  it("twoOfThreeLieAlike_oneWatcherRefutesBoth_andTheHonestSeatSurvives", async () => {
    const workers = [await at.work(lie), await at.work(lie), await at.work(reference())];
    const [a, b, honest] = workers;
    const posted = await at.post([mlpInput(2)], 3);
    const before = await tokensOf(posted);
    await at.sealAndOpen(posted, workers);
    const { collateral } = posted.poster.deployment.parameters;
    const watcher = await at.watch(reference());
    const proofs = new Set<Hex>();
    while (proofs.size < 2)
      proofs.add(
        (await first(watcher, "moved", ({ move, claimId }) => move === "prove" && !proofs.has(claimId))).claimId,
      );
    expect([await stakeOf(posted, a!.address), await stakeOf(posted, b!.address)]).to.deep.equal([
      collateral,
      collateral,
    ]);
    expect(await stakeOf(posted, honest!.address)).to.equal(2n * collateral);
    await passWindow();
    const ended = await at.follow(posted);
    expect([ended.outcome, ended.finals]).to.deep.equal(["survived", 1]);
    expect((await tokensOf(posted)) - before).to.equal(2n * FEE);
    await Promise.all([watcher.stop(), ...workers.map(({ stop }) => stop())]);
    await expectNothingLeft(posted);
  });

  it("allLieAlike_areAgreed_andOneWatcherSlashesThemAfterwards", async () => {
    const workers = [await at.work(lie), await at.work(lie)];
    const posted = await at.post([mlpInput(3)], 2);
    await at.sealAndOpen(posted, workers);
    expect((await at.follow(posted, { untilAgreed: true })).outcome).to.equal("agreed");
    const watcher = await at.watch(reference());
    const ended = await at.follow(posted);
    expect([ended.outcome, ...phasesOf(ended)]).to.deep.equal(["failed", "refuted", "refuted"]);
    const { collateral } = posted.poster.deployment.parameters;
    for (const { address } of workers) expect(await stakeOf(posted, address)).to.equal(collateral);
    await Promise.all([watcher.stop(), ...workers.map(({ stop }) => stop())]);
    await expectNothingLeft(posted);
  });

  it("aWorkerTakesOneSeat_theOtherIsClosed_andItsFeeComesBack", async () => {
    const worker = await at.work(reference());
    const posted = await at.post([mlpInput(4)], 2);
    const before = await tokensOf(posted);
    await at.sealAndOpen(posted, [worker]);
    await passWindow();
    const ended = await at.follow(posted);
    expect([ended.outcome, ended.finals, ...phasesOf(ended).sort()]).to.deep.equal(["survived", 1, "closed", "final"]);
    expect((await tokensOf(posted)) - before).to.equal(FEE);
    await worker.stop();
    await expectNothingLeft(posted);
  });

  it("sealNotOpened_isBroken_theCollateralLost_andTheWorkerIsToldWhenItComesBack", async () => {
    const [worker, lost] = [await at.work(reference()), await at.work(reference())];
    const posted = await at.post([mlpInput(5)], 2);
    await Promise.all([first(worker.running, "sealed"), first(lost.running, "sealed")]);
    await lost.stop();
    await at.reach(posted.openFrom);
    await first(worker.running, "submitted");
    const { collateral, baseClock } = posted.poster.deployment.parameters;
    await at.reach(posted.openFrom + baseClock + 1);
    const back = await at.work(reference(), lost.key);
    const { reason } = await first(back.running, "sealLost");
    expect(reason).to.match(/not opened in time/);
    await passWindow();
    const moves: PanelMove["kind"][] = [];
    const ended = await at.follow(posted, {
      onMove: ({ kind }) => void (kind === "withdraw" ? undefined : moves.push(kind)),
    });
    expect([ended.outcome, ended.finals, ...phasesOf(ended).sort()]).to.deep.equal(["survived", 1, "closed", "final"]);
    expect(moves).to.include("breakSeal");
    expect(await stakeOf(posted, lost.address)).to.equal(collateral);
    await Promise.all([worker.stop(), back.stop()]);
    await expectNothingLeft(posted);
  });

  it("workerThatIsStoppedBetweenSealAndOpening_opensItAfterwards", async () => {
    const worker = await at.work(reference());
    const posted = await at.post([mlpInput(6)], 1);
    await first(worker.running, "sealed");
    await worker.stop();
    await at.reach(posted.openFrom);
    const back = await at.work(reference(), worker.key);
    await first(back.running, "submitted");
    await passWindow();
    expect((await at.follow(posted)).outcome).to.equal("survived");
    await back.stop();
  });

  describe("of one seat, with an audit", () => {
    it("thatIsAdded_theLiarIsFoundByTheAddedSeatsWatcher_andTheOtherIsPaid", async () => {
      const liar = await at.work(lie);
      const posted = await at.post([mlpInput(7)], 1, true);
      const before = await tokensOf(posted);
      await first(liar.running, "sealed");
      await at.reach(posted.deadline + 1n);
      const end = at.follow(posted, { addsSeat: true });
      const honest = await at.work(reference());
      await first(honest.running, "sealed");
      await at.reach(posted.openFrom);
      await Promise.all([first(liar.running, "submitted"), first(honest.running, "submitted")]);
      const watcher = await at.watch(reference());
      await first(watcher, "moved", ({ move }) => move === "prove");
      await passWindow();
      const ended = await end;
      expect([ended.outcome, ended.finals, ...phasesOf(ended)]).to.deep.equal(["survived", 1, "refuted", "final"]);
      expect((await tokensOf(posted)) - before).to.equal(FEE);
      await Promise.all([watcher.stop(), liar.stop(), honest.stop()]);
      await expectNothingLeft(posted);
    });

    it("thatIsNotAdded_theKeptFeeComesBack", async () => {
      const worker = await at.work(reference());
      const posted = await at.post([mlpInput(8)], 1, true);
      const before = await tokensOf(posted);
      await at.sealAndOpen(posted, [worker]);
      expect((await at.follow(posted, { untilAgreed: true })).outcome).to.equal("agreed");
      await passWindow();
      const ended = await at.follow(posted);
      expect([ended.outcome, ended.finals]).to.deep.equal(["survived", 1]);
      expect((await tokensOf(posted)) - before).to.equal(FEE);
      await worker.stop();
      await expectNothingLeft(posted);
    });
  });
});
