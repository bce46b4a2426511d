import { expect } from "chai";
import { parseEther, zeroHash } from "viem";
import { ReceiptError } from "../../../src/parties/gateway/errors.ts";
import { openReceipt } from "../../../src/parties/gateway/receipt.ts";
import { readReceipt, type Receipt } from "../../../src/parties/gateway/receiptForm.ts";
import { firstLie } from "../../../src/parties/gateway/receiptParts.ts";
import { Sellers } from "../../../src/parties/gateway/sellers.ts";
import { blockInputs } from "../../../src/parties/gateway/textModel.ts";
import { readTextRequest } from "../../../src/parties/gateway/requests.ts";
import { loadFindSigner, type FindSigner } from "../../../src/parties/tickets/signatures.ts";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import { PledgeStatus } from "../../../src/chain/structs.ts";
import {
  lyingEvery,
  startGateway,
  textKit,
  type RunningGateway,
  type TextKit,
} from "../../../testkit/players/gatewayPlayers.ts";
import { first, quiet } from "../../../testkit/players/players.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { swappedFields } from "../../../testkit/players/swappedFields.ts";
import { FACE, TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";

const BODY = {
  ...{ model: "words", messages: [{ role: "user", content: "A word" }], seed: 5, max_tokens: 20, stop: ["zzzz"] },
  temperature: 0.7,
};
type Answer = { choices: [{ message: { content: string } }]; receipt: Receipt };

async function post(url: string, body: object): Promise<Answer> {
  const answer = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status, await answer.clone().text()).to.equal(200);
  return (await answer.json()) as Answer;
}

const pathText = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    "",
  );

