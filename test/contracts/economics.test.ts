import { readFileSync } from "node:fs";
import { expect } from "chai";
import { readDeployment } from "../../scripts/economics/deployment.ts";
import { inEther, selfChallengeLoss, type Deployment } from "../../scripts/economics/model.ts";
import { fillTables } from "../../scripts/economics/page.ts";
import { economicsTables, dearestMove } from "../../scripts/economics/tables.ts";
import { GameDriver } from "../../test-support/protocol/gameDriver.ts";
import { honestTrace, lyingTrace, toyProgram } from "../../test-support/protocol/toyProgram.ts";
import { useWorld } from "../../test-support/protocol/useWorld.ts";
import { claimKey, ETHER, postJob, submitted, toyRequest, type Actor } from "../../test-support/protocol/world.ts";

const PAGE = "docs/economics.md";
const toy = toyProgram(300, [3, 1, 5]);

describe("Economics", () => {
  const world = useWorld();
  let deployment: Deployment;
  const owns = async ({ account }: Actor): Promise<bigint> => {
    const [credit, staked] = await world().vault.read.accountOf([account.address]);
    return credit + staked;
  };

  it("page_isWhatTheContractsSay", async function () {
    const read = await readDeployment([1, 2, 3, 4, 5, 6]);
    deployment = read.deployment;
    const page = readFileSync(PAGE, "utf8");
    const squeeze = (text: string): string => text.replace(/[ -]+/g, " ");
    const renewed = fillTables(page, economicsTables(read.deployment, read.bounds, dearestMove(read.deployment)));
    expect(squeeze(page), "run `npm run economics -- --write`").to.equal(squeeze(renewed));
  });

  it("shamGame_costsItsChallengerTheBond", async () => {
    const { mallory, networkHelpers, parameters } = world();
    const trace = honestTrace(toy);
    const claim = await submitted(world(), toy, trace);
    const sham = await new GameDriver(world(), toy, trace, claim, mallory).open();
    await sham.reveal();
    await networkHelpers.time.increase(parameters.baseClock + 1);
    await sham.timeout(world().worker);
    expect(inEther(20n * ETHER - (await owns(mallory)))).to.equal(deployment.bond);
  });

  it("selfChallenge_losesAtLeastWhatTheFormulaSays", async () => {
    const w = world();
    const [before, other] = [await owns(w.worker), await owns(w.mallory)];
    const trace = lyingTrace(toy, 6, 299);
    const claim = await submitted(w, toy, trace);
    const self = await new GameDriver(w, toy, trace, claim, w.mallory).open();
    await self.reveal();
    await self.concede(w.worker);
    const { jobId } = claimKey(w, claim);
    await w.game.write.collect([{ jobId, worker: claim.worker, traceRoot: claim.traceRoot }]);
    const lost = inEther(before + other - (await owns(w.worker)) - (await owns(w.mallory)));
    // The ledger's loss is short of the formula by what the challenger's moves are refunded; that gas was burnt.
    const burnt = self.gas.reduce((sum, { gas }) => sum + Number(gas), 0) * deployment.priceCap;
    expect(lost + burnt).to.be.at.least(selfChallengeLoss(deployment, deployment.priceCap));
    expect(lost).to.be.at.most(deployment.collateral);
  });

  it("squattedClaim_costsThePenalty", async () => {
    const { market, networkHelpers, worker, mallory } = world();
    const before = await owns(worker);
    const job = await postJob(world(), await toyRequest(world(), toy));
    await market.write.claim([job], { account: worker.account });
    await networkHelpers.time.increase(job.claimSeconds + 1);
    await market.write.expire([job], { account: mallory.account });
    expect(inEther(before - (await owns(worker)))).to.equal(deployment.penalty);
  });
});
