import { expect } from "chai";
import OpenAI, { APIError, BadRequestError } from "openai";
import { addKey } from "../../../src/parties/gateway/apiKeys.ts";
import {
  openEmbeddingReceipt,
  readEmbeddingRequest,
  type EmbeddingReceipt,
} from "../../../src/parties/gateway/embeddings.ts";
import { ReceiptError } from "../../../src/parties/gateway/errors.ts";
import { firstLie } from "../../../src/parties/gateway/receiptParts.ts";
import { loadFindSigner, type FindSigner } from "../../../src/parties/tickets/signatures.ts";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { embeddingKit, startGateway, type RunningGateway } from "../../../testkit/players/gatewayPlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { swappedFields } from "../../../testkit/players/swappedFields.ts";
import { FACE, TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";

type Kit = Awaited<ReturnType<typeof embeddingKit>>;
type Answer = { data: { embedding: number[]; index: number }[]; receipt: EmbeddingReceipt };
const INPUT = ["A claim", "The worker makes a claim"];

describe("embeddings of a gateway, through the official client", function () {
  this.timeout(300_000);
  let world: TicketPlayers;
  let kit: Kit;
  let serving: Serving;
  let at: TicketSession;
  let gateway: RunningGateway;
  let keys: string;
  let openai: OpenAI;
  let findSigner: FindSigner;

  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
    kit = await embeddingKit(world.folder);
    serving = await world.serve(await world.workerKey(), kit.model.program, kit.execute);
    at = await world.payer(serving.at.account.address);
    keys = world.path();
    const apiKey = addKey(keys, { name: "tests" });
    gateway = await startGateway(world, kit, at, [serving.url], { keys });
    openai = new OpenAI({ apiKey, baseURL: gateway.url, maxRetries: 0 });
    findSigner = await loadFindSigner();
  });
  after(async () => {
    await gateway?.close();
    await serving?.stop();
    await kit?.executors.close();
    await world.close();
  });

  const ask = async (more: object = {}, options: { headers?: Record<string, string> } = {}): Promise<Answer> =>
    (await openai.embeddings.create({ model: "vectors", input: INPUT, ...more }, options)) as unknown as Answer;
  const refusal = async (more: object): Promise<APIError> => (await rejection(ask(more))) as unknown as APIError;
  const opened = (receipt: unknown, body: object = { model: "vectors", input: INPUT }) => {
    const place = { ...serving.at.at, claimLifetime: serving.at.claimLifetime };
    return openEmbeddingReceipt(receipt, { model: kit.model, request: readEmbeddingRequest(body), place, findSigner });
  };
  const answers = () => [...serving.ledger.counts().values()].reduce((a, b) => a + b, 0);

  it("vectors_areTheSameInBothEncodings_ofTextsAndTokens_oneByOneOrTogether", async () => {
    const { data, receipt } = await ask();
    expect(data.map(({ index }) => index)).to.deep.equal([0, 1]);
    expect(data[0]!.embedding).to.have.length(kit.model.dimensions);
    expect(data[0]!.embedding).not.to.deep.equal(data[1]!.embedding);
    const floats = await ask({ encoding_format: "float" });
    expect(floats.data).to.deep.equal(data);
    const tokens = INPUT.map((text) => kit.model.tokenizer.encode(text));
    expect((await ask({ input: tokens })).data).to.deep.equal(data);
    expect((await ask({ input: tokens[1] })).data[0]!.embedding).to.deep.equal(data[1]!.embedding);
    expect((await ask({ input: INPUT[0] })).data[0]!.embedding).to.deep.equal(data[0]!.embedding);
    expect(receipt.usage.prompt).to.equal(tokens.flat().length);
  });

  it("whatDoesNotFit_isRefusedByName", async () => {
    for (const [more, param] of [
      [{ input: [] }, "input"],
      [{ input: "" }, "input"],
      [{ input: "A claim ".repeat(40) }, "input"],
      [{ input: [[1, 100_000]] }, "input"],
      [{ input: new Array<string>(257).fill("a") }, "input"],
      [{ dimensions: 3 }, "dimensions"],
      [{ encoding_format: "int8" }, "encoding_format"],
      [{ made_up: 1 }, "made_up"],
    ] as const) {
      const error = await refusal(more);
      expect(error, JSON.stringify(more)).to.be.instanceOf(BadRequestError);
      expect(error.param, JSON.stringify(more)).to.equal(param);
    }
    await ask({ dimensions: kit.model.dimensions, user: "somebody", input: "a" });
    const text = await rejection(openai.completions.create({ model: "vectors", prompt: "a" }));
    expect(text).to.include({ status: 400, param: "model" });
  });

  it("sameKeyOfIdempotency_buysNothingTwice", async () => {
    const options = { headers: { "Idempotency-Key": "one" } };
    const first = await ask({}, options);
    const bought = answers();
    expect(await ask({}, options)).to.deep.equal(first);
    expect(answers()).to.equal(bought);
    const other = await rejection(ask({ input: "B" }, options));
    expect(other).to.include({ status: 422 });
  });

  it("budget_isSpentByTheText_andNotBeyond", async () => {
    const key = addKey(keys, { name: "poor", budget: "0.02" });
    expect(FACE).to.equal(10n ** 16n);
    const poor = new OpenAI({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });
    await poor.embeddings.create({ model: "vectors", input: "a" });
    expect(await rejection(poor.embeddings.create({ model: "vectors", input: INPUT }))).to.include({ status: 429 });
    await poor.embeddings.create({ model: "vectors", input: "b" });
  });

  it("receipt_holds_andEachFieldSwapped_failsByItsName", async () => {
    const { receipt } = await ask();
    expect(await firstLie(opened(receipt), kit.execute)).to.equal(undefined);
    expect(receipt.id).to.match(/^emb-/);
    const swaps = swappedFields(receipt);
    expect(swaps.length).to.be.above(30);
    for (const { path, changed } of swaps) {
      let error: unknown;
      try {
        opened(changed);
      } catch (caught) {
        error = caught;
      }
      expect(error, path.join(".")).to.be.instanceOf(ReceiptError);
      const isBlock = path[0] === "blocks";
      const expected = isBlock ? `blocks[${path[1]}]` : path.filter((part) => typeof part === "string").join(".");
      expect((error as ReceiptError).field.startsWith(expected), path.join(".")).to.equal(true);
    }
    expect(() => opened({ ...receipt, blocks: receipt.blocks.slice(1) })).to.throw(ReceiptError, "blocks");
    expect(() => opened(receipt, { model: "vectors", input: [INPUT[0], "B"] })).to.throw(/embedding.texts\[1\]/);
  });

  it("lie_isShownByTheReceipt_andIfDrawn_isNeverGiven", async () => {
    const { step } = kit.model.program.model.program.checkpoints[kit.model.program.model.program.outputs[0]!]!;
    const lying: Execute = async (...args) => {
      const tensors = await kit.execute(...args);
      return tensors.map((tensor, k) => (k === step ? tensor.map((byte, i) => (i === 0 ? byte ^ 1 : byte)) : tensor));
    };
    const liar = await world.serve(await world.workerKey(), kit.model.program, lying);
    const paying = await world.payer(liar.at.account.address);
    const post = (url: string) =>
      fetch(`${url}/embeddings`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "vectors", input: INPUT }),
      });
    const trusting = await startGateway(world, kit, paying, [liar.url]);
    const { receipt } = (await (await post(trusting.url)).json()) as Answer;
    expect(await firstLie(opened(receipt), kit.execute)).to.equal(0);
    await trusting.close();
    const checking = await startGateway(world, kit, paying, [liar.url], { share: 1, publishing: "never" });
    expect((await post(checking.url)).status).to.equal(503);
    expect(checking.sellers.stopped).to.deep.equal([liar.url]);
    await checking.close();
    await liar.stop();
  });
});
