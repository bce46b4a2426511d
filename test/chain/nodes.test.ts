import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { HttpRequestError, LimitExceededRpcError, RpcRequestError, TimeoutError } from "viem";
import { createPublicClient, custom, keccak256, type Transport } from "viem";
import { connect } from "../../src/chain/connect.ts";
import { RpcUnavailableError, WrongChainError } from "../../src/chain/errors.ts";
import { httpNode } from "../../src/chain/node.ts";
import { Nodes, type RpcFailure } from "../../src/chain/nodes.ts";
import { translateError } from "../../src/chain/translateError.ts";
import { rejection } from "../../testkit/rejection.ts";

type Call = { id: number; method: string; params: unknown[] };

/** How a node answers. */
type Manner = (response: ServerResponse, call: Call) => void;

const answer = (response: ServerResponse, call: Call, result: unknown): void => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ jsonrpc: "2.0", id: call.id, result }));
};

/** A node of chain 1 that is at a height. */
const at =
  (height: number): Manner =>
  (response, call) => {
    if (call.method === "eth_chainId") return answer(response, call, "0x1");
    if (call.method === "eth_sendRawTransaction") return answer(response, call, keccak256(call.params[0] as "0x"));
    const number = `0x${height.toString(16)}`;
    const block = { number, hash: keccak256(number as "0x"), timestamp: "0x1", transactions: [] };
    answer(response, call, call.method === "eth_getBlockByNumber" ? block : number);
  };

/** Ways not to answer. */
const FAULTS = {
  "garbage in place of JSON": (response) =>
    void response.setHeader("content-type", "application/json").end('{"jsonrpc":'),
  "a page of HTML": (response) => void response.setHeader("content-type", "text/html").end("<h1>It works!</h1>"),
  "JSON that is no answer": (response) =>
    void response.setHeader("content-type", "application/json").end('{"ok":true}'),
  "another chain": (response, call) => answer(response, call, "0x5"),
  "HTTP 503": (response) => void response.writeHead(503).end(),
  "HTTP 429, come back in an hour": (response) => void response.writeHead(429, { "retry-after": "3600" }).end(),
  "a lost connection": (response) => void response.destroy(),
  silence: () => undefined,
  "one byte at a time": (response) => {
    response.setHeader("content-type", "application/json");
    const timer = setInterval(() => response.write(" "), 10);
    response.once("close", () => clearInterval(timer));
  },
} satisfies Record<string, Manner>;

/** What a node with a fault is waited for. */
const TIMEOUT_MS = 150;

/** What any other is: a busy machine takes its time. */
const PATIENCE_MS = 10_000;

