import { expect } from "chai";
import fc from "fast-check";
import { ApiError } from "../../../src/parties/gateway/errors.ts";
import { readTextRequest } from "../../../src/parties/gateway/requests.ts";
import { StopText } from "../../../src/parties/gateway/stopText.ts";

const chat = { model: "m", messages: [{ role: "user", content: "x" }] };
const read = (more: object) => readTextRequest("chat", { ...chat, ...more }).request;

describe("requests for texts", () => {
  it("deepValues_areRefusedAsRequests", () => {
    const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as unknown;
    for (const more of [{ prompt: deep }, { prompt: "x", response_format: { type: deep } }])
      expect(() => readTextRequest("completion", { model: "m", ...more })).to.throw(ApiError);
    expect(readTextRequest("completion", { model: "m", prompt: [[5]] }).request.prompt).to.deep.equal([5]);
  });

  it("anyBody_isTaken_orRefusedAsARequest", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("chat", "completion"),
        fc.jsonValue(),
        fc.string(),
        fc.jsonValue(),
        (kind, a, b, c) => {
          for (const body of [
            a,
            { ...chat, prompt: "x", [b]: c },
            { ...chat, prompt: a, messages: c, stop: a, seed: c },
          ])
            try {
              const { request } = readTextRequest(kind, body);
              expect(request.temperature).to.equal(1);
            } catch (error) {
              expect(error).to.be.instanceOf(ApiError);
              expect((error as ApiError).status).to.equal(400);
            }
        },
      ),
    );
  });

  it("numbers_becomeTheNearestFloat32_andNoneIsOne", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 2, noNaN: true }), (temperature) => {
        expect(read({ temperature }).temperature).to.equal(Math.fround(temperature));
      }),
    );
    expect(read({})).to.include({ temperature: 1, topP: 1, seed: undefined, maxTokens: undefined });
    expect(read({ temperature: 0, top_p: 0.5 })).to.include({ temperature: 0, topP: 1 });
    expect(read({ top_p: 0 })).to.include({ temperature: 0, topP: 1 });
    expect(() => read({ temperature: 2 ** -21 })).to.throw(ApiError, "temperature");
    expect(read({ max_tokens: 9, max_completion_tokens: 5 }).maxTokens).to.equal(5);
  });

  it("null_isTakenForEveryKnownField", () => {
    const fields = [
      "temperature",
      "top_p",
      "seed",
      "stop",
      "max_tokens",
      "stream",
      "tools",
      "audio",
      "suffix",
      "logprobs",
    ];
    for (const field of fields) expect(() => read({ [field]: null }), field).not.to.throw();
  });
});

describe("texts with stops", () => {
  it("areCutAtTheFirstStop_howeverTheyArriveInPieces", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });
    const stops = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 3 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.array(letters), stops, (pieces, all) => {
        const cut = new StopText(all);
        let given = "";
        for (const piece of pieces) given += cut.next(piece);
        if (!cut.isStopped) given += cut.end();
        const text = pieces.join("");
        const ends = all.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
        // Of two stops that overlap the one that is complete first ends the text.
        const done = all.flatMap((stop) => (text.includes(stop) ? [text.indexOf(stop) + stop.length] : []));
        if (ends.length === 0) expect(given).to.equal(text);
        else expect(text.startsWith(given) && given.length <= Math.min(...done)).to.equal(true);
        expect(all.some((stop) => given.includes(stop))).to.equal(false);
      }),
    );
  });

  it("doNotDependOnThePieces", () => {
    const stop = ["abc", "bcd"];
    for (const pieces of [["xabcd"], ["xab", "cd"], ["x", "a", "b", "c", "d"]]) {
      const cut = new StopText(stop);
      expect(pieces.map((piece) => cut.next(piece)).join("")).to.equal("x");
    }
  });
});
