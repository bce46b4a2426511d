import { expect } from "chai";
import OpenAI, { type APIError } from "openai";
import { Database } from "../../../src/base/database/database.ts";
import { DatabaseAccessError, DatabaseInUseError } from "../../../src/base/database/errors.ts";
import { GatewayLedger } from "../../../src/parties/gateway/gatewayLedger.ts";
import { readReceipt } from "../../../src/parties/gateway/receiptForm.ts";
import { PayerLedger } from "../../../src/parties/tickets/payerLedger.ts";
import { startGateway, textKit, type TextKit } from "../../../testkit/players/gatewayPlayers.ts";
import { FACE, TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

describe("a gateway among faults", function () {
  this.timeout(300_000);
  let world: TicketPlayers;
  let kit: TextKit;
  let one: Serving;
  let two: Serving;
  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
    kit = await textKit(world.folder, { endTokens: [] });
    one = await world.serve(await world.workerKey(), kit.model.program, kit.execute);
    two = await world.serve(await world.workerKey(), kit.model.program, kit.execute);
  });
  after(async () => {
    await one.stop();
    await two.stop();
    await kit.executors.close();
    await world.close();
  });
  const client = (url: string) => new OpenAI({ apiKey: "any", baseURL: url, maxRetries: 0 });
  const ask = { model: "words", prompt: "A word", max_tokens: 40, seed: 3 };
  const receiptOf = (answer: object) => readReceipt((answer as { receipt: unknown }).receipt);
  const full = () => new DatabaseAccessError("the disk is full");

  it("fullDisk_isSaid_givesNothing_holdsNoBudget_andTheTextGoesOnOnceThereIsRoom", async () => {
    const at = await world.payer(one.at.account.address);
    const gateway = await startGateway(world, kit, at, [one.url]);
    const { ledger } = gateway;
    const headers = { "Idempotency-Key": "full" };
    const failing = async (): Promise<APIError> => {
      const error = await rejection(client(gateway.url).completions.create(ask, { headers }));
      return error as unknown as APIError;
    };
    ledger.bought = () => {
      throw full();
    };
    expect((await failing()).status).to.equal(503);
    expect(ledger.money("local")).to.deep.equal({ spent: 0n, reserved: 0n });
    Reflect.deleteProperty(ledger, "bought");
    // A block that is kept, and of which the disk does not say so, is not given now, and not bought again.
    ledger.flushed = () => Promise.reject(full());
    expect((await failing()).status).to.equal(503);
    expect(ledger.money("local")).to.deep.equal({ spent: FACE, reserved: 0n });
    Reflect.deleteProperty(ledger, "flushed");
    ledger.ended = () => {
      throw full();
    };
    expect((await failing()).status).to.equal(503);
    expect(ledger.money("local")).to.deep.equal({ spent: 3n * FACE, reserved: 0n });
    Reflect.deleteProperty(ledger, "ended");
    const { blocks } = receiptOf(await client(gateway.url).completions.create(ask, { headers }));
    expect(ledger.money("local")).to.deep.equal({ spent: BigInt(blocks.length) * FACE, reserved: 0n });
    await gateway.close();
  });

  it("budgetOfExactlyWhatATextCosts_isEnough_andOneUnitLessIsNot", async () => {
    const ledger = await GatewayLedger.open(world.path());
    const request = { idempotency: undefined, fingerprint: "f", taken: { seed: "1", clock: 1 }, time: 1 };
    expect(ledger.add({ ...request, owner: "a" }, 2n * FACE, 2n * FACE - 1n)).to.equal(undefined);
    const { number } = ledger.add({ ...request, owner: "a" }, 2n * FACE, 2n * FACE)!;
    expect(ledger.reserve("a", 1n, 2n * FACE)).to.equal(false);
    ledger.release("a", { number, reserved: 2n * FACE, isGiven: false });
    expect(ledger.reserve("a", 2n * FACE, 2n * FACE)).to.equal(true);
    ledger.end();
  });

  it("ledgerOfTheVersionBefore_keepsWhatWasSpent_andTheTextsThatWereUnderWay", async () => {
    const path = world.path();
    const schema = `
      create table requests (
        number integer primary key autoincrement, owner text not null, idempotency text, fingerprint text not null,
        taken text not null, time integer not null, receipt_id text unique, receipt text, unique (owner, idempotency));
      create table blocks (
        request integer not null references requests (number) on delete cascade, number integer not null,
        body text not null, primary key (request, number));
      create table money (owner text primary key, spent text not null, reserved text not null);`;
    const old = await Database.open(path, { applicationId: 0x52665447, what: "a ledger", schema, version: 1 });
    old.run("insert into money values ('a', '7', '9')");
    const insert = "insert into requests (owner, idempotency, fingerprint, taken, time) values ('a', ?, ?, ?, 1)";
    for (const key of [null, null, "key"]) old.run(insert, key, key ?? "f", JSON.stringify({ seed: "1", clock: 1 }));
    old.run("insert into blocks values (1, 0, '{}')");
    old.close();
    const ledger = await GatewayLedger.open(path);
    expect(ledger.money("a")).to.deep.equal({ spent: 7n, reserved: 0n });
    expect(ledger.findLeft("a", "f")).to.deep.include({ number: 1, blocks: [{}] });
    expect(ledger.findLeft("a", "key")).to.equal(undefined);
    ledger.end();
  });

  it("workerThatDiesBetweenBlocks_isFollowedByAnother_andTheTextIsTheSame", async () => {
    const dying = await world.serve(await world.workerKey(), kit.model.program, kit.execute);
    const at = await world.payer(dying.at.account.address);
    await at.session.asset.approve(world.tickets, 20n * FACE);
    await at.tickets.deposit(at.account.address, two.at.account.address, 20n * FACE);
    const gateway = await startGateway(world, kit, at, [dying.url, two.url]);
    const stream = await client(gateway.url).completions.create({ ...ask, stream: true });
    let [text, last]: [string, object | undefined] = ["", undefined];
    for await (const chunk of stream) {
      if (text === "") await dying.stop();
      text += chunk.choices[0]?.text ?? "";
      if ("receipt" in chunk) last = chunk;
    }
    const workers = receiptOf(last!).blocks.map(({ claim }) => claim.worker);
    expect([workers[0], workers.at(-1)]).to.deep.equal([dying.at.account.address, two.at.account.address]);
    const whole = await client(gateway.url).completions.create(ask);
    expect(whole.choices[0]!.text).to.equal(text);
    await gateway.close();
  });

  it("secondGatewayWithTheFilesOfARunningOne_isRefused", async () => {
    const [path, payerPath] = [world.path(), world.path()];
    const at = await world.payer(one.at.account.address);
    const gateway = await startGateway(world, kit, at, [one.url], { path, payerPath });
    expect(await rejection(GatewayLedger.open(path))).to.be.instanceOf(DatabaseInUseError);
    expect(await rejection(PayerLedger.open(payerPath))).to.be.instanceOf(DatabaseInUseError);
    await gateway.close();
  });
});
