import { expect } from "chai";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI, { InternalServerError } from "openai";
import { parseEther, type Hex } from "viem";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import { startGateway, textKit, type TextKit } from "../../../testkit/players/gatewayPlayers.ts";
import { FACE, TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

/** A way to a worker on which answers are lost after the worker has given them. */
class LossyWay {
  /** Answers of the worker that are still lost. */
  lose = 0;
  lost = 0;
  /** Bytes of the latest question. */
  sent = 0;
  to = "";
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<LossyWay> {
    const server = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks);
        const isAnswer = request.url === "/v1/answers";
        if (isAnswer) way.sent = body.length;
        const post = { method: "POST", headers: { "content-type": "application/json" }, body };
        const answer = await fetch(new URL(request.url!, way.to), request.method === "POST" ? post : {});
        const text = await answer.text();
        if (isAnswer && answer.ok && way.lose > 0) {
          way.lose--;
          way.lost++;
          response.destroy();
        } else response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
      })().catch(() => response.destroy());
    });
    const way = new LossyWay(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return way;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe("answers that are lost on their way to a gateway", function () {
  this.timeout(300_000);
  let world: TicketPlayers;
  let kit: TextKit;
  let way: LossyWay;
  let key: Hex;
  let serving: Serving;
  let at: TicketSession;
  const ask = { model: "words", prompt: "A word", max_tokens: 40, seed: 9 };
  const client = (url: string) => new OpenAI({ apiKey: "any", baseURL: url, maxRetries: 0 });
  const signed = (): number => [...serving.ledger.counts().values()].reduce((a, b) => a + b, 0);
  const serve = async (changes = {}, path = world.path()): Promise<void> => {
    serving = await world.serve(key, kit.model.program, kit.execute, changes, path);
    way.to = serving.url;
  };

  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
    kit = await textKit(world.folder);
    way = await LossyWay.open();
    key = await world.workerKey();
  });
  beforeEach(async () => {
    way.lose = 0;
    await serve();
    at = await world.payer(serving.at.account.address, parseEther("1"));
  });
  afterEach(() => serving.stop());
  after(async () => {
    await way?.close();
    await kit?.executors.close();
    await world.close();
  });

  it("areAskedForAgainUnderTheirNonce_signedOnce_andPaidOnce", async () => {
    const { url, close, ledger, sellers, payer } = await startGateway(world, kit, at, [way.url]);
    way.lose = 2;
    const { choices } = await client(url).completions.create(ask);
    expect([way.lost, signed()]).to.deep.equal([2, 3]);
    await sellers.settled();
    expect(payer.unsent(serving.at.account.address)).to.deep.equal([]);
    expect(serving.ledger.counts().get("signed")).to.equal(undefined);
    expect(ledger.money("local")).to.deep.equal({ spent: 3n * FACE, reserved: 0n });
    // Each block begins from caches of zeros: they are not sent.
    expect(way.sent).to.be.below(6_000);
    expect((await client(url).completions.create(ask)).choices[0]!.text).to.equal(choices[0]!.text);
    await close();
  });

  it("goOnAfterBothSidesAreStartedAnew", async () => {
    const path = world.path();
    const one = await startGateway(world, kit, at, [way.url], { path, patienceMs: 1 });
    const headers = { "Idempotency-Key": "again" };
    way.lose = Infinity;
    const failed = await rejection(client(one.url).completions.create(ask, { headers }));
    expect(failed).to.be.instanceOf(InternalServerError);
    expect(signed()).to.equal(1);
    await one.close();
    const { path: worker } = serving;
    await serving.stop();
    await serve({}, worker);
    way.lose = 0;
    const two = await startGateway(world, kit, at, [way.url], { path, payerPath: one.payerPath });
    await client(two.url).completions.create(ask, { headers });
    expect(signed()).to.equal(3);
    await two.sellers.settled();
    expect(serving.ledger.counts().get("signed")).to.equal(undefined);
    expect(two.ledger.money("local").spent).to.equal(3n * FACE);
    await two.close();
  });

  it("thatNobodyAsksForAgain_leaveTheirPlacesAtTheWorker_onceAllAreTaken", async () => {
    await serving.stop();
    await serve({ maxUnpaid: 2 });
    const path = world.path();
    const one = await startGateway(world, kit, at, [way.url], { patienceMs: 1, payerPath: path });
    way.lose = Infinity;
    await rejection(client(one.url).completions.create({ ...ask, max_tokens: 1 }));
    await one.close();
    const two = await startGateway(world, kit, at, [way.url], { patienceMs: 1, payerPath: path });
    await rejection(client(two.url).completions.create({ ...ask, max_tokens: 2 }));
    await two.close();
    expect(serving.ledger.counts().get("signed")).to.equal(2);
    way.lose = 0;
    const three = await startGateway(world, kit, at, [way.url], { payerPath: path });
    await client(three.url).completions.create({ ...ask, max_tokens: 3 });
    await three.sellers.settled();
    expect(serving.ledger.counts().get("signed")).to.equal(undefined);
    await three.close();
  });
});
