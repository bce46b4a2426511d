import { expect } from "chai";
import {
  HttpRequestError,
  LimitExceededRpcError,
  ResponseBodyTooLargeError,
  RpcRequestError,
  TimeoutError,
  parseAbi,
} from "viem";
import { LogStore } from "../../src/chain/logStore.ts";
import { refusalOf, SpanLimit } from "../../src/chain/spanLimit.ts";
import { LogNode, rpcError } from "../../testkit/nodes/logNode.ts";

const abi = parseAbi(["event Ping(uint256 value)"]);
const storeOf = (node: LogNode) => new LogStore(node.source, [], abi, 0n);

/** Brings a limit to rest before a node: what it asks for then, and how often it was refused. */
function learn(takes: number, words = "no"): { span: bigint; refusals: number } {
  const limit = new SpanLimit();
  let refusals = 0;
  for (let more = 0; more < 20; more += limit.isTried() ? 1 : 0) {
    const span = limit.next(1_000_000n);
    if (span <= takes) limit.accepted(span);
    else {
      const refusal = refusalOf(rpcError(words));
      limit.refused(span, refusal?.kind === "span" ? refusal.named : []);
      refusals++;
    }
  }
  return { span: limit.span, refusals };
}

describe("limits of getLogs", function () {
  for (const [words, limit] of [
    ["You can make eth_getLogs requests with up to a 10 block range.", 10],
    ["eth_getLogs is limited to a 1000 block range", 1_000],
    ["eth_getLogs is limited to a 1,000 range", 1_000],
    ["exceed maximum block range: 50", 50],
    ["block range is too wide (maximum 100)", 100],
    ["requested too many blocks from 0 to 1999, maximum is set to 1024", 1_024],
    ["ranges over 500 blocks are not supported", 500],
    ["query exceeds max block range 800", 800],
    ["You can make eth_getLogs requests with up to a 1K block range", 1_000],
  ] as const)
    it(`nodeThatSays_${words}_isAskedForThatAfterOneRefusal`, function () {
      expect(learn(limit, words)).to.deep.equal({ span: BigInt(limit), refusals: 1 });
    });

  it("nodeThatDoesNotSayItsLimit_isAskedForAtLeastEightNinthsOfIt_afterFewRefusals", function () {
    for (let takes = 1; takes < 2_000; takes++) {
      const { span, refusals } = learn(takes);
      expect(Number(span), `limit ${takes}`).to.be.within((takes * 8) / 9, takes);
      expect(refusals, `limit ${takes}`).to.be.at.most(11);
    }
  });

  it("nodeWhoseWordsAreWrong_isAskedForAlmostWhatItTakes", function () {
    // More than it takes, and words about the request.
    for (const words of [
      "maximum block range: 400",
      "range 0 - 1999 too large",
      "0 blocks",
      "99999999999999999 blocks",
    ])
      expect(Number(learn(300, words).span), words).to.be.within(267, 300);
  });

  it("refusals_areToldApart", function () {
    const timeout = new TimeoutError({ body: {}, url: "http://node" });
    const tooLarge = new ResponseBodyTooLargeError({ maxSize: 1, size: 2 });
    const http = (status: number) => new HttpRequestError({ body: {}, status, url: "http://node" });
    const limitExceeded = (message: string) =>
      new LimitExceededRpcError(new RpcRequestError({ body: {}, error: { code: -32_005, message }, url: "" }));
    for (const error of [
      timeout,
      tooLarge,
      limitExceeded("query returned more than 10000 results. Try with this block range [0x1, 0x2]."),
      rpcError("Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range"),
      rpcError("query exceeds max results 20000, retry with the range 24383075-24383096"),
      rpcError("query timed out"),
    ])
      expect(refusalOf(error)?.kind, error.message).to.equal("logs");
    for (const error of [rpcError("block range extends beyond current head block"), rpcError("header not found")])
      expect(refusalOf(error)?.kind, error.message).to.equal("behind");
    for (const error of [
      http(429),
      rpcError("slow down", 429),
      limitExceeded("daily request count exceeded, request rate limited"),
      new Error("any other"),
      new HttpRequestError({ body: {}, url: "http://node", details: "fetch failed" }),
    ])
      expect(refusalOf(error), error.message).to.equal(undefined);
    for (const error of [http(413), http(500), rpcError("no")]) expect(refusalOf(error)?.kind).to.equal("span");
  });

  it("limitThatRises_isNoticed_andTriesBecomeRarerWhileItDoesNot", async function () {
    const node = new LogNode(20_000);
    node.limit = 10;
    const store = storeOf(node);
    const first = await node.measure(store.sync());
    expect(first.refused).to.be.at.most(20);
    node.limit = 5_000;
    node.height += 40_000;
    expect((await node.measure(store.sync())).getLogs).to.be.below(2_500);
    node.height += 200_000;
    expect((await node.measure(store.sync())).getLogs).to.be.below(110);
  });

  it("limitOfOneBlockOfThousands_isNotLearntFromANodeThatRefusesEverything", async function () {
    const node = new LogNode(5_000);
    const store = storeOf(node);
    node.limit = 0;
    let failure: unknown;
    await node.measure(store.sync().catch((error: unknown) => (failure = error)));
    expect(failure).to.be.instanceOf(Error);
    node.limit = Infinity;
    expect((await node.measure(store.sync())).getLogs).to.be.at.most(5);
  });
});
