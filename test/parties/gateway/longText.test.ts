import { expect } from "chai";
import OpenAI, { type APIError } from "openai";
import { zeroHash } from "viem";
import { openReceipt } from "../../../src/parties/gateway/receipt.ts";
import { readReceipt } from "../../../src/parties/gateway/receiptForm.ts";
import { firstLie } from "../../../src/parties/gateway/receiptParts.ts";
import { readTextRequest } from "../../../src/parties/gateway/requests.ts";
import { loadFindSigner } from "../../../src/parties/tickets/signatures.ts";
import { around, type Execute } from "../../../src/runs/execute.ts";
import { AT_LENGTH, itAtLength } from "../../../testkit/atLength.ts";
import { libraryOf, lyingEvery, startGateway, textKit, type TextKit } from "../../../testkit/players/gatewayPlayers.ts";
import { GPT2_SMALL, gpt2Decoder } from "../../../testkit/models/gpt2.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { FACE, TicketPlayers } from "../../../testkit/players/ticketPlayers.ts";

const PROMPT = "A word";
/** Of a long text, and of its blocks. */
const [TOKENS, BLOCK] = AT_LENGTH ? [2_000, 64] : [400, 32];

/** Of a text in GPT-2's shape: layers and tokens. The environment may ask for up to 12 and 2,000. */
const [GPT2_LAYERS, GPT2_TOKENS] = [Number(process.env.REFUTE_LAYERS ?? 1), Number(process.env.REFUTE_TOKENS ?? 200)];
/** A longer clock has room for claims that each count all items before them too; 365 days are the most. */
const LARGE = { baseClock: 2_592_000, withdrawalDelay: 7_776_000 };

/** The same execution, with a count of items. */
function counting(execute: Execute): { execute: Execute; items: () => number } {
  let items = 0;
  const counted = around(execute, (action) => action());
  const { block } = counted;
  const one: Execute = (...args) => (items++, counted(...args));
  return {
    items: () => items,
    execute: Object.assign(one, {
      block: async (...args: Parameters<NonNullable<Execute["block"]>>) => {
        const result = await block!(...args);
        items += result.items.length;
        return result;
      },
    }),
  };
}

