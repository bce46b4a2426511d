import { expect } from "chai";
import { parseEther } from "viem";
import { PledgeStatus } from "../../../src/chain/structs.ts";
import { answerRun } from "../../../src/parties/tickets/answerRun.ts";
import { WrongAnswerError } from "../../../src/parties/tickets/errors.ts";
import { judgeAnswer } from "../../../src/parties/tickets/judgeAnswer.ts";
import { landClaim } from "../../../src/parties/tickets/landClaim.ts";
import { unchainedRun, UnchainedRunError, type UnchainedItem } from "../../../src/parties/tickets/unchainedRun.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { first } from "../../../testkit/players/players.ts";
import { FACE, TicketPlayers } from "../../../testkit/players/ticketPlayers.ts";
import { carriedAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { runInputBytes, RUN_STEPS } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";
import { rejection } from "../../../testkit/rejection.ts";

const ITEMS = 4;
const program = carriedAnswers("two");
const honest = executionOf();

/** Item 1 is wrong, and what follows is computed from it. */
const lying = executionOf({ item: 1, step: RUN_STEPS.last, element: 3 });
const inputs = new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, runInputBytes(ITEMS));

describe("unchained runs", function () {
  this.timeout(120_000);
  let world: TicketPlayers;
  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
  });
  after(() => world.close());

  /** A payer of a worker that executes so. */
  async function playing(execute: typeof honest) {
    const key = await world.workerKey();
    await world.setClock();
    const serving = await world.serve(key, program, execute);
    const at = await world.payer(serving.at.account.address);
    const { payer, ledger } = await world.ask(at, serving.url);
    const end = async () => {
      ledger.end();
      await serving.stop();
    };
    return { serving, at, payer, ledger, end };
  }
  async function all(run: AsyncIterable<UnchainedItem>): Promise<UnchainedItem[]> {
    const items: UnchainedItem[] = [];
    for await (const item of run) items.push(item);
    return items;
  }

  it("giveWhatTheRunGives_withAClaimAndATicketOfEachItem", async () => {
    const { serving, at, payer, end } = await playing(honest);
    const items = await all(unchainedRun({ payer, program, inputs }));
    const whole = await answerRun(program, inputs, honest);
    expect(items.at(-1)!.answered.outputs).to.deep.equal(whole.outputs);
    expect(items.map(({ item }) => item)).to.deep.equal([0, 1, 2, 3]);
    const claims = items.map(({ answered }) => answered.claim);
    expect(claims.map(({ items, firstItem }) => [items, firstItem])).to.deep.equal([0, 1, 2, 3].map((k) => [1, k]));
    // What an item takes from the one before is what the worker gave for that.
    for (const [k, { inputs }] of items.entries())
      if (k > 0) expect(inputs.bytes[0]).to.deep.equal(items[k - 1]!.answered.outputs[0]);
    expect((await serving.cashier.round()).cashed).to.have.length(ITEMS);
    const { free } = await at.tickets.depositOf(at.account.address, payer.worker);
    expect(free).to.equal(parseEther("1") - BigInt(ITEMS) * FACE);
    await end();
  });

  it("goOnFromALaterItem", async () => {
    const { payer, end } = await playing(honest);
    const whole = await answerRun(program, inputs, honest);
    const before = new RunInputs(program.model.program.inputs, { items: 2, firstItem: 0 }, runInputBytes(2));
    const state = (await answerRun(program, before, honest)).outputs[0]!;
    const bytes = inputs.bytes.map((of, k) => (k === 0 ? state : k === 1 ? of.subarray(of.length / 2) : of));
    const rest = new RunInputs(program.model.program.inputs, { items: 2, firstItem: 2 }, bytes);
    const items = await all(unchainedRun({ payer, program, inputs: rest }));
    expect(items.map(({ item }) => item)).to.deep.equal([2, 3]);
    expect(items.at(-1)!.answered.outputs).to.deep.equal(whole.outputs);
    await end();
  });

  it("takeNoTicketForAnItem_thatIsAboutAnotherState", async () => {
    const { serving, payer, ledger, end } = await playing(honest);
    const answer = serving.service.answer.bind(serving.service);
    serving.service.answer = async (question) => {
      const body = await answer(question);
      // A state that suits the worker, as of item 2 on.
      const isLater = question.request.firstItem >= 2;
      return isLater ? { ...body, claim: { ...body.claim, inputsRoot: body.claim.root } } : body;
    };
    const run = all(unchainedRun({ payer, program, inputs }));
    expect(await rejection(run)).to.be.instanceOf(WrongAnswerError);
    expect(ledger.unsent(payer.worker)).to.deep.equal([]);
    expect(serving.ledger.counts().get("won")).to.equal(2);
    await end();
  });

  it("inWhichAnItemIsALie_areRightGivenThatLie_andItIsRefutedFromItsPromise", async () => {
    const { serving, at, payer, ledger, end } = await playing(lying);
    const items = await all(unchainedRun({ payer, program, inputs }));
    const lied = await answerRun(program, inputs, lying);
    expect(items.at(-1)!.answered.outputs).to.deep.equal(lied.outputs);
    expect(lied.root).not.to.equal((await answerRun(program, inputs, honest)).root);
    // Of all items only the lie is wrong: the others hold, given what they were given.
    for (const { item, answered, inputs: own } of items) {
      const { root } = await answerRun(program, own, honest);
      expect(root === answered.claim.root, String(item)).to.equal(item !== 1);
    }
    await landClaim(at, ledger.find(items[1]!.answered.digest)!, program);
    const defending = world.follow(serving, program, lying);
    const watching = world.watch(at, ledger, program, honest);
    await first(defending, "refuted");
    expect((await at.pledges.pledgeOf(payer.worker)).status).to.equal(PledgeStatus.stopped);
    await Promise.all([defending.stop(), watching.stop()]);
    await end();
  });

  it("whosePayerExecutesAnItemThatIsALie_endThere_unpaid_withTheClaimOnChain", async () => {
    const { serving, at, payer, ledger, end } = await playing(lying);
    const seen: UnchainedItem[] = [];
    const look = async (item: UnchainedItem): Promise<void> => {
      seen.push(item);
      await judgeAnswer({ at, ledger, program, execute: honest }, item.answered.digest, item.inputs);
    };
    expect(await rejection(all(unchainedRun({ payer, program, inputs, draw: () => true, look })))).to.be.instanceOf(
      WrongAnswerError,
    );
    expect(seen.map(({ item }) => item)).to.deep.equal([0, 1]);
    expect(serving.ledger.counts().get("won")).to.equal(1);
    expect(BigInt(await at.tickets.claimIdOf(seen[1]!.answered.digest)) > 0n).to.equal(true);
    await end();
  });

  it("ofWhichThePayerHasNotTheState_orNoSeed_areRefused", async () => {
    const { payer, end } = await playing(honest);
    const { model } = program;
    const hidden = { ...program, model: { ...model, program: { ...model.program, outputs: [0] } } };
    const refusal = await rejection(all(unchainedRun({ payer, program: hidden, inputs })));
    expect(refusal).to.be.instanceOf(UnchainedRunError);
    expect(refusal.message).to.contain("--last-output");
    const noSeed = await rejection(all(unchainedRun({ payer, program, inputs, seeds: [2] })));
    expect(noSeed).to.be.instanceOf(UnchainedRunError);
    await end();
  });
});
