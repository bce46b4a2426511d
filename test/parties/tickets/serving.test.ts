import { expect } from "chai";
import { copyFileSync } from "node:fs";
import { pino } from "pino";
import { parseEther, zeroHash, type Hex } from "viem";
import { DatabaseAccessError } from "../../../src/base/database/errors.ts";
import { Health } from "../../../src/base/health.ts";
import type { KnownProgram } from "../../../src/dispute/run/execution.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { PledgeStatus } from "../../../src/chain/structs.ts";
import { JobProgramError } from "../../../src/parties/requester/errors.ts";
import { RefusedError, TicketTermsError, WrongAnswerError } from "../../../src/parties/tickets/errors.ts";
import { openApi } from "../../../src/parties/tickets/openApi.ts";
import { landClaim } from "../../../src/parties/tickets/landClaim.ts";
import { infoSchema } from "../../../src/parties/tickets/messageSchemas.ts";
import { typedData, type AnswerRequest } from "../../../src/parties/tickets/typedData.ts";
import { WorkerLedger } from "../../../src/parties/tickets/workerLedger.ts";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";
import { first, quiet } from "../../../testkit/players/players.ts";
import { otherSignatures } from "../../../testkit/players/otherSignatures.ts";
import { FACE, TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";
import { apartAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { runInputBytes, runProgram, RUN_STEPS } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { refused } from "./refused.ts";

const program = apartAnswers("two");
const honest = executionOf();
const lying = executionOf({ item: 0, step: RUN_STEPS.last, element: 3 });
const inputsOf = (items = 1): RunInputs =>
  new RunInputs(program.model.program.inputs, { items, firstItem: 0 }, runInputBytes(items));

/** Brings winners to their money. */
async function settle({ cashier, ledger }: Serving): Promise<void> {
  for (let k = 0; k < 4_000 && ledger.winners().length > 0; k++) {
    await cashier.round();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

describe("answers with signed claims", function () {
  this.timeout(120_000);
  let world: TicketPlayers;
  let key: `0x${string}`;
  before(async () => {
    world = await TicketPlayers.create();
    key = await world.workerKey();
    await world.setClock();
  });
  after(() => world.close());
  const free = async (at: TicketSession, worker: `0x${string}`) =>
    (await at.tickets.depositOf(at.account.address, worker)).free;

  itInTime("arePaidByWinners_toTheWei_andNothingTouchesTheChainBefore_alsoAfterKillsAndRestores", async () => {
    let serving = await world.serve(key, program, honest, { maxUnpaid: 1 });
    const { path } = serving;
    const at = await world.payer(serving.at.account.address);
    const payerPath = world.path();
    let { payer, ledger } = await world.ask(at, serving.url, {}, payerPath);
    const { worker } = payer;
    const before = await at.session.publicClient.getBlockNumber();
    const one = await payer.ask(program, inputsOf());
    // Exposure is one request.
    await refused(payer.ask(program, inputsOf()), 429);
    await payer.pay(one.digest);
    await payer.pay(one.digest);
    // A payer that was killed after it had the answer pays it when it is back, with one ticket.
    const two = await payer.ask(program, inputsOf(3));
    ledger.end();
    ({ payer, ledger } = await world.ask(at, serving.url, {}, payerPath));
    expect(await payer.payRest()).to.equal(1);
    expect(await payer.payRest()).to.equal(0);
    expect(await at.session.publicClient.getBlockNumber()).to.equal(before);
    // A worker that was killed has all it signed.
    await serving.stop();
    const copy = world.path();
    copyFileSync(path, copy);
    serving = await world.serve(key, program, honest, {}, path);
    const { cashed } = await serving.cashier.round();
    expect(cashed).to.have.members([one.digest, two.digest]);
    expect(await free(at, worker)).to.equal(parseEther("1") - 2n * FACE);
    // A backup from before cashes nothing again, and its numbers and secrets are new ones.
    const restored = await world.serve(key, program, honest, {}, copy);
    expect((await restored.cashier.round()).cashed).to.deep.equal([]);
    const again = await world.ask(at, restored.url);
    const three = await again.payer.ask(program, inputsOf());
    expect(three.claim.number > two.claim.number && three.claim.number > one.claim.number).to.equal(true);
    expect(new Set([one, two, three].map(({ claim }) => claim.secretHash)).size).to.equal(3);
    await restored.stop();
    const following = world.follow(serving, program, honest);
    await world.players.chain.advance(2_000);
    await world.setClock();
    await settle(serving);
    expect(serving.ledger.winners()).to.deep.equal([]);
    expect(await at.tickets.earnings(worker)).to.equal(2n * FACE);
    expect(await free(at, worker)).to.equal(parseEther("1") - 2n * FACE);
    await following.stop();
    await at.tickets.requestWithdrawal(worker, parseEther("1") - 2n * FACE);
    for (const one of [ledger, again.ledger]) one.end();
    await serving.stop();
  });

  it("areDefendedByTheProcessThatServes_whichNeedsNoFreeStake_orSaysThatNobodyDoes", async () => {
    const serving = await world.serve(key, program, honest);
    const at = await world.payer(serving.at.account.address);
    const { payer, ledger } = await world.ask(at, serving.url);
    await payer.ask(program, inputsOf());
    const { programRoot } = program.model;
    const said = async (served: KnownProgram): Promise<string[]> => {
      const lines: string[] = [];
      const write = (line: string): void => void lines.push(line);
      const health = new Health(quiet);
      const following = world.follow(serving, served, honest, { log: pino({ level: "error" }, { write }), health });
      while (health.conditions.every(({ condition }) => condition !== "pays"))
        await new Promise((resolve) => setTimeout(resolve, 20));
      await following.stop();
      expect(health.reasons).to.deep.equal([]);
      return lines;
    };
    expect(await said(program)).to.deep.equal([]);
    const lines = await said(apartAnswers("one"));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.contain(programRoot).and.to.contain("NOBODY DEFENDS");
    ledger.end();
    await serving.stop();
  });

  itInTime("areRefused_beforeAnythingIsExecuted", async () => {
    let executions = 0;
    const counted: typeof honest = (...args) => {
      executions++;
      return honest(...args);
    };
    const serving = await world.serve(key, program, counted);
    const worker = serving.at.account.address;
    const { url } = serving;
    const poor = await world.payer(worker, FACE - 1n);
    const { payer, ledger } = await world.ask(poor, url);
    await refused(payer.ask(program, inputsOf()), 402);
    const rich = await world.payer(worker);
    const asking = await world.ask(rich, url);
    await refused(asking.payer.ask(apartAnswers("one"), inputsOf()), 404);
    const late = await world.ask(rich, url, { clock: () => Date.now() / 1_000 + world.ahead - 61 });
    await refused(late.payer.ask(program, inputsOf()), 400);
    const post = async (path: string, body: string) =>
      (await fetch(new URL(path, url), { method: "POST", body })).status;
    expect(await post("/v1/answers", "x".repeat(2 ** 20 + 1))).to.equal(413);
    expect(await post("/v1/tickets", "x".repeat(5_000))).to.equal(413);
    expect(await post("/v1/answers", "{")).to.equal(400);
    expect(await post("/v1/answers", "{}")).to.equal(400);
    expect(await post("/elsewhere", "{}")).to.equal(404);
    // A full disk, and answers that could all be disputed at once.
    const reserve = serving.ledger.reserve.bind(serving.ledger);
    serving.ledger.reserve = () => {
      throw new DatabaseAccessError("database or disk is full");
    };
    await refused(asking.payer.ask(program, inputsOf()), 503);
    serving.ledger.reserve = reserve;
    serving.ledger.liveSeconds = () => 1_800.5;
    await refused(asking.payer.ask(program, inputsOf()), 503);
    expect(executions).to.equal(0);
    const greedy = world.ask(rich, url, { limits: { face: FACE - 1n, oneIn: 1 } });
    expect(await rejection(greedy)).to.be.instanceOf(TicketTermsError);
    for (const one of [ledger, asking.ledger, late.ledger]) one.end();
    await serving.stop();
    expect((await rejection(fetch(url))).name).to.equal("TypeError");
  });

  itInTime("thatCouldNotBePutOnChain_areNeitherAskedFor_norGiven", async () => {
    const carried = runProgram();
    const serving = await world.serve(key, carried, () => Promise.reject(new Error("executed")));
    const at = await world.payer(serving.at.account.address);
    const { payer, ledger } = await world.ask(at, serving.url);
    const two = new RunInputs(carried.model.program.inputs, { items: 2, firstItem: 0 }, runInputBytes(2));
    expect(await rejection(payer.ask(carried, two))).to.be.instanceOf(JobProgramError);
    const request: AnswerRequest = {
      worker: serving.at.account.address,
      programRoot: carried.model.programRoot,
      inputsRoot: two.list.root,
      ...two.length,
      time: BigInt(Math.floor(Date.now() / 1_000) + world.ahead),
      nonce: zeroHash,
    };
    const question = {
      payer: at.account.address,
      request: { ...request, time: String(request.time) },
      signature: await at.account.signTypedData(typedData(at.at, "Request", request)),
      inputs: two.bytes.map((bytes) => Buffer.from(bytes).toString("base64")),
    };
    const error = await rejection(serving.service.answer(question));
    expect(error).to.be.instanceOf(RefusedError).with.property("status", 400);
    expect(error.message).to.contain("items carry state");
    ledger.end();
    await serving.stop();
  });

  itInTime("whatIsSigned_isOnDiskBefore_andAnAnswerThatCannotBeKept_isNotGiven", async () => {
    const serving = await world.serve(key, program, honest);
    const at = await world.payer(serving.at.account.address);
    const { payer, ledger } = await world.ask(at, serving.url);
    serving.ledger.signed = () => {
      throw new DatabaseAccessError("database or disk is full");
    };
    await refused(payer.ask(program, inputsOf()), 503);
    expect([...serving.ledger.counts()]).to.deep.equal([]);
    ledger.end();
    await serving.stop();
  });

  itInTime("ofAnotherRootOrSigner_areNotPaid", async () => {
    const serving = await world.serve(key, program, honest);
    const at = await world.payer(serving.at.account.address);
    const { payer, ledger } = await world.ask(at, serving.url);
    const answer = serving.service.answer.bind(serving.service);
    const changed = (change: (body: Awaited<ReturnType<typeof answer>>) => object) => {
      serving.service.answer = async (question) => {
        const body = await answer(question);
        return { ...body, ...change(body) };
      };
    };
    const zeros = (text: string) => Buffer.alloc(Buffer.from(text, "base64").length).toString("base64");
    for (const change of [
      ({ outputs }) => ({ outputs: outputs.map(zeros) }),
      ({ outputs }) => ({ outputs: outputs.map(() => "") }),
      ({ claim }) => ({ claim: { ...claim, issued: String(BigInt(claim.issued) - 90n) } }),
      ({ claim }) => ({ claim: { ...claim, number: "1" } }),
      ({ claim }) => ({ claim: { ...claim, payer: claim.worker } }),
      ({ claim }) => ({ claim: { ...claim, inputsRoot: claim.root } }),
      // A lie with these could not be put on chain.
      ({ signature }) => ({ signature: otherSignatures(signature as Hex)[0] }),
      ({ signature }) => ({ signature: otherSignatures(signature as Hex)[1] }),
    ] as Parameters<typeof changed>[0][]) {
      changed(change);
      serving.ledger.unpaid = () => 0;
      expect(await rejection(payer.ask(program, inputsOf()))).to.be.instanceOf(WrongAnswerError);
    }
    expect(ledger.unsent(payer.worker)).to.deep.equal([]);
    ledger.end();
    await serving.stop();
  });

  itAtLength("ofHundredPayersAtOnce_areAllGivenAndPaid", async () => {
    const serving = await world.serve(key, program, honest);
    const { address } = serving.at.account;
    // One session reads the chain for all: what is tried is the endpoint.
    const at = await world.payer(address);
    const asks = Array.from({ length: 100 }, async () => {
      const account = (await world.open(await world.players.chain.newAccount())).account;
      serving.at.tickets.depositOf = () => Promise.resolve({ free: FACE, withdrawing: 0n, readyAt: 0n });
      const { payer, ledger } = await world.ask({ ...at, account }, serving.url);
      const { digest } = await payer.ask(program, inputsOf());
      await payer.pay(digest);
      ledger.end();
    });
    await Promise.all(asks);
    expect(serving.ledger.counts().get("won")).to.equal(100);
    await serving.stop();
  });

  itInTime("describeTheirInterface", async () => {
    const serving = await world.serve(key, program, honest);
    const of = async (path: string) => (await fetch(new URL(path, serving.url))).json();
    expect(await of("/openapi.json")).to.deep.equal(JSON.parse(JSON.stringify(openApi)));
    expect(infoSchema.parse(await of("/v1/info")).programs).to.deep.equal([program.model.programRoot]);
    expect(Object.keys(openApi.paths)).to.deep.equal(["/v1/info", "/v1/answers", "/v1/tickets"]);
    await serving.stop();
  });

  itInTime("thatAreLies_areRefutedFromTheirPromise_thePledgeIsGone_andNothingOfThatWorkerIsPaid", async () => {
    const liar = await world.workerKey();
    await world.setClock();
    const serving = await world.serve(liar, program, lying);
    const { address } = serving.at.account;
    const at = await world.payer(address);
    const { payer, ledger } = await world.ask(at, serving.url);
    const { digest } = await payer.ask(program, inputsOf());
    await payer.pay(digest);
    expect((await serving.cashier.round()).cashed).to.deep.equal([digest]);
    const second = await payer.ask(program, inputsOf());
    // Its ticket is never sent: whether it would win does not matter.
    await landClaim(at, ledger.find(second.digest)!, program);
    const defending = world.follow(serving, program, lying);
    const watching = world.watch(at, ledger, program, honest);
    await first(defending, "refuted");
    expect((await at.pledges.pledgeOf(address)).status).to.equal(PledgeStatus.stopped);
    await settle(serving);
    expect(await at.tickets.earnings(address)).to.equal(0n);
    expect(await free(at, address)).to.equal(parseEther("1"));
    await world.setClock();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.all([defending.stop(), watching.stop()]);
    ledger.end();
    await serving.stop();
    const kept = await WorkerLedger.open(serving.path);
    expect(kept.winners()).to.deep.equal([]);
    kept.end();
  });
});