describe("long texts of a gateway", function () {
  this.timeout(1_200_000);
  let world: TicketPlayers;
  before(async () => {
    // Each block's claim counts all items before it too: a longer clock has room for them.
    world = await TicketPlayers.create({ baseClock: 14_400, withdrawalDelay: 604_800 });
    await world.setClock();
  });
  after(() => world.close());
  const client = (url: string) => new OpenAI({ apiKey: "any", baseURL: url, maxRetries: 0 });

  /** Sells a text over a kill of the gateway, and checks its receipt. */
  async function sells(
    world: TicketPlayers,
    kit: TextKit,
    { tokens, block, temperature = 1 }: { tokens: number; block: number; temperature?: number },
  ): Promise<void> {
    const counted = counting(kit.execute);
    const programs = libraryOf(kit);
    const serving = await world.serve(await world.workerKey(), kit.model.program, counted.execute, { programs });
    const at = await world.payer(serving.at.account.address);
    const [path, payerPath] = [world.path(), world.path()];
    const start = () => startGateway(world, kit, at, [serving.url], { block, path, payerPath });
    const body = { model: "words", prompt: PROMPT, max_tokens: tokens, temperature, seed: 3, stop: ["\0never"] };
    const headers = { "Idempotency-Key": "long" };
    const write = (url: string) => client(url).completions.create({ ...body, stream: true }, { headers });
    const one = await start();
    let pieces = 0;
    for await (const { choices } of await write(one.url)) if (choices[0]?.text !== "" && ++pieces === 4) break;
    await one.close();
    expect(counted.items()).to.be.below(tokens);
    const two = await start();
    let last: unknown;
    const begun = performance.now();
    for await (const chunk of await write(two.url)) {
      if ("receipt" in chunk) last = chunk.receipt;
      if (process.env.REFUTE_SHOW) console.log(counted.items(), Math.round(performance.now() - begun));
    }
    const receipt = readReceipt(last);
    const { prompt, completion, bought } = receipt.usage;
    expect(completion).to.equal(tokens);
    expect(two.ledger.money("local")).to.deep.equal({ spent: BigInt(receipt.blocks.length) * FACE, reserved: 0n });
    expect(receipt.blocks.length).to.equal(Math.ceil(completion / block));
    // Nearly all that a right worker executes is the text itself, however many blocks it has.
    expect(counted.items()).to.be.at.most(prompt + bought + 2 * block);
    await two.close();
    const { request } = readTextRequest("completion", body);
    const place = { ...at.at, claimLifetime: at.claimLifetime };
    const findSigner = await loadFindSigner();
    const opened = openReceipt(receipt, { model: kit.model, request, place, findSigner });
    expect(await firstLie(opened, kit.execute)).to.equal(undefined);
    await serving.stop();
    await kit.executors.close();
  }

  it("text_goesOnAfterAKill_isExecutedOnce_paidOnce_andItsReceiptHolds", async () => {
    await sells(world, await textKit(world.folder, { slots: TOKENS + 40, endTokens: [] }), {
      tokens: TOKENS,
      block: BLOCK,
    });
  });

  itAtLength("textOfGpt2sShape_goesOnAfterAKill_isExecutedOnce_paidOnce_andItsReceiptHolds", async function () {
    this.timeout(14_400_000);
    // 2,000 items of GPT-2's shape are nine times the work of the usual largest claim, and all blocks' claims are out
    // at once.
    const large = await TicketPlayers.create({ ...LARGE, maxWork: 10n ** 13n, rate: 10n ** 9n });
    await large.setClock();
    const slots = GPT2_TOKENS + 40;
    const decoder = gpt2Decoder({ ...GPT2_SMALL, layers: GPT2_LAYERS, tokens: slots, circle: 29, clearness: 30 });
    await sells(large, await textKit(large.folder, { slots, endTokens: [], decoder }), {
      // The tokenizer knows only tokens of the prompt's circle.
      ...{ tokens: GPT2_TOKENS, block: 16, temperature: 0 },
    });
    await large.close();
  });

  it("lieInTheThirdBlock_goesOnChain_andTheRestIsBoughtElsewhere_andPaidOnce", async () => {
    const kit = await textKit(world.folder);
    const liar = await world.serve(
      await world.workerKey(),
      kit.model.program,
      lyingEvery(3, kit.execute, kit.model.program),
    );
    const honest = await world.serve(await world.workerKey(), kit.model.program, kit.execute);
    const at = await world.payer(liar.at.account.address);
    await at.session.asset.approve(world.tickets, 20n * FACE);
    await at.tickets.deposit(at.account.address, honest.at.account.address, 20n * FACE);
    // A lie goes on chain once the chain's time is that of the claim: on a slow machine it would fall behind.
    await world.players.chain.advance(120);
    const body = { model: "words", prompt: PROMPT, max_tokens: 64, seed: 3, stop: ["\0never"] };
    const right = await startGateway(world, kit, at, [honest.url]);
    const { choices } = await client(right.url).completions.create(body);
    await right.close();
    const [path, payerPath] = [world.path(), world.path()];
    const start = (urls: readonly string[]) =>
      startGateway(world, kit, at, urls, { share: 1, path, payerPath, patienceMs: 2_000 });
    const headers = { "Idempotency-Key": "lied to" };
    // The third block is a lie, and nobody else sells it: the text ends there, and goes on when somebody does.
    const alone = await start([liar.url]);
    const refused = (await rejection(client(alone.url).completions.create(body, { headers }))) as unknown as APIError;
    expect([refused.status, refused.code]).to.deep.equal([503, "no_worker"]);
    expect(alone.sellers.stopped).to.deep.equal([liar.url]);
    await alone.close();
    const gateway = await start([liar.url, honest.url]);
    const answer = await client(gateway.url).completions.create(body, { headers });
    expect(answer.choices[0]!.text).to.equal(choices[0]!.text);
    const { blocks } = readReceipt((answer as unknown as { receipt: unknown }).receipt);
    const workers = blocks.map(({ claim }) => (claim.worker === liar.at.account.address ? "liar" : "honest"));
    expect(workers).to.deep.equal(["liar", "liar", ...Array<string>(blocks.length - 2).fill("honest")]);
    expect(gateway.ledger.money("local")).to.deep.equal({ spent: BigInt(blocks.length) * FACE, reserved: 0n });
    await gateway.sellers.settled();
    // The third answer of the liar is not paid, and its claim is on chain.
    const lies = gateway.payer.unsent(liar.at.account.address);
    expect(lies.map(({ fate }) => fate)).to.deep.equal(["wrong"]);
    expect(await at.tickets.claimIdOf(lies[0]!.digest)).not.to.equal(zeroHash);
    await gateway.close();
    for (const one of [liar, honest]) await one.stop();
    await kit.executors.close();
  });
});
