import { expect } from "chai";
import {
  createPublicClient,
  custom,
  HttpRequestError,
  encodeErrorResult,
  numberToHex,
  parseAbi,
  RpcRequestError,
  zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { connect } from "../../src/chain/connect.ts";
import { ContractRevertError, FeeCapError, RpcUnavailableError } from "../../src/chain/errors.ts";
import { Nodes, type RpcFailure } from "../../src/chain/nodes.ts";
import { capIn } from "../../src/chain/refusals.ts";
import { Sender } from "../../src/chain/sender.ts";
import { translateError } from "../../src/chain/translateError.ts";
import { exitStatusOf } from "../../src/cli/exitStatus.ts";
import type { FaultyProxy, Seen } from "../../testkit/nodes/faultyProxy.ts";
import { GWEI, MempoolNode } from "../../testkit/nodes/mempoolNode.ts";
import { FAILURES, type NodeFaults } from "../../testkit/nodes/nodeFaults.ts";
import { useProxy } from "../../testkit/nodes/useProxy.ts";
import { rejection } from "../../testkit/rejection.ts";

/** What balancers and providers say when they are busy: code and message. */
const BUSY: readonly (readonly [number, string])[] = [
  [-32_011, "no backends available for method"],
  [-32_014, "backend is currently not healthy to serve traffic"],
  [-32_603, "Internal error"],
  [-32_000, "block not found: 0x1234"],
  [-32_001, "Unknown block"],
  [-32_000, "exceeded quota usage"],
  [-32_005, "project ID request rate exceeded"],
  [429, "Your app has exceeded its compute units per second capacity."],
  [-32_090, "Too many requests, reason: call rate limit exhausted, retry in 10s"],
  [-32_002, "request timed out"],
  [-32_055, "reverted batch limit"],
  [-32_005, "method call exceeds concurrency limit"],
  [-32_007, "50/second request limit reached - reduce calls per second or upgrade your account"],
  [-32_004, "rate limit exceeded"],
  [-32_602, "header not found"],
  [-32_601, "no backends available for method eth_call"],
  [-32_000, "words that nobody has seen before"],
  [-32_700, "parse error"],
];
const abi = parseAbi(["function move(uint256 number)", "error Late(uint256 by)"]);
const call = { address: zeroAddress, abi, functionName: "move", args: [1n] } as const;
const account = privateKeyToAccount(`0x${"22".repeat(32)}`);

const rpcError = (code: number, message: string, data?: unknown) =>
  new RpcRequestError({ body: {}, url: "http://node", error: { code, message, data } });

/** A node that gives some errors before the answer. */
function failing(answer: unknown, ...errors: Error[]) {
  const calls: string[] = [];
  const failures: RpcFailure[] = [];
  const request = ({ method }: { method: string }): Promise<unknown> => {
    if (method === "eth_chainId") return Promise.resolve("0x1");
    calls.push(method);
    const error = errors.shift();
    return error === undefined ? Promise.resolve(answer) : Promise.reject(error);
  };
  const nodes = new Nodes([custom({ request }, { retryCount: 0 })], 1, (failure) => failures.push(failure));
  return { client: createPublicClient({ transport: nodes.transport, cacheTime: 0 }), calls, failures };
}

describe("errors of nodes", function () {
  for (const [code, message] of BUSY)
    it(`${code} ${message}: theReadIsMadeAgain_andCounted`, async function () {
      const { client, calls, failures } = failing("0x7", rpcError(code, message));
      const logs = failing([], rpcError(code, message)).client.getLogs({ fromBlock: 0n, toBlock: 9n });
      expect(await client.getGasPrice()).to.equal(7n);
      expect([calls.length, failures.length]).to.deep.equal([2, 1]);
      expect(await logs).to.deep.equal([]);
    });

  it("internalErrorWithoutEnd_isNoRevert_butANodeThatIsNotThere_withExitStatus3", async function () {
    const { client } = failing(undefined, ...Array.from({ length: 99 }, () => rpcError(-32_603, "Internal error")));
    const error = translateError(await rejection(client.simulateContract(call)), "move");
    expect(error).to.be.instanceOf(RpcUnavailableError);
    expect(error.message).to.contain("-32603 (Internal error)");
    expect(exitStatusOf(error)).to.equal(3);
  });

  const data = encodeErrorResult({ abi, errorName: "Late", args: [5n] });
  for (const [name, error] of Object.entries({
    "code 3": rpcError(3, "execution reverted", data),
    "an internal error with the data": rpcError(-32_603, "Internal error", data),
    "data within data": rpcError(-32_603, "Error", { message: "revert", data }),
    "words alone": rpcError(-32_000, "execution reverted"),
    "an execution that ends otherwise": rpcError(-32_000, "invalid opcode: INVALID"),
  }))
    it(`revert, ${name}: isAnAnswer_atOnce`, async function () {
      const { client, calls } = failing("0x", error);
      const thrown = translateError(await rejection(client.simulateContract(call)), "move");
      expect(thrown).to.be.instanceOf(ContractRevertError);
      expect(calls).to.have.length(1);
    });

  it("methodThatANodeLacks_isAskedForOnce_andNamed", async function () {
    for (const [code, message] of [
      [-32_601, "the method eth_gasPrice does not exist/is not available"],
      [-32_602, "invalid argument 0: hex string without 0x prefix"],
    ] as const) {
      const { client, calls } = failing("0x7", rpcError(code, message));
      const error = translateError(await rejection(client.getGasPrice()), "reading");
      expect(error).to.be.instanceOf(RpcUnavailableError);
      expect(error.message).to.contain("does not serve eth_gasPrice").and.to.contain("use another node");
      expect(calls).to.have.length(1);
    }
  });

  it("methodThatOneNodeLacks_isAskedOfTheOther_alsoIfThatOneRestsFirst_andNotWithoutEndIfItIsDown", async function () {
    const asked: string[] = [];
    const nodeOf = (name: string, answer: (calls: number) => Promise<unknown>) => {
      const request = ({ method }: { method: string }): Promise<unknown> => {
        if (method === "eth_chainId") return Promise.resolve("0x1");
        asked.push(name);
        return answer(asked.filter((one) => one === name).length);
      };
      return custom({ request }, { retryCount: 0 });
    };
    const http = (status: number, headers = {}) =>
      new HttpRequestError({ url: "http://node", status, headers: new Headers(headers) });
    const lacks = nodeOf("lacks", () => Promise.reject(rpcError(-32_601, "the method eth_gasPrice does not exist")));
    const rests = nodeOf("rests", (calls) =>
      calls === 1 ? Promise.reject(http(429, { "retry-after": "0.3" })) : Promise.resolve("0x7"),
    );
    const down = nodeOf("down", () => Promise.reject(http(503)));
    const clientOf = (...nodes: (typeof down)[]) =>
      createPublicClient({ transport: new Nodes(nodes, 1).transport, cacheTime: 0 });
    expect(await clientOf(lacks, rests).getGasPrice()).to.equal(7n);
    expect(asked.splice(0)).to.deep.equal(["lacks", "rests", "rests"]);
    const error = translateError(await rejection(clientOf(lacks, down).getGasPrice()), "reading");
    expect(error.message).to.contain("does not serve eth_gasPrice");
    expect(asked).to.deep.equal(["lacks", "down", "down"]);
  });

  it("capOfANode_lowersTheMaximumFee_whileItCoversTheBaseFee_andIsNamedOtherwise", async function () {
    const node = new MempoolNode();
    const sender = new Sender(await connect(node, 1), account, { pollingMs: 5, slowMs: 20_000, longestMs: 60_000 });
    node.baseFee = 100n * GWEI;
    let asked = 0;
    node.refuses = () =>
      asked++ === 0 ? rpcError(-32_000, "tx fee (0.01 ether) exceeds the configured cap (0.01 ether)") : undefined;
    const mining = setInterval(() => node.mine(), 10);
    try {
      await sender.send(call);
      expect(node.mined[0]!.maxFee >= node.baseFee).to.equal(true);
      expect(node.mined[0]!.maxFee < 120n * GWEI).to.equal(true);
      node.refuses = () => rpcError(-32_000, "tx fee (1.63 ether) exceeds the configured cap (0.00 ether)");
      const error = await rejection(sender.send({ ...call, args: [2n] }));
      expect(error).to.be.instanceOf(FeeCapError);
      expect(error.message).to.contain("--rpc.txfeecap");
      expect(exitStatusOf(error)).to.equal(1);
    } finally {
      clearInterval(mining);
    }
    expect(capIn("tx fee (1.63 ether) exceeds the configured cap (1.00 ether)")).to.equal(10n ** 18n);
  });

  it("transactionThatANodeRefusesInUnknownWords_isOfferedAgain_andANodeThatIsNotThereInTheEnd", async function () {
    const node = new MempoolNode();
    const sender = new Sender(await connect(node, 1), account, { pollingMs: 5, slowMs: 20_000, longestMs: 60_000 });
    node.refuses = () => rpcError(-32_603, "Internal error");
    const error = await rejection(sender.send(call));
    expect(error).to.be.instanceOf(RpcUnavailableError);
    expect(error.message).to.contain("Internal error");
    expect(node.offers).to.equal(5);
    let refusals = 2;
    node.refuses = () => (refusals-- > 0 ? rpcError(-32_000, "upstream timed out") : undefined);
    const mining = setInterval(() => node.mine(), 10);
    await sender.send(call).finally(() => clearInterval(mining));
    expect(node.mined).to.have.length(1);
  });
});

describe("a client of the proxy before anvil", function () {
  let onCall: (call: Seen) => void = () => undefined;
  const at = useProxy((seen) => onCall(seen));
  let proxy: FaultyProxy;
  const failures: RpcFailure[] = [];

  before(async () => {
    ({ proxy } = at());
    await at().anvil.request("anvil_mine", [numberToHex(9)]);
  });
  beforeEach(() => void failures.splice(0));

  /** A client that is connected before the faults, which the first request meets alone. */
  async function withFaultsOnce(faults: NodeFaults) {
    [proxy.faults, onCall] = [{}, () => undefined];
    const client = await connect({ rpcUrls: [proxy.url] }, 31_337, (failure) => failures.push(failure));
    // A client that knows how long answers take asks a silent node again sooner.
    for (let k = 0; k < 20; k++) await client.getBlockNumber();
    const asked: number[] = [];
    onCall = ({ at }) => (proxy.faults = asked.push(at) === 1 ? faults : {});
    return { client, asked };
  }

  for (const failure of FAILURES.filter((kind) => !kind.endsWith("pause")))
    it(`${failure}: aReadSucceedsAtTheSecondTry`, async function () {
      const { client } = await withFaultsOnce({ errorRate: 1, failures: [failure] });
      expect(await client.getBalance({ address: zeroAddress })).to.equal(0n);
      if (failure !== "time-out")
        expect(failures.filter(({ method }) => method === "eth_getBalance")).to.have.length(1);
    });

  for (const [kind, pauseSeconds] of [
    ["429 with a pause", 1],
    ["503 with a pause", 3],
  ] as const)
    it(`${kind}: theNodeIsNotAskedBeforeThePauseIsOver_andThePauseIsNoAttempt`, async function () {
      const { client, asked } = await withFaultsOnce({ errorRate: 1, failures: [kind], pauseSeconds });
      expect(await client.getBalance({ address: zeroAddress })).to.equal(0n);
      expect(asked).to.have.length(2);
      expect(asked[1]! - asked[0]!).to.be.at.least(1_000 * pauseSeconds - 100);
    });

  it("answerToAnotherRequest_isNotBelieved", async function () {
    const { client } = await withFaultsOnce({});
    onCall = () => undefined;
    const { timestamp } = await client.getBlock({ blockNumber: 3n });
    proxy.faults = { crossedRate: 0.5 };
    for (let k = 0; k < 3; k++) {
      expect(await client.getBalance({ address: zeroAddress })).to.equal(0n);
      expect((await client.getBlock({ blockNumber: 3n })).timestamp).to.equal(timestamp);
      expect(await client.getBlockNumber()).to.equal(9n);
    }
    expect(failures.some(({ reason }) => reason.includes("another request"))).to.equal(true);
  });
});
