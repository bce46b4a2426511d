import { expect } from "chai";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { GatewayAnswerError, baseOf, modelsOf, streamText, type TextNews } from "../../web/text/gatewayClient.ts";
import { rejection } from "../../testkit/rejection.ts";

const CHAT = "chat/completions";
const pieces = (...texts: string[]): string[] =>
  texts.map((text) => `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`);

describe("web: client of gateways", () => {
  let server: Server;
  let at: { url: string; key: string };
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  beforeEach(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    at = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: " sk-own " };
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const text = async (signal = new AbortController().signal): Promise<TextNews[]> => {
    const all: TextNews[] = [];
    for await (const news of streamText(at, CHAT, { model: "m" }, signal)) all.push(news);
    return all;
  };
  const refused = async (action: Promise<unknown>): Promise<GatewayAnswerError> => {
    const error = await rejection(action);
    expect(error).to.be.instanceOf(GatewayAnswerError);
    return error as unknown as GatewayAnswerError;
  };
  const fault = async (action: Promise<unknown>): Promise<string> => {
    const error = await refused(action);
    expect(error.message).not.to.include(at.key.trim());
    return error.fault;
  };

  it("url_mayLackThePath_andMustBeHttp", () => {
    expect(baseOf(" http://a:1 ")).to.equal("http://a:1/v1");
    expect(baseOf("https://a/x/v1/")).to.equal("https://a/x/v1");
    for (const wrong of ["a", "", "ftp://a", "javascript:alert(1)"])
      expect(() => baseOf(wrong), wrong).to.throw(GatewayAnswerError, "http://");
  });

  it("models_haveSlots_ifTheGatewayTellsThem", async () => {
    answer = ({ headers, url }, response) => {
      expect([headers.authorization, url]).to.deep.equal(["Bearer sk-own", "/v1/models"]);
      response.end(JSON.stringify({ data: [{ id: "a", slots: 96 }, { id: "b" }, { slots: 1 }] }));
    };
    expect(await modelsOf(at)).to.deep.equal([
      { id: "a", slots: 96 },
      { id: "b", slots: undefined },
    ]);
    for (const other of ["{}", "no JSON", "[]"]) {
      answer = (_request, response) => response.end(other);
      expect(await fault(modelsOf(at)), other).to.equal("refused");
    }
  });

  it("events_areText_howeverTheyAreCut", async () => {
    const receipt = { id: "r" };
    const all = [
      ...pieces("a", "ü€"),
      ": a comment\r\n\r\n",
      `data: ${JSON.stringify({ choices: [{ text: "b" }], receipt })}\n\n`,
      `data: ${JSON.stringify({ choices: [], usage: {} })}\n\ndata: [DONE]\n\n`,
    ];
    answer = (_request, response) => {
      response.setHeader("refute-eager", "true");
      const bytes = Buffer.from(all.join(""));
      for (let k = 0; k < bytes.length; k++) response.write(bytes.subarray(k, k + 1));
      response.end();
    };
    expect(await text()).to.deep.equal([
      { kind: "start", isEager: true },
      ...["a", "ü€", "b"].map((piece) => ({ kind: "piece", text: piece })),
      { kind: "receipt", receipt },
    ]);
  });

  it("texts_withoutAnEnd_areBroken", async () => {
    const error = `data: ${JSON.stringify({ error: { message: "no worker signed" }, choices: [] })}\n\n`;
    for (const end of ["", error, "data: no JSON\n\n"]) {
      answer = (_request, response) => response.end([...pieces("a"), end].join(""));
      expect(await fault(text()), end).to.equal("broken");
    }
    answer = (_request, response) => {
      response.write(pieces("a")[0]!);
      setTimeout(() => response.destroy(), 50);
    };
    expect(await fault(text())).to.equal("broken");
  });

  it("refusals_areTold_withTheGatewaysReason", async () => {
    answer = (_request, response) => response.writeHead(401).end("{}");
    expect(await fault(text())).to.equal("key");
    answer = (_request, response) => response.writeHead(429).end(JSON.stringify({ error: { message: "the budget" } }));
    const error = await refused(text());
    expect(error.message).to.include("429").and.include("the budget");
    answer = (_request, response) => response.writeHead(500).end("<html>");
    expect(await fault(text())).to.equal("refused");
  });

  it("whoDoesNotAnswer_isUnreachable_andWhoAnswersNoPage_isClosed", async () => {
    // A page is refused as here, where only its own request breaks: what it then asks blindly is answered.
    answer = ({ headers }, response) => {
      if (headers.authorization === undefined) response.end("{}");
      else response.destroy();
    };
    expect(await fault(modelsOf(at))).to.equal("closed");
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await fault(modelsOf(at))).to.equal("unreachable");
  });

  it("abort_isNoFault", async () => {
    answer = (_request, response) => response.write(pieces("a")[0]!);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    expect((await rejection(text(abort.signal))).name).to.equal("AbortError");
  });
});
