import { expect } from "chai";
import { numberToHex, parseGwei, type Hex } from "viem";
import { privateKeyToAccount, generatePrivateKey } from "viem/accounts";
import type { Anvil } from "../../src/deploy/devnet/anvil.ts";
import { askNode } from "../../src/deploy/devnet/askNode.ts";
import type { FaultyProxy } from "../../testkit/nodes/faultyProxy.ts";
import type { NodeFaults } from "../../testkit/nodes/nodeFaults.ts";
import { useProxy } from "../../testkit/nodes/useProxy.ts";
import { rejection } from "../../testkit/rejection.ts";

describe("the proxy before anvil", function () {
  const account = privateKeyToAccount(generatePrivateKey());
  const at = useProxy();
  let anvil: Anvil;
  let proxy: FaultyProxy;

  before(async () => {
    ({ anvil, proxy } = at());
    await anvil.request("anvil_setBalance", [account.address, numberToHex(10n ** 18n)]);
    await anvil.request("anvil_mine", [numberToHex(100)]);
  });

  const ask = (method: string, params: readonly unknown[] = []) => askNode(proxy.url, method, params);
  const post = (body: unknown) => fetch(proxy.url, { method: "POST", body: JSON.stringify(body) });
  const call = { jsonrpc: "2.0", id: 7, method: "eth_blockNumber", params: [] };
  const having = (faults: NodeFaults) => (proxy.faults = faults);
  const send = async (fields: {
    gas?: bigint;
    maxFeePerGas?: bigint;
    maxPriorityFeePerGas?: bigint;
    nonce?: number;
  }) => {
    const usual = { gas: 21_000n, maxFeePerGas: parseGwei("100"), maxPriorityFeePerGas: 1n, nonce: 0 };
    const to = "0x000000000000000000000000000000000000dEaD";
    return ask("eth_sendRawTransaction", [
      await account.signTransaction({ type: "eip1559", chainId: 31_337, to, value: 1n, ...usual, ...fields }),
    ]) as Promise<Hex>;
  };

  it("requestsAndBatches_areAnswered", async function () {
    having({});
    const head = await ask("eth_blockNumber");
    const batch = (await (await post([call, { ...call, id: 8 }])).json()) as { id: number; result: Hex }[];
    expect(batch).to.deep.equal([7, 8].map((id) => ({ jsonrpc: "2.0", id, result: head })));
  });

  it("tooManyBlocksOfLogs_areRefusedInTheProvidersWords", async function () {
    having({ logSpan: { blocks: 10, provider: "alchemy" } });
    const logs = (toBlock: number) => ask("eth_getLogs", [{ fromBlock: "0x1", toBlock: numberToHex(toBlock) }]);
    expect(await logs(10)).to.deep.equal([]);
    const { code, message } = await rejection(logs(11));
    expect(code).to.equal(-32_600);
    expect(message).to.contain("up to a 10 block range").and.to.contain("[0x1, 0xa]");
  });

  it("everyFailure_isSeenByTheClient", async function () {
    having({ errorRate: 1, failures: ["429 with a pause"] });
    const refused = await post(call);
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([429, "1"]);
    having({ errorRate: 1, failures: ["500"] });
    expect((await post(call)).status).to.equal(500);
    having({ errorRate: 1, failures: ["cut"] });
    await rejection(post(call));
    having({ isDown: true });
    await rejection(post(call));
    having({ callsPerSecond: 0 });
    expect((await post(call)).status).to.equal(429);
  });

  it("nodeThatLags_showsAnOlderHead", async function () {
    having({});
    const head = Number(await ask("eth_blockNumber"));
    having({ staleRate: 1, staleBlocks: 4 });
    expect(Number(await ask("eth_blockNumber"))).to.equal(head - 4);
    expect(await ask("eth_getBlockByNumber", [numberToHex(head), false])).to.equal(null);
  });

  it("transactions_meetTheRulesOfRealPools", async function () {
    having({});
    expect((await rejection(send({ gas: 2n ** 24n + 1n }))).message).to.contain("gas limit too high");
    expect((await rejection(send({ maxPriorityFeePerGas: 0n }))).message).to.contain("underpriced");
    // One that cannot be paid for in the next block waits, and is mined when blocks are cheap again.
    await anvil.request("anvil_setNextBlockBaseFeePerGas", [numberToHex(parseGwei("200"))]);
    const hash = await send({});
    expect(await ask("eth_getTransactionReceipt", [hash])).to.equal(null);
    await anvil.request("anvil_setNextBlockBaseFeePerGas", [numberToHex(parseGwei("1"))]);
    let receipt: unknown = null;
    while (receipt === null) receipt = await ask("eth_getTransactionReceipt", [hash]);
    expect((await rejection(send({ nonce: 0 }))).message).to.contain("nonce too low");
  });
});