describe("nodes that do not answer as they should", function () {
  const servers: Server[] = [];
  const serve = async (manner: Manner): Promise<string> => {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => void chunks.push(chunk));
      request.on("end", () => manner(response, JSON.parse(Buffer.concat(chunks).toString()) as Call));
    });
    servers.push(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const clientOf = async (...manners: Manner[]) => {
    const faults = new Set<Manner>(Object.values(FAULTS));
    const asked = manners.map(async (manner) =>
      httpNode(await serve(manner), faults.has(manner) ? TIMEOUT_MS : PATIENCE_MS),
    );
    const nodes = new Nodes(await Promise.all(asked), 1);
    return createPublicClient({ transport: nodes.transport, cacheTime: 0 });
  };
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  for (const [name, fault] of Object.entries(FAULTS)) {
    it(`${name}: anotherNodeIsAsked_andSentTo`, async function () {
      const client = await clientOf(fault, at(7));
      expect((await client.getBlock()).number).to.equal(7n);
      expect(await client.getTransactionCount({ address: `0x${"11".repeat(20)}` })).to.equal(7);
      expect(await client.sendRawTransaction({ serializedTransaction: "0x02" })).to.equal(keccak256("0x02"));
    });

    it(`${name}: aloneItIsAnErrorWithAName_soon`, async function () {
      const client = await clientOf(fault);
      const error = translateError(await rejection(client.getBlock()), "reading");
      expect(error).to.be.instanceOf(name === "another chain" ? WrongChainError : RpcUnavailableError);
    });
  }

  it("nodeThatIsSilentWhenAskedForItsChain_isAskedAgain_longBeforeItsTime", async function () {
    this.timeout(30_000);
    let asked = 0;
    const url = await serve((response, call) => {
      if (call.method !== "eth_chainId" || asked++ > 0) at(7)(response, call);
    });
    const nodes = new Nodes([httpNode(url, 60_000)], 1);
    const client = createPublicClient({ transport: nodes.transport, cacheTime: 0 });
    expect((await client.getBlock()).number).to.equal(7n);
    expect(asked).to.equal(2);
  });

  it("nodeThatStandsStill_orIsOnABranchThatWasLeft_leadsNobody", async function () {
    const client = await clientOf(at(5), at(9), FAULTS.silence);
    expect((await client.getBlock()).number).to.equal(9n);
    // What is read beside the head is read where the head is.
    expect(await client.getTransactionCount({ address: `0x${"11".repeat(20)}` })).to.equal(9);
  });

  it("nodeThatIsDownAtTheStart_isNeededOnlyIfItIsTheOnlyOne_butOneOfAnotherChainIsRefused", async function () {
    const down = "http://127.0.0.1:1";
    expect(await (await connect({ rpcUrls: [down, await serve(at(3))] }, 1)).getChainId()).to.equal(1);
    expect(await rejection(connect({ rpcUrls: [down] }, 1))).to.be.instanceOf(RpcUnavailableError);
    const rpcUrls = [await serve(at(3)), await serve(FAULTS["another chain"])];
    expect(await rejection(connect({ rpcUrls }, 1))).to.be.instanceOf(WrongChainError);
  });

  it("requestThatANodeRefused_isNotPutOffByTheHourItAskedFor", async function () {
    let refuse = true;
    const node: Transport = custom(
      {
        request: ({ method }: Call) =>
          refuse ? Promise.reject(tooMany()) : Promise.resolve(method === "eth_chainId" ? "0x1" : "0x2"),
      },
      { retryCount: 0 },
    );
    const now = performance.now.bind(performance);
    const client = createPublicClient({ transport: new Nodes([node], 1).transport });
    try {
      await rejection(client.getGasPrice());
      refuse = false;
      // As long as it rests it is not asked.
      await rejection(client.getGasPrice());
      performance.now = () => now() + 30_001;
      expect(await client.getGasPrice()).to.equal(2n);
    } finally {
      performance.now = now;
    }
  });
});

/** What the nodes of a `Nodes` are asked, and what goes wrong. */
function asked(...answers: ((call: Call, count: number) => unknown)[]) {
  const calls: string[] = [];
  const failures: RpcFailure[] = [];
  const transports = answers.map((answerOf, k) => {
    let count = 0;
    const request = async (call: Call): Promise<unknown> => {
      calls.push(`${k} ${call.method}`);
      await Promise.resolve();
      return call.method === "eth_chainId" ? "0x1" : answerOf(call, count++);
    };
    return custom({ request }, { retryCount: 0 });
  });
  const { transport } = new Nodes(transports, 1, (failure) => failures.push(failure));
  const client = createPublicClient({ transport, cacheTime: 0 });
  return { client, calls, failures };
}
const http = (status: number) => new HttpRequestError({ url: "http://node", status });
const fail = (error: Error): never => {
  throw error;
};