describe("receipts of texts", function () {
  this.timeout(300_000);
  let world: TicketPlayers;
  let kit: TextKit;
  let findSigner: FindSigner;
  const running: { close: () => Promise<void> }[] = [];
  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
    kit = await textKit(world.folder);
    findSigner = await loadFindSigner();
  });
  after(async () => {
    for (const { close } of running) await close();
    await kit?.executors.close();
    await world.close();
  });

  async function serving(execute = kit.execute): Promise<Serving> {
    const one = await world.serve(await world.workerKey(), kit.model.program, execute);
    running.unshift({ close: one.stop });
    return one;
  }
  async function gatewayOf(
    at: TicketSession,
    urls: readonly string[],
    changes: Parameters<typeof startGateway>[4] = {},
  ): Promise<RunningGateway> {
    const gateway = await startGateway(world, kit, at, urls, changes);
    running.unshift(gateway);
    return gateway;
  }
  const opened = (receipt: unknown, body: object, { at: { at, claimLifetime } }: Serving) => {
    const { request } = readTextRequest("chat", body);
    return openReceipt(readReceipt(receipt), {
      model: kit.model,
      request,
      place: { ...at, claimLifetime },
      findSigner,
    });
  };

  it("hold_andEachFieldSwapped_failsByItsName", async () => {
    const worker = await serving();
    const at = await world.payer(worker.at.account.address);
    const { url } = await gatewayOf(at, [worker.url]);
    const { receipt } = await post(url, BODY);
    expect(await firstLie(opened(receipt, BODY, worker), kit.execute)).to.equal(undefined);
    expect(receipt.refutableUntil).to.equal(receipt.created + worker.at.claimLifetime);
    expect(receipt.blocks.length).to.be.at.least(1);
    const swaps = swappedFields(receipt);
    expect(swaps.length).to.be.above(50);
    for (const { path, changed } of swaps) {
      const name = pathText(path);
      let error: unknown;
      try {
        opened(changed, BODY, worker);
      } catch (caught) {
        error = caught;
      }
      expect(error, name).to.be.instanceOf(ReceiptError);
      // The signature covers the claim's fields: which of them was changed nobody can tell.
      const { field } = error as ReceiptError;
      const isClaim = path.includes("claim") || path.includes("signature");
      const [block] = /^blocks\[\d+\]/.exec(name) ?? [];
      if (isClaim) expect(field, name).to.satisfy((text: string) => text.startsWith(block!));
      else if (path[1] === "clock") expect(field, name).to.equal("text.clock");
      else if (path.includes("tokens") && block !== undefined) expect(field, name).to.match(/^blocks\[\d+\]/);
      else expect(field, name).to.equal(name);
    }
    // A part that is missing, or too much.
    for (const change of [
      { version: 2 },
      { blocks: [] },
      { blocks: [...receipt.blocks, receipt.blocks.at(-1)!] },
      { more: 1 },
    ])
      expect(() => opened({ ...receipt, ...change }, BODY, worker)).to.throw(ReceiptError);
    // Another request.
    for (const change of [
      { seed: 6 },
      { temperature: 1 },
      { stop: [] },
      { messages: [{ role: "user", content: "B" }] },
    ])
      expect(() => opened(receipt, { ...BODY, ...change }, worker), JSON.stringify(change)).to.throw(ReceiptError);
  });

  it("seedHasOneForm", async () => {
    const worker = await serving();
    const { url } = await gatewayOf(await world.payer(worker.at.account.address), [worker.url]);
    const body = { ...BODY, seed: undefined };
    const { receipt } = await post(url, body);
    opened(receipt, body, worker);
    for (const seed of [String(BigInt(receipt.text.seed) - 2n ** 64n), `0${receipt.text.seed}`])
      expect(() => opened({ ...receipt, text: { ...receipt.text, seed } }, body, worker)).to.throw(/text.seed/);
  });

  it("claimThatComesTwice_isNotPaid_andItsUrlAskedNoMore", async () => {
    const worker = await serving();
    const { service } = worker;
    const answer = service.answer.bind(service);
    const given = new Map<string, ReturnType<typeof answer>>();
    service.answer = (question) => {
      const { inputsRoot } = question.request;
      if (!given.has(inputsRoot)) given.set(inputsRoot, answer(question));
      return given.get(inputsRoot)!;
    };
    const { url, sellers, ledger } = await gatewayOf(await world.payer(worker.at.account.address), [worker.url]);
    await post(url, { ...BODY, max_tokens: 2 });
    const { spent } = ledger.money("local");
    const again = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...BODY, max_tokens: 2 }),
    });
    expect(again.status).to.equal(503);
    expect(sellers.stopped).to.deep.equal([worker.url]);
    expect(ledger.money("local")).to.deep.equal({ spent, reserved: 0n });
  });

  it("ofALie_showIt", async () => {
    const liar = await serving(lyingEvery(1, kit.execute, kit.model.program));
    const at = await world.payer(liar.at.account.address);
    const { url } = await gatewayOf(at, [liar.url]);
    const { receipt } = await post(url, BODY);
    // All is signed, and nothing but an execution tells.
    expect(await firstLie(opened(receipt, BODY, liar), kit.execute)).to.equal(0);
  });

  it("lieThatIsDrawn_neverReachesTheClient_isPutOnChain_andBoughtElsewhere", async () => {
    const liar = await serving(lyingEvery(1, kit.execute, kit.model.program));
    const honest = await serving();
    const at = await world.payer(liar.at.account.address);
    await at.session.asset.approve(world.tickets, parseEther("0.5"));
    await at.tickets.deposit(at.account.address, honest.at.account.address, parseEther("0.5"));
    const { url, sellers, payer } = await gatewayOf(at, [liar.url, honest.url], { share: 1 });
    const direct = await gatewayOf(at, [honest.url]);
    const { choices, receipt } = await post(url, BODY);
    expect(choices[0].message.content).to.equal((await post(direct.url, BODY)).choices[0].message.content);
    expect(await firstLie(opened(receipt, BODY, liar), kit.execute)).to.equal(undefined);
    expect(sellers.stopped).to.deep.equal([liar.url]);
    // Not under another URL or by other sellers with this ledger either, nor after a start, when the lie is on chain.
    const later = new Sellers({
      ...{ at, ledger: payer, urls: [liar.url.replace("127.0.0.1", "localhost")], program: kit.model.program },
      ...{ execute: kit.execute, limits: { face: FACE, oneIn: 1 }, share: 0, secret: new Uint8Array(32) },
      ...{ publishing: "all", log: quiet, patienceMs: 1, clock: () => Math.floor(Date.now() / 1_000) + world.ahead },
    });
    const drawing = { temperature: 1, topP: 1, seed: 1n };
    const buying = later.buy(
      blockInputs(kit.model, [5], 1, drawing),
      { fits: () => true },
      new AbortController().signal,
    );
    expect(await rejection(buying)).to.include({ status: 503 });
    expect(later.stopped).to.have.length(1);
    // Never paid, on chain, and refuted by whoever watches with the payer's inputs.
    const [lie] = payer.unsent(liar.at.account.address);
    expect(lie!.fate).to.equal("wrong");
    expect(await at.tickets.claimIdOf(lie!.digest)).not.to.equal(zeroHash);
    const following = world.follow(liar, kit.model.program, lyingEvery(1, kit.execute, kit.model.program));
    const watching = world.watch(at, payer, kit.model.program, kit.execute);
    await first(following, "refuted");
    const { status } = await at.pledges.pledgeOf(liar.at.account.address);
    expect(status).to.equal(PledgeStatus.stopped);
    await watching.stop();
    await following.stop();
  });

  it("workerThatLiesOnceInTwentyTimes_isStopped_byASmallShareOfChecks", async () => {
    const liar = await serving(lyingEvery(20, kit.execute, kit.model.program, true));
    const honest = await serving();
    const at = await world.payer(liar.at.account.address);
    await at.session.asset.approve(world.tickets, parseEther("0.5"));
    await at.tickets.deposit(at.account.address, honest.at.account.address, parseEther("0.5"));
    // A share that these seeds meet soon; which answers are drawn depends on the secret and on signatures alone.
    const { url, sellers } = await gatewayOf(at, [liar.url, honest.url], { share: 0.5, publishing: "never" });
    let asked = 0;
    for (; sellers.stopped.length === 0 && asked < 300; asked++)
      await post(url, { ...BODY, max_tokens: 2, seed: asked });
    expect(sellers.stopped).to.deep.equal([liar.url]);
    // All texts of the honest worker stand.
    const { receipt } = await post(url, BODY);
    expect(await firstLie(opened(receipt, BODY, honest), kit.execute)).to.equal(undefined);
    expect(FACE > 0n && asked > 0).to.equal(true);
  });
});
