import { encodeAbiParameters, getAddress, keccak256, type Hex } from "viem";
import { expect } from "chai";
import { honestTrace } from "../../../../testkit/protocol/chainProgram.ts";
import { smallProgram } from "../../../../testkit/protocol/marketKit.ts";
import { NO_CLAIM, panelKit, panelWorld, type Posted } from "../../../../testkit/protocol/panelKit.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { jobId } from "../../../../testkit/protocol/world.ts";
import { ETHER, type Actor } from "../../../../testkit/protocol/deployWorld.ts";

const SURVIVED = 3;
const WINDOW = 1_801;

describe("Panel: what is told, first and last seconds", () => {
  const world = useWorld(panelWorld);
  const { at, jobsOf, request, post, seal, open, play, finalise } = panelKit(world);
  const honest = honestTrace(smallProgram);

  const as = (actor: Actor) => ({ account: actor.account });
  const panelId = ({ first }: Posted): Hex => jobId(world(), first);
  const revert = (sent: Promise<unknown>, name: string) =>
    world().viem.assertions.revertWithCustomError(sent, world().panel, name as never);
  const emits = (sent: Promise<Hex>, name: string, args: unknown[]): Promise<void> =>
    world().viem.assertions.emitWithArgs(sent, world().panel, name as never, args as never);

  it("post_tellsThePosterAndTheSeats_whichNobodyElseCanPostFirst", async () => {
    const { panel, requester, mallory, token } = world();
    const asked = await request();
    await token.write.approve([panel.address, 2n ** 255n], as(mallory));
    // The same request of another account is another panel.
    const copied = await jobsOf(await panel.write.post([asked, 2, 0], as(mallory)));
    const sent = panel.write.post([asked, 2, 0], as(requester));
    const jobs = await jobsOf(await sent);
    const ids = jobs.map((job) => jobId(world(), job));
    await emits(sent, "PanelPosted", [ids[0], getAddress(requester.account.address), ids, 0n]);
    expect(jobs[0]!.salt).to.not.equal(copied[0]!.salt);
    const bound = encodeAbiParameters(
      [{ type: "address" }, { type: "bytes32" }],
      [requester.account.address, asked.salt],
    );
    expect(jobs[0]!.salt).to.equal(keccak256(bound));
  });

  it("post_takesTheFirstAndTheLastSecondOfAnAudit", async () => {
    const { panel, requester } = world();
    const asked = await request();
    const earliest = Number(asked.deadline) + asked.claimSeconds + 1;
    await panel.write.post([asked, 1, earliest], as(requester));
    const other = await request({ salt: `0x${"5b".repeat(32)}` });
    await panel.write.post([other, 1, other.terms[0]!.openFrom - 1], as(requester));
  });

  it("addSeat_isTold_fromTheSecondAfterTheSeals", async () => {
    const { panel, requester, worker } = world();
    const posted = await post(1, true);
    await seal(posted, posted.first, worker, honest);
    const add = () => panel.write.addSeat([posted.first, posted.request], as(requester));
    await at(posted.deadline);
    await revert(add(), "TooSoonToAdd");
    await at(posted.deadline + 1);
    const sent = add();
    const [job] = await jobsOf(await sent);
    await emits(sent, "SeatAdded", [panelId(posted), jobId(world(), job!)]);
  });

  it("agreeResolveAndWithdraw_areTold_forAsManyClaimsAsSeats", async () => {
    const { panel, worker, mallory, requester, stranger } = world();
    const posted = await post(2, true);
    const keys = await play(posted, [
      [worker, honest],
      [mallory, honest],
    ]);
    const { first, jobs } = posted;
    const { root } = honest;
    await emits(panel.write.agree([first, keys], as(stranger)), "PanelAgreed", [panelId(posted), root]);
    await world().networkHelpers.time.increase(WINDOW);
    for (const [k, key] of keys.entries()) await finalise(jobs[k]!, key);
    await revert(panel.write.resolve([first, keys.slice(1)]), "WrongClaimCount");
    await revert(panel.write.resolve([first, [...keys, NO_CLAIM]]), "WrongClaimCount");
    const resolved = panel.write.resolve([first, keys], as(stranger));
    await emits(resolved, "PanelResolved", [panelId(posted), SURVIVED, root, ETHER]);
    const to = getAddress(requester.account.address);
    await emits(panel.write.withdraw(as(requester)), "Withdrawn", [to, ETHER]);
    await revert(panel.write.withdraw(as(requester)), "NothingOwed");
  });

  it("aSeat_isOpenedFromItsVerySecond", async () => {
    const { worker } = world();
    const posted = await post(1);
    await seal(posted, posted.first, worker, honest);
    await at(posted.openFrom);
    expect((await open(posted, posted.first, worker, honest)).root).to.equal(honest.root);
  });
});
