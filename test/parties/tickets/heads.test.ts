import { expect } from "chai";
import { endpointOf } from "../../../src/parties/tickets/http.ts";
import { RefusedError } from "../../../src/parties/tickets/errors.ts";
import type { AnswerService } from "../../../src/parties/tickets/answerService.ts";

const MAX_BODY_BYTES = 1_000_000;
const word = (digit: string): string => `0x${digit.repeat(64)}`;
const account = (digit: string): string => `0x${digit.repeat(40)}`;
const HEAD = {
  payer: account("1"),
  request: {
    ...{ worker: account("2"), programRoot: word("3"), inputsRoot: word("4"), items: 1, firstItem: 0 },
    ...{ time: "1700000000", nonce: word("5") },
  },
  signature: `0x${"6".repeat(130)}`,
};
/** Base64 of 600,000 bytes. */
const LARGE = "A".repeat(800_000);

describe("questions to a worker", () => {
  const served = (checkHead: (head: object) => void) => {
    const answered: object[] = [];
    const answer = (question: object): Promise<object> => Promise.resolve((answered.push(question), { claim: 1 }));
    const service = { info: { maxBodyBytes: MAX_BODY_BYTES }, checkHead, answer } as unknown as AnswerService;
    const app = endpointOf(service);
    const post = async (body: string | object) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const headers = { "content-length": String(text.length) };
      const response = await app.request("/v1/answers", { method: "POST", body: text, headers });
      return { status: response.status, text: await response.text() };
    };
    return { app, post, answered };
  };

  it("headIsCheckedFirst_andWhatComesBehindAWrongOneIsNotEvenParsed", async () => {
    const heads: object[] = [];
    const refuse = (head: object): never => {
      heads.push(head);
      throw new RefusedError(401, "not signed by the payer");
    };
    const { post, answered } = served(refuse);
    // No JSON at all, behind the head.
    const text = `${JSON.stringify(HEAD).slice(0, -1)}, "inputs": [${LARGE}`;
    expect((await post(text)).status).to.equal(401);
    expect(heads).to.deep.equal([HEAD]);
    expect(answered).to.deep.equal([]);
  });

  it("rightHead_leadsToTheAnswer_alsoWithInputsOfManyBytes_inAnyOrderIfTheyAreFew", async () => {
    const { post, answered } = served(() => undefined);
    for (const question of [
      { ...HEAD, inputs: [LARGE] },
      { ...HEAD, inputs: [] },
      { inputs: ["AAAA"], ...HEAD },
    ])
      expect((await post(question)).status).to.equal(200);
    expect(answered).to.have.length(3);
    expect(answered[0]).to.deep.equal({ ...HEAD, inputs: [LARGE] });
  });

  it("longQuestionWithTheInputsFirst_andManyLargeOnesAtOnce_areRefused", async () => {
    const { post } = served(() => undefined);
    const first = await post({ inputs: [LARGE], ...HEAD });
    expect(first).to.include({ status: 400 });
    expect(first.text).to.contain("the inputs come last");
    const many = await Promise.all(Array.from({ length: 12 }, () => post({ ...HEAD, inputs: [LARGE] })));
    for (const { status } of many) expect([200, 503]).to.include(status);
    expect((await post({ ...HEAD, inputs: [LARGE] })).status).to.equal(200);
  });

  it("questionsThatNeverEnd_takeOnlyTheRoomOfTheirBytes_whateverLengthTheyDeclare", async () => {
    let heads = 0;
    const { app, post } = served(() => void heads++);
    const begun = new TextEncoder().encode(`${JSON.stringify(HEAD).slice(0, -1)}, "inputs": ["AAAA`);
    const ends: (() => void)[] = [];
    const dribbling = Array.from({ length: 12 }, async (_, k) => {
      const headers: Record<string, string> = k % 2 === 0 ? {} : { "content-length": String(MAX_BODY_BYTES) };
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(begun);
          ends.push(() => controller.close());
        },
      });
      return app.request("/v1/answers", { method: "POST", headers, body, duplex: "half" });
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await post({ ...HEAD, inputs: [LARGE] })).status).to.equal(200);
    expect(heads).to.equal(dribbling.length + 1);
    for (const end of ends) end();
    for (const { status } of await Promise.all(dribbling)) expect(status).to.equal(400);
  });

  it("tooLargeQuestion_isRefused_alsoWithoutALength", async () => {
    const { app, post, answered } = served(() => undefined);
    const text = JSON.stringify({ ...HEAD, inputs: [LARGE, LARGE] });
    expect((await post(text)).status).to.equal(413);
    expect((await app.request("/v1/answers", { method: "POST", body: text })).status).to.equal(413);
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    });
    const endless = await app.request("/v1/answers", { method: "POST", body, duplex: "half" });
    expect(endless.status).to.equal(413);
    expect(answered).to.deep.equal([]);
  });

  it("fieldThatIsNoNumber_isRefused_ratherThanAFailure", async () => {
    const { post } = served(() => undefined);
    const { status, text } = await post({ ...HEAD, request: { ...HEAD.request, time: "1e5" }, inputs: [] });
    expect(status).to.equal(400);
    expect(text).to.contain("request.time");
  });
});
