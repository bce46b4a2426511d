import { expect } from "chai";
import { network } from "hardhat";
import { keccak256, numberToHex, parseEther, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { ETHEREUM_LIMITS, ROLLUP_MAX_BYTES, type PoolLimits } from "../../testkit/nodes/poolRules.ts";
import { rejection } from "../../testkit/rejection.ts";

const GWEI = 10n ** 9n;
const TO = "0x000000000000000000000000000000000000dEaD";
const PLAIN = { to: TO, value: 1n, gas: 21_000n, maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI } as const;

type Fields = Partial<{
  to: Hex | null;
  data: Hex;
  gas: bigint;
  value: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}>;

describe("the pool before the embedded chain", function () {
  const account = privateKeyToAccount(generatePrivateKey());
  let connection: Awaited<ReturnType<typeof network.create>>;
  const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
    connection.provider.request({ method, params }) as Promise<T>;
  const limit = (changed: Partial<Record<keyof PoolLimits, Hex>>) => ask("pool_setLimits", changed);
  const count = async (tag: string) => Number(await ask<Hex>("eth_getTransactionCount", account.address, tag));
  const waiting = async () => {
    const { pending, queued } = await ask<{ pending: Hex; queued: Hex }>("txpool_status");
    return { pending: Number(pending), queued: Number(queued) };
  };

  beforeEach(async function () {
    connection = await network.create();
    await ask("hardhat_setBalance", account.address, numberToHex(parseEther("10")));
  });
  afterEach(() => connection.close());

  const sign = (nonce: number, fields: Fields = {}): Promise<Hex> => {
    const { to, ...others } = { ...PLAIN, ...fields };
    const receiver = to === null ? {} : { to };
    return account.signTransaction({ type: "eip1559", chainId: 31_337, nonce, ...receiver, ...others });
  };
  const send = async (nonce: number, fields: Fields = {}) =>
    ask<Hex>("eth_sendRawTransaction", await sign(nonce, fields));
  const refusal = async (nonce: number, fields: Fields = {}): Promise<string> => {
    const error = await rejection(send(nonce, fields));
    expect(error).to.include({ code: -32_000 });
    return error.message;
  };

  /** A call whose signed transaction has a number of bytes. Signatures differ in length, rarely. */
  const sized = async (bytes: number): Promise<Fields> => {
    for (let value = 1n, length = bytes - 120; ; value++) {
      const fields: Fields = { data: `0x${"00".repeat(length)}`, gas: 2_000_000n, value };
      const missing = bytes - (await sign(0, fields)).length / 2 + 1;
      if (missing === 0) return fields;
      length += missing;
    }
  };

  it("transactionOfTheLargestSize_isMined_andOneByteMore_isRefused", async function () {
    const { maxBytes } = ETHEREUM_LIMITS;
    const message = await refusal(0, await sized(maxBytes + 1));
    expect(message).to.equal("oversized data: transaction size 131073, limit 131072");
    await send(0, await sized(maxBytes));
    expect(await count("latest")).to.equal(1);
  });

  it("sizeLimitOfARollup_canBeSet_andUnknownLimits_areRefused", async function () {
    await limit({ maxBytes: numberToHex(ROLLUP_MAX_BYTES) });
    expect(await refusal(0, await sized(ROLLUP_MAX_BYTES + 1))).to.contain("limit 95000");
    await send(0, await sized(ROLLUP_MAX_BYTES));
    expect((await rejection(ask("pool_setLimits", { bytes: "0x1" }))).message).to.contain("no limit bytes");
  });

  it("gasAboveTheCapOrTheBlock_orBelowWhatTheDataCosts_isRefused", async function () {
    expect(await refusal(0, { gas: 2n ** 24n + 1n })).to.match(/^transaction gas limit too high/);
    await limit({ blockGas: numberToHex(1_000_000n) });
    expect(await refusal(0, { gas: 1_000_001n })).to.equal("exceeds block gas limit");
    expect(await refusal(0, { gas: 20_999n })).to.equal("intrinsic gas too low: gas 20999, minimum needed 21000");
    // 21,000, and 10 for a zero byte and 40 for another (EIP-7623): more than 4 and 16.
    const data = `0x${"00".repeat(100)}${"01".repeat(100)}` as const;
    expect(await refusal(0, { data, gas: 25_999n })).to.match(/floor data gas cost: gas 25999, minimum needed 26000/);
    await send(0, { data, gas: 26_000n });
  });

  it("initCode_aboveItsLimit_isRefused", async function () {
    const create = (bytes: number): Fields => ({
      to: null,
      value: 0n,
      data: `0x${"00".repeat(bytes)}`,
      gas: 3_000_000n,
    });
    expect(await refusal(0, create(49_153))).to.equal("max initcode size exceeded: code size 49153, limit 49152");
    await send(0, create(49_152));
    expect(await count("latest")).to.equal(1);
  });

  it("tipBelowTheFloor_isRefused", async function () {
    expect(await refusal(0, { maxPriorityFeePerGas: 0n })).to.match(/^transaction underpriced/);
    await limit({ minTip: numberToHex(2n * GWEI) });
    expect(await refusal(0)).to.match(/^transaction underpriced/);
    await send(0, { maxPriorityFeePerGas: 2n * GWEI });
  });

  it("nonceThatIsTaken_isTooLow", async function () {
    await send(0);
    expect(await refusal(0, { value: 2n })).to.equal("nonce too low: next nonce 1, tx nonce 0");
  });

  it("transactionBehindAGap_waitsUntilTheGapIsFilled", async function () {
    const hash = await send(2);
    await send(1);
    expect(await waiting()).to.deep.equal({ pending: 0, queued: 2 });
    expect([await count("latest"), await count("pending")]).to.deep.equal([0, 0]);
    expect(await ask("eth_getTransactionByHash", hash)).to.include({ hash, nonce: "0x2", blockNumber: null });
    expect(await ask("eth_getTransactionReceipt", hash)).to.equal(null);
    await send(0);
    expect(await waiting()).to.deep.equal({ pending: 0, queued: 0 });
    expect(await count("latest")).to.equal(3);
    expect(await ask("eth_getTransactionReceipt", hash)).to.include({ status: "0x1" });
  });

  it("maximumFeeBelowTheBaseFee_waitsForACheaperBlock", async function () {
    await ask("hardhat_setNextBlockBaseFeePerGas", numberToHex(50n * GWEI));
    await send(0, { maxFeePerGas: 10n * GWEI });
    await send(1, { maxFeePerGas: 60n * GWEI });
    expect([await count("latest"), await count("pending")]).to.deep.equal([0, 2]);
    expect(await waiting()).to.deep.equal({ pending: 2, queued: 0 });
    await ask("hardhat_setNextBlockBaseFeePerGas", numberToHex(5n * GWEI));
    expect(await count("latest")).to.equal(2);
  });

  it("replacement_needsATenthMoreOfBothFees_andTheSameTransaction_isKnown", async function () {
    const first = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: 10n * GWEI };
    await send(1, first);
    expect(await refusal(1, first)).to.equal("already known");
    for (const [maxFee, tip] of [
      [200n * GWEI, 11n * GWEI - 1n],
      [110n * GWEI - 1n, 20n * GWEI],
    ] as const) {
      const fields = { maxFeePerGas: maxFee, maxPriorityFeePerGas: tip };
      expect(await refusal(1, fields)).to.equal("replacement transaction underpriced");
    }
    const raised = await send(1, { maxFeePerGas: 110n * GWEI, maxPriorityFeePerGas: 11n * GWEI });
    expect(await waiting()).to.deep.equal({ pending: 0, queued: 1 });
    await send(0);
    expect(await ask("eth_getTransactionReceipt", raised)).to.include({ status: "0x1" });
  });

  it("costsAboveTheBalance_togetherWithWhatWaits_areRefused", async function () {
    expect(await refusal(0, { value: parseEther("10") })).to.match(/^insufficient funds for gas \* price \+ value/);
    await send(1, { value: parseEther("6") });
    expect(await refusal(2, { value: parseEther("6") })).to.match(/^insufficient funds/);
    await send(0, { value: parseEther("3") });
    expect(await count("latest")).to.equal(2);
  });

  it("waitingTransactions_goBackWithTheChain", async function () {
    await send(1);
    const snapshot = await ask("evm_snapshot");
    await send(0);
    await send(3);
    expect(await ask("evm_revert", snapshot)).to.equal(true);
    expect(await waiting()).to.deep.equal({ pending: 0, queued: 1 });
    await send(0);
    expect(await count("latest")).to.equal(2);
  });

  it("transactionThatReverts_isMined_andWhatWaitsBehindIt_too", async function () {
    const { contractAddress } = await ask<{ contractAddress: Hex }>(
      "eth_getTransactionReceipt",
      // Creates a contract whose code is one invalid instruction.
      await send(0, { to: null, value: 0n, data: "0x60fe60005360016000f3", gas: 100_000n }),
    );
    await send(2);
    const raw = await sign(1, { to: contractAddress, gas: 50_000n });
    await rejection(ask("eth_sendRawTransaction", raw));
    expect(await ask("eth_getTransactionReceipt", keccak256(raw))).to.include({ status: "0x0" });
    expect(await count("latest")).to.equal(3);
  });

  it("transactionThatTheNodeSigns_meetsTheLimitsOfSizeAndGas", async function () {
    const [from] = await ask<Hex[]>("eth_accounts");
    const sent = (fields: Record<string, string>) => ask("eth_sendTransaction", { from, to: TO, ...fields });
    const { message } = await rejection(sent({ data: `0x${"00".repeat(131_072)}` }));
    expect(message).to.match(/^oversized data: transaction size 1311\d\d, limit 131072$/);
    expect((await rejection(sent({ gas: numberToHex(2n ** 24n + 1n) }))).message).to.match(/^transaction gas limit/);
    await sent({ data: `0x${"00".repeat(130_900)}` });
  });
});
