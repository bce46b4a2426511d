import { createServer, type IncomingMessage } from "node:http";
import { expect } from "chai";
import OpenAI, { APIError } from "openai";
import { parseEther } from "viem";
import { listenAt } from "../../../src/base/httpServer.ts";
import { DECODER } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { openReceipt } from "../../../src/parties/gateway/receipt.ts";
import { readReceipt, type Receipt } from "../../../src/parties/gateway/receiptForm.ts";
import { readTextRequest } from "../../../src/parties/gateway/requests.ts";
import { loadFindSigner } from "../../../src/parties/tickets/signatures.ts";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { startGateway, textKit, type RunningGateway, type TextKit } from "../../../testkit/players/gatewayPlayers.ts";
import { TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

const BODY = { model: "words", prompt: "A secret word", seed: 5, max_tokens: 20, temperature: 0.7 };
type Event = {
  choices: { text: string; finish_reason: string | null }[];
  error?: { code: string };
  receipt?: Receipt;
};

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Stands before a worker, and changes the tokens that the worker sends before it signs. */
async function otherTokens(url: string, from: number) {
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "GET", headers } = request;
      const answer = await fetch(new URL(request.url!, url), {
        method,
        headers: { "content-type": "application/json", accept: headers.accept ?? "*/*" },
        ...(method === "POST" && { body: await bodyOf(request) }),
      });
      const lines = (await answer.text()).split("\n").map((line) => {
        const match = /^\{"item":(\d+),"token":(\d+)\}$/.exec(line);
        const [item, token] = [Number(match?.[1]), Number(match?.[2])];
        return match === null || item < from ? line : JSON.stringify({ item, token: token ^ 1 });
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type")! });
      response.end(lines.join("\n"));
    })();
  });
  const port = await listenAt(server, 0, "127.0.0.1", "--port");
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

describe("a gateway that gives tokens before they are signed", function () {
  this.timeout(300_000);
  let world: TicketPlayers;
  let kit: TextKit;
  let serving: Serving;
  let at: TicketSession;
  /** Holds the item with this number until it is let go. */
  let held: { item: number; until: Promise<void> } | undefined;
  const running: RunningGateway[] = [];

  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
    kit = await textKit(world.folder);
    const { inputs } = kit.model.program.model;
    const place = inputs.findIndex(({ name }) => name === DECODER.index);
    const execute: Execute = async (...args) => {
      const bytes = args[1][place]!;
      if (Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true)) === held?.item) await held.until;
      return kit.execute(...args);
    };
    serving = await world.serve(await world.workerKey(), kit.model.program, execute);
    at = await world.payer(serving.at.account.address, parseEther("20"));
  });
  after(async () => {
    for (const { close } of running) await close();
    await serving?.stop();
    await kit?.executors.close();
    await world.close();
  });

  async function start(urls: readonly string[], eager = true): Promise<RunningGateway> {
    const gateway = await startGateway(world, kit, at, urls, { eager, patienceMs: 500 });
    running.push(gateway);
    return gateway;
  }

  const post = (gateway: RunningGateway, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.url}/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  /** Reads a stream. @param onText Called with the text so far. */
  async function read(response: Response, onText: (text: string) => void = () => undefined) {
    const events: Event[] = [];
    let [rest, text, isDone] = ["", "", false];
    const decoder = new TextDecoder();
    for await (const chunk of response.body! as unknown as AsyncIterable<Uint8Array>) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) {
        const data = part.replace(/^data: /, "");
        if (data === "[DONE]") isDone = true;
        else events.push(JSON.parse(data) as Event);
        text += events.at(-1)!.choices[0]?.text ?? "";
      }
      onText(text);
    }
    return { events, text, isDone, last: events.at(-1)! };
  }

  async function wholeText(): Promise<string> {
    const { choices } = (await (await post(await start([serving.url], false), BODY)).json()) as Event;
    return choices[0]!.text;
  }

  it("tokens_comeBeforeTheyAreSigned_andMakeTheSameText_withItsReceipt", async () => {
    const expected = await wholeText();
    const gateway = await start([serving.url]);
    let release!: () => void;
    const prompt = kit.model.tokenizer.encode(BODY.prompt).length;
    held = { item: prompt - 1 + 12, until: new Promise((resolve) => (release = resolve)) };
    const response = await post(gateway, { ...BODY, stream: true });
    expect(response.headers.get("refute-eager")).to.equal("true");
    const { text, isDone, last } = await read(response, (soFar) => soFar !== "" && release());
    held = undefined;
    expect({ text, isDone }).to.deep.equal({ text: expected, isDone: true });
    const { request } = readTextRequest("completion", BODY);
    const place = { ...at.at, claimLifetime: at.claimLifetime };
    const opened = openReceipt(readReceipt(last.receipt), {
      ...{ model: kit.model, request, place, findSigner: await loadFindSigner() },
    });
    expect(opened.runs).to.have.length(2);
  });

  it("workerThatSendsOneTextAndSignsAnother_isAskedNoMore_andTheUserIsTold", async () => {
    const prompt = kit.model.tokenizer.encode(BODY.prompt).length;
    const liar = await otherTokens(serving.url, prompt - 1 + 5);
    const alone = await start([liar.url]);
    const told = await read(await post(alone, { ...BODY, stream: true }));
    expect(told.isDone).to.equal(false);
    expect(told.last.choices[0]!.finish_reason).to.equal("error");
    expect(told.last.error).to.include({ code: "unsigned_text", type: "server_error" });
    expect(alone.sellers.stopped).to.deep.equal([liar.url]);

    // With another worker the text goes on at a second try: the first one's tokens cannot be taken back.
    const gateway = await start([liar.url, serving.url]);
    const openai = new OpenAI({ apiKey: "any", baseURL: gateway.url, maxRetries: 0 });
    const ask = async (): Promise<string> => {
      let text = "";
      const options = { headers: { "Idempotency-Key": "again" } };
      for await (const { choices } of await openai.completions.create({ ...BODY, stream: true }, options))
        text += choices[0]?.text ?? "";
      return text;
    };
    const error = (await rejection(ask())) as unknown as APIError;
    expect(error).to.be.instanceOf(APIError);
    expect(error.message).to.contain("do not rely on it");
    expect(await ask()).to.equal(await wholeText());
    liar.close();
  });

  it("wholeTexts_haveOnlySignedTokens", async () => {
    const liar = await otherTokens(serving.url, 0);
    const gateway = await start([liar.url]);
    const { choices } = (await (await post(gateway, BODY)).json()) as Event;
    expect(choices[0]!.text).to.equal(await wholeText());
    expect(gateway.sellers.stopped).to.deep.equal([]);
    liar.close();
  });
});