describe("single failures of a node", function () {
  const faults: [name: string, fault: () => unknown, reason: RegExp][] = [
    ["HTTP 429", () => fail(http(429)), /^HTTP 429$/],
    ["HTTP 500", () => fail(http(500)), /^HTTP 500$/],
    ["a time-out", () => fail(new TimeoutError({ body: {}, url: "http://node" })), /^no answer within 1 s$/],
    ["no answer", () => undefined, /not one of JSON-RPC/],
    ["a number that is none", () => "soon", /not one of JSON-RPC/],
  ];
  for (const [name, fault, reason] of faults)
    it(`${name}: theOnlyNodeIsAskedAgainAtOnce_andNotForItsChain`, async function () {
      const { client, calls, failures } = asked((_, count) => (count % 2 === 0 ? fault() : "0x7"));
      for (let k = 0; k < 3; k++) expect(await client.getGasPrice()).to.equal(7n);
      expect(calls.filter((call) => call === "0 eth_chainId")).to.have.length(1);
      expect(calls).to.have.length(7);
      expect(failures.map(({ node, method }) => `${node} ${method}`)).to.deep.equal(
        new Array(3).fill("endpoint 1 eth_gasPrice"),
      );
      for (const failure of failures) expect(failure.reason).to.match(reason);
    });

  it("connectionThatWasLost_hasTheNodeNameItsChainAgain", async function () {
    const lost = new HttpRequestError({
      url: "http://node",
      cause: Object.assign(new Error(), { code: "ECONNRESET" }),
    });
    const { client, calls, failures } = asked((_, count) => (count === 0 ? fail(lost) : "0x7"));
    expect(await client.getGasPrice()).to.equal(7n);
    expect(calls.filter((call) => call === "0 eth_chainId")).to.have.length(2);
    expect(failures).to.deep.equal([{ node: "endpoint 1", method: "eth_gasPrice", reason: "ECONNRESET" }]);
  });

  it("headBehindTheLastOne_isAskedForAgain_andBelievedIfItStays", async function () {
    const heights = [9, 5, 10, 6, 6, 6, 7];
    const { client } = asked((_, count) => {
      const number = `0x${heights[count]!.toString(16)}`;
      return { number, hash: keccak256("0x"), timestamp: "0x1", transactions: [] };
    });
    for (const height of [9n, 10n, 6n, 7n]) expect((await client.getBlock()).number).to.equal(height);
  });

  it("nodeThatIsSilent_isNotWaitedFor_ifAnotherAnswers", async function () {
    const silence = new Promise<never>(() => undefined);
    const { client, calls } = asked(
      () => silence,
      () => "0x7",
    );
    expect(await client.getGasPrice()).to.equal(7n);
    expect(calls.filter((call) => call.endsWith("eth_gasPrice"))).to.deep.equal(["0 eth_gasPrice", "1 eth_gasPrice"]);
  });

  it("logsOfManyBlocks_areAskedForOnce_whileTheyTakeLong", async function () {
    const { client, calls } = asked(async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return [];
    });
    expect(await client.getLogs({ fromBlock: 0n, toBlock: 1_999n })).to.deep.equal([]);
    expect(calls).to.deep.equal(["0 eth_chainId", "0 eth_getLogs"]);
  });

  it("logsThatAreTooMany_areNoCauseToAskAgain_butTooManyRequestsAre", async function () {
    const limited = (message: string) =>
      new LimitExceededRpcError(
        new RpcRequestError({ body: {}, url: "http://node", error: { code: -32_005, message } }),
      );
    const much = asked(() => fail(limited("query returned more than 10000 results")));
    await rejection(much.client.getLogs({ fromBlock: 0n, toBlock: 9n }));
    expect(much.calls).to.deep.equal(["0 eth_chainId", "0 eth_getLogs"]);
    const often = asked((_, count) => (count === 0 ? fail(limited("too many requests")) : []));
    expect(await often.client.getLogs({ fromBlock: 0n, toBlock: 9n })).to.deep.equal([]);
  });

  it("noNodeAtAll_isRefusedAtOnce", async function () {
    expect(await rejection(connect({ rpcUrls: [] }, 1))).to.have.property("code", "NO_NODE");
  });

  it("chainIdThatIsNoNumber_asInPlainJavaScript_isRefusedAtOnce", async function () {
    const error = await rejection(connect({ rpcUrls: ["http://127.0.0.1:1"] }, "31337" as unknown as number));
    expect(error.message).to.equal("chainId 31337: expected a number, such as 1");
  });

  it("error_namesHostAndCause_butNoPath", async function () {
    const closed = createServer();
    await new Promise<void>((resolve) => void closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const transport = new Nodes([httpNode(`http://127.0.0.1:${port}/secret-token`)], 1).transport;
    const client = createPublicClient({ transport, cacheTime: 0 });
    const { message } = translateError(await rejection(client.getGasPrice()), "reading");
    expect(message).to.equal(`reading: http://127.0.0.1:${port} gives no answer to eth_chainId: ECONNREFUSED`);
  });
});

const tooMany = () =>
  new HttpRequestError({ url: "http://node", status: 429, headers: new Headers({ "retry-after": "3600" }) });
