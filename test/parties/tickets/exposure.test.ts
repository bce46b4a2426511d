import { expect } from "chai";
import { copyFileSync } from "node:fs";
import { parseEther, zeroAddress, zeroHash, type Hex } from "viem";
import { programFacts } from "../../../src/dispute/run/execution.ts";
import type { Pace } from "../../../src/parties/tickets/serviceOptions.ts";
import {
  EndpointError,
  type RefusedError,
  TicketTermsError,
  WrongAnswerError,
} from "../../../src/parties/tickets/errors.ts";
import { judgeRest } from "../../../src/parties/tickets/judgeAnswer.ts";
import { requestOf, ticketBody } from "../../../src/parties/tickets/messageSchemas.ts";
import { claimOfBody, type AnswerBody, type Question } from "../../../src/parties/tickets/messages.ts";
import { landClaim } from "../../../src/parties/tickets/landClaim.ts";
import { digestOf, oddsOf, typedData } from "../../../src/parties/tickets/typedData.ts";
import { programWork } from "../../../src/program/work.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { otherSignatures } from "../../../testkit/players/otherSignatures.ts";
import { FACE, TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";
import { apartAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { runInputBytes, RUN_STEPS } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { refused } from "./refused.ts";

const program = apartAnswers("two");
const honest = executionOf();
const inputs = new RunInputs(program.model.program.inputs, { items: 1, firstItem: 0 }, runInputBytes(1));

describe("what a worker and a payer can lose to each other", function () {
  this.timeout(120_000);
  let world: TicketPlayers;
  let key: Hex;
  before(async () => {
    world = await TicketPlayers.create();
    key = await world.workerKey();
  });
  beforeEach(() => world.setClock());
  after(() => world.close());

  async function playing(deposit = parseEther("1"), execute = honest) {
    const serving = await world.serve(key, program, execute);
    const at = await world.payer(serving.at.account.address, deposit);
    return { serving, at, ...(await world.ask(at, serving.url)) };
  }
  async function expectTerms(action: Promise<unknown>): Promise<void> {
    expect(await rejection(action)).to.be.instanceOf(TicketTermsError);
  }
  const freeOf = async ({ at }: Pick<Serving, "at">, payer: Hex) =>
    (await at.tickets.depositOf(payer, at.account.address)).free;

  const workerOf = ({ at }: Pick<Serving, "at">) => at.account.address;

  /** Takes back what a payer asked for, once it can. @returns what arrives */
  async function takeBack(at: Serving["at"], worker: Hex): Promise<bigint> {
    const { readyAt } = await at.tickets.depositOf(at.account.address, worker);
    await world.players.chain.advance(Number(readyAt - (await world.players.chain.now())));
    const before = await at.session.asset.balanceOf(at.account.address);
    await at.tickets.withdraw(worker);
    return (await at.session.asset.balanceOf(at.account.address)) - before;
  }

  it("overIssuedTickets_areCashedAsFarAsTheDepositGoes_andTheRestIsLost", async () => {
    const { serving, at, payer, ledger } = await playing(FACE);
    // The same worker elsewhere: it does not know what this one is owed.
    const other = await world.serve(key, program, honest);
    const second = await world.ask(at, other.url);
    for (const one of [payer, second.payer]) await one.pay((await one.ask(program, inputs)).digest);
    // One endpoint alone asks for a deposit that covers all that won.
    await refused(payer.ask(program, inputs), 402);
    expect((await serving.cashier.round()).cashed).to.have.length(1);
    expect((await other.cashier.round()).cashed).to.deep.equal([]);
    expect(other.ledger.winners()).to.have.length(1);
    await world.players.chain.advance(1_801);
    expect((await other.cashier.round()).lost).to.have.length(1);
    expect(await freeOf(serving, at.account.address)).to.equal(0n);
    for (const one of [ledger, second.ledger]) one.end();
    await Promise.all([serving.stop(), other.stop()]);
  });

  it("payersAtTheSameTime_getTogetherWhatCanBeDisputedAtOnce", async () => {
    const { serving, payer, ledger } = await playing();
    const second = await world.ask(await world.payer(serving.at.account.address), serving.url);
    let reserved = 0;
    const reserve = serving.ledger.reserve.bind(serving.ledger);
    serving.ledger.reserve = (request) => {
      reserved++;
      return reserve(request);
    };
    // One answer takes all the time there is.
    serving.ledger.liveSeconds = () => reserved * 1e6;
    const asked = [payer, second.payer].map((one) => one.ask(program, inputs));
    const states = (await Promise.allSettled(asked)).map(({ status }) => status);
    expect(states.sort()).to.deep.equal(["fulfilled", "rejected"]);
    expect(reserved).to.equal(1);
    for (const one of [ledger, second.ledger]) one.end();
    await serving.stop();
  });

  it("aFaceThatTheDepositDoesNotCover_isNoPayment", async () => {
    const { serving, at, payer, ledger } = await playing(2n * FACE);
    const { digest, claim } = await payer.ask(program, inputs);
    const send = async (face: bigint) => {
      const terms = { odds: oddsOf(1), expiry: claim.issued + 1_800n, nonce: zeroHash };
      const ticket = { claim: digest, face, ...terms };
      const signature = await at.account.signTypedData(typedData(at.at, "Ticket", ticket));
      const body = JSON.stringify({ ticket: ticketBody(ticket), signature });
      return (await fetch(new URL("/v1/tickets", serving.url), { method: "POST", body })).status;
    };
    expect(await send(2n ** 96n)).to.equal(400);
    for (const face of [2n ** 96n - 1n, 2n * FACE + 1n, FACE - 1n]) expect(await send(face)).to.equal(402);
    expect(await send(2n * FACE)).to.equal(200);
    expect((await serving.cashier.round()).cashed).to.have.length(1);
    ledger.end();
    await serving.stop();
  });

  it("payerThatTakesItsDepositBack_paysWinnersThatWereSignedBefore", async () => {
    const { serving, at, payer, ledger } = await playing();
    const { digest } = await payer.ask(program, inputs);
    await payer.pay(digest);
    await at.tickets.requestWithdrawal(payer.worker, parseEther("1"));
    expect((await serving.cashier.round()).cashed).to.deep.equal([digest]);
    // Nothing is free now, so that it gets no further answer.
    const later = await world.serve(key, program, honest);
    const asking = await world.ask(at, later.url);
    await refused(asking.payer.ask(program, inputs), 402);
    expect(await takeBack(at, payer.worker)).to.equal(parseEther("1") - FACE);
    for (const one of [ledger, asking.ledger]) one.end();
    await Promise.all([serving.stop(), later.stop()]);
  });

  it("workerThatVanishes_isNotPaid_andTheDepositComesBackWhole", async () => {
    let end!: () => void;
    const gone = new Promise<void>((resolve) => (end = resolve));
    const { serving, at, ledger } = await playing(parseEther("1"), (...args) => gone.then(() => honest(...args)));
    const hasty = await world.ask(at, serving.url, { timeoutMs: 2_000 });
    expect(await rejection(hasty.payer.ask(program, inputs))).to.be.instanceOf(EndpointError);
    expect(hasty.ledger.unsent(hasty.payer.worker)).to.deep.equal([]);
    await at.tickets.requestWithdrawal(hasty.payer.worker, parseEther("1"));
    expect(await takeBack(at, hasty.payer.worker)).to.equal(parseEther("1"));
    end();
    for (const one of [ledger, hasty.ledger]) one.end();
    await serving.stop();
  });

  it("payerThatVanishes_hasAsManyAnswersAsAreAllowed_andGetsNoOtherOne_untilTheyAreForgotten", async () => {
    for (const [maxUnpaid, deposit] of [
      [1, parseEther("1")],
      [3, 3n * FACE],
    ] as const) {
      const serving = await world.serve(key, program, honest, { maxUnpaid });
      const { payer, ledger } = await world.ask(await world.payer(workerOf(serving), deposit), serving.url);
      expect(payer.info.unpaid).to.equal(maxUnpaid);
      // At the same time and one after the other, the payer gets no more than that.
      const asked = Array.from({ length: maxUnpaid + 2 }, () => payer.ask(program, inputs));
      const states = (await Promise.allSettled(asked)).map(({ status }) => status);
      expect(states.filter((state) => state === "fulfilled")).to.have.length(maxUnpaid);
      await refused(payer.ask(program, inputs), 429);
      // A ticket makes room for one answer, as far as the deposit covers the winner too.
      await payer.pay(ledger.unsent(payer.worker)[0]!.digest);
      if (maxUnpaid === 1) await payer.ask(program, inputs);
      else await refused(payer.ask(program, inputs), 402);
      await world.players.chain.advance(901);
      await world.setClock();
      // A claim that cannot be put on chain any more keeps its place, and a late ticket makes no room.
      const [late] = ledger.unsent(payer.worker);
      await refused(payer.pay(late!.digest), 402);
      if (maxUnpaid === 1) {
        await refused(payer.ask(program, inputs), 429);
        serving.ledger.forget(late!.claim.issued + 1n);
        await payer.ask(program, inputs);
      }
      expect(serving.ledger.counts().get("signed")).to.equal(maxUnpaid === 1 ? 1 : 2);
      ledger.end();
      await serving.stop();
    }
  });

  it("unpaidAnswers_areNoMoreThanTheDepositCovers_howeverTheyAreAskedFor", async () => {
    // What a payer can take unpaid stays below the tickets' expected value of the faces in its deposit.
    for (let faces = 1n; faces <= 4n; faces++) {
      const serving = await world.serve(key, program, honest, { maxUnpaid: 8 });
      const { payer, ledger } = await world.ask(await world.payer(workerOf(serving), faces * FACE), serving.url);
      const asked = await Promise.allSettled(Array.from({ length: 7 }, () => payer.ask(program, inputs)));
      expect(asked.filter(({ status }) => status === "fulfilled")).to.have.length(Number(faces));
      await refused(payer.ask(program, inputs), 402);
      ledger.end();
      await serving.stop();
    }
  });

  it("secondsOfAnAnswer_areThoseOfThisMachine_withAMargin_onceTheyAreMeasured", async () => {
    const paces: Pace[] = [];
    const slow: typeof honest = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return honest(...args);
    };
    const serving = await world.serve(key, program, slow, { onPace: (_, pace) => paces.push(pace) });
    // A deployment for slow machines: an item counts as a thousand seconds until it is measured.
    const { session } = serving.at;
    const { parameters } = session.deployment;
    const work = programWork(program.model.program);
    Object.assign(session.deployment, { parameters: { ...parameters, rate: work / 1_000n, maxWork: 10n ** 18n } });
    const { baseClock } = parameters;
    expect(serving.service.paceOf(program).isMeasured).to.equal(false);
    const { payer, ledger } = await world.ask(await world.payer(workerOf(serving)), serving.url);
    const before = serving.ledger.liveSeconds(0n);
    await payer.ask(program, inputs);
    const counted = serving.ledger.liveSeconds(0n) - before;
    // Eight times what the execution took: it slept for 20 ms.
    expect(counted).to.be.within(0.16, 999);
    expect(paces).to.have.length(1);
    const [pace] = paces;
    expect(pace!.isMeasured).to.equal(true);
    expect(pace!.itemsAMinute).to.be.at.most((baseClock * 30) / 900 / pace!.secondsAnItem + 1e-9);
    // Many more answers fit than by the slowest execution: two of those would fill half a clock.
    for (let k = 0; k < 5; k++) await payer.pay((await payer.ask(program, inputs)).digest);
    ledger.end();
    await serving.stop();
  });

  it("winnerThatIsCashedTooLate_isLost_unlessItsClaimIsOnChain", async () => {
    const { serving, at, payer, ledger } = await playing();
    const late = await payer.ask(program, inputs);
    await payer.pay(late.digest);
    const landed = await payer.ask(program, inputs);
    await payer.pay(landed.digest);
    await landClaim(at, ledger.find(landed.digest)!, program);
    // A worker that was away for longer than claims live.
    await world.players.chain.advance(901);
    expect(await serving.cashier.round()).to.deep.include({ cashed: [landed.digest], lost: [late.digest] });
    expect(await freeOf(serving, at.account.address)).to.equal(parseEther("1") - FACE);
    ledger.end();
    await serving.stop();
  });

  it("workerWhoseClockIsAhead_waitsForTheChain_andIsPaid", async () => {
    const real = world.ahead;
    world.ahead = real + 50;
    const { serving, payer, ledger } = await playing();
    const { digest } = await payer.ask(program, inputs);
    await payer.pay(digest);
    expect((await serving.cashier.round()).cashed).to.deep.equal([]);
    await world.players.chain.advance(60);
    expect((await serving.cashier.round()).cashed).to.deep.equal([digest]);
    // A payer whose clock is minutes off is told so.
    const clock = () => Date.now() / 1_000 + real + 50 + 200;
    const fast = await world.ask(await world.payer(payer.worker), serving.url, { clock });
    await refused(fast.payer.ask(program, inputs), 400);
    for (const one of [ledger, fast.ledger]) one.end();
    await serving.stop();
  });

  it("payerThatRestoresAnOldCopy_signsASecondTicket_ofWhichTheChainPaysOne", async () => {
    const { serving, at, payer, ledger, path } = await playing();
    const { digest } = await payer.ask(program, inputs);
    ledger.end();
    const copy = world.path();
    copyFileSync(path, copy);
    const now = await world.ask(at, serving.url, {}, path);
    await now.payer.pay(digest);
    const old = await world.ask(at, serving.url, {}, copy);
    expect(await old.payer.payRest()).to.equal(1);
    const [first, second] = [now, old].map((one) => one.ledger.find(digest)!.ticket!);
    expect(first!.nonce).not.to.equal(second!.nonce);
    // The worker keeps the first. It would cash the other one too, if it could.
    const winner = serving.ledger.winners()[0]!;
    expect(winner.ticket).to.deep.equal(first);
    expect((await serving.cashier.round()).cashed).to.deep.equal([digest]);
    const { ticketSignature } = old.ledger.find(digest)!;
    const { claim, signature, nodes, secret } = winner;
    const evidence = { program: programFacts(program.commitment), inputRoots: inputs.roots, inputs: [], nodes };
    const { tickets } = serving.at;
    const again = tickets.submitAndCash(claim, signature, evidence, second!, ticketSignature!, secret);
    expect((await rejection(again)).message).to.contain("AlreadyCashed");
    expect(await freeOf(serving, at.account.address)).to.equal(parseEther("1") - FACE);
    for (const one of [now.ledger, old.ledger]) one.end();
    await serving.stop();
  });

  it("whatWasSignedForAnotherChainOrDeployment_orInAFormThatTheChainRefuses_isRefused", async () => {
    const { serving, at, payer, ledger } = await playing();
    const { digest, claim } = await payer.ask(program, inputs);
    const ticket = {
      ...{ claim: digest, face: FACE, odds: oddsOf(1) },
      ...{ expiry: claim.issued + 1_800n, nonce: zeroHash },
    };
    const post = (signature: Hex) =>
      fetch(new URL("/v1/tickets", serving.url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ticket: ticketBody(ticket), signature }),
      });
    for (const where of [
      { ...at.at, chainId: at.at.chainId + 1 },
      { ...at.at, tickets: zeroAddress },
    ]) {
      const signature = await at.account.signTypedData(typedData(where, "Ticket", ticket));
      expect((await post(signature)).status).to.equal(401);
      expect(digestOf(where, "SignedClaim", claim)).not.to.equal(digest);
      // A payer of that deployment sees at once that this endpoint is of another one.
      const stranger = world.ask({ ...at, at: where }, serving.url);
      expect(await rejection(stranger)).to.be.instanceOf(TicketTermsError);
    }
    const signature = await at.account.signTypedData(typedData(at.at, "Ticket", ticket));
    for (const other of otherSignatures(signature)) expect((await post(other)).status).to.equal(401);
    expect(serving.ledger.winners()).to.deep.equal([]);
    await payer.pay(digest);
    ledger.end();
    await serving.stop();
  });

  it("aLieThatWasFound_isNeverPaid_andPutOnChain_alsoAfterAKill_andIfItSaysThatItIsOfLater", async () => {
    const real = world.ahead;
    const lying = executionOf({ item: 0, step: RUN_STEPS.last, element: 3 });
    // Its claims are of a minute later: as late as payers take them.
    world.ahead = real + 50;
    const { serving, at, payer, ledger, path } = await playing(parseEther("1"), lying);
    const { digest } = await payer.ask(program, inputs, true);
    await expectTerms(payer.pay(digest));
    // A kill before it is judged: the next life neither pays it nor forgets it.
    ledger.end();
    const again = await world.ask(at, serving.url, {}, path);
    expect(await again.payer.payRest()).to.equal(0);
    const judging = rejection(judgeRest({ at, ledger: again.ledger, program, execute: honest }, payer.worker));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await at.tickets.claimIdOf(digest)).to.equal(zeroHash);
    await world.players.chain.advance(60);
    expect(await judging).to.be.instanceOf(WrongAnswerError);
    expect(await at.tickets.claimIdOf(digest)).not.to.equal(zeroHash);
    await expectTerms(again.payer.pay(digest));
    expect(await again.payer.payRest()).to.equal(0);
    // It is there: nothing is left to be done.
    await judgeRest({ at, ledger: again.ledger, program, execute: honest }, payer.worker);
    again.ledger.end();
    await serving.stop();
  });

  it("aRequestThatIsSentAgain_isAnsweredOnce", async () => {
    const { serving, at, payer, ledger } = await playing();
    const asked: object[] = [];
    const answer = serving.service.answer.bind(serving.service);
    serving.service.answer = (question) => {
      asked.push(question);
      return answer(question);
    };
    const { digest, claim } = await payer.ask(program, inputs);
    const post = async (question: object) => {
      const body = JSON.stringify(question);
      const answer = await fetch(new URL("/v1/answers", serving.url), { method: "POST", body });
      return { status: answer.status, json: (await answer.json()) as AnswerBody };
    };
    // The answer may have been lost: it is given again, however often.
    const [first] = asked as [Question];
    for (const { status, json } of await Promise.all([post(first), post(first)])) {
      expect(status).to.equal(200);
      expect(digestOf(at.at, "SignedClaim", claimOfBody(json))).to.equal(digest);
    }
    expect([...serving.ledger.counts()]).to.deep.equal([["signed", 1]]);
    // Under its nonce nothing else is asked for, and nobody else asks.
    const other = await world.payer(payer.worker);
    const { request } = first;
    for (const [who, change] of [
      [at, { items: 2 }],
      [at, { inputsRoot: zeroHash }],
      [at, { firstItem: 1 }],
      [other, {}],
    ] as const) {
      const changed = { ...request, ...change };
      const signature = await who.account.signTypedData(typedData(at.at, "Request", requestOf({ request: changed })));
      const question = { ...first, payer: who.account.address, request: changed, signature };
      expect((await post(question)).status, JSON.stringify(change)).to.equal(409);
    }
    expect(claim.number).to.equal(serving.ledger.find(digest)!.claim.number);
    await payer.pay(digest);
    expect((await post(first)).status).to.equal(409);
    ledger.end();
    await serving.stop();
  });

  it("aRequestThatIsSentAgain_whileItIsExecuted_waitsForTheSameAnswer", async () => {
    let finish!: () => void;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const slow: typeof honest = (...args) => held.then(() => honest(...args));
    const { serving, payer, ledger } = await playing(parseEther("1"), slow);
    const answer = serving.service.answer.bind(serving.service);
    let again: Promise<AnswerBody>[] = [];
    serving.service.answer = (question) => {
      const first = answer(question);
      again = Array.from({ length: 6 }, () => answer(question));
      void Promise.allSettled(again);
      setImmediate(finish);
      return first;
    };
    const { claim } = await payer.ask(program, inputs);
    const states = (await Promise.allSettled(again)).map((one) =>
      one.status === "fulfilled" ? claimOfBody(one.value).number : (one.reason as RefusedError).status,
    );
    // So many may wait for one answer.
    expect(states).to.deep.equal([...new Array<bigint>(4).fill(claim.number), 429, 429]);
    expect([...serving.ledger.counts()]).to.deep.equal([["signed", 1]]);
    ledger.end();
    await serving.stop();
  });

  it("aWorkerThatStops_givesTheAnswerUnderWay_andNoOther", async () => {
    let go!: () => void;
    const started = new Promise<void>((resolve) => (go = resolve));
    let finish!: () => void;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const slow: typeof honest = async (...args) => {
      go();
      await held;
      return honest(...args);
    };
    const { serving, payer, ledger } = await playing(parseEther("1"), slow);
    const other = await world.ask(await world.payer(payer.worker), serving.url);
    const asked = payer.ask(program, inputs);
    await started;
    const stopping = serving.service.stop();
    await refused(other.payer.ask(program, inputs), 503);
    finish();
    const { digest } = await asked;
    await stopping;
    // Its ticket is still taken.
    await payer.pay(digest);
    expect(serving.ledger.winners()).to.have.length(1);
    for (const one of [ledger, other.ledger]) one.end();
    await serving.stop();
  });
});
