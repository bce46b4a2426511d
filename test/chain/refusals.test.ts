import { expect } from "chai";
import { HttpRequestError, LimitExceededRpcError, RpcRequestError } from "viem";
import { refusalIn, refusalOf, WORDS, type Refusal } from "../../src/chain/refusals.ts";
import { isUnavailable } from "../../src/chain/translateError.ts";

/** What makes of nodes say, by what it means. */
const SAID: Readonly<Record<Refusal, readonly (readonly [make: string, words: string])[]>> = {
  known: [
    ["geth", "already known"],
    ["nethermind, older", "AlreadyKnown"],
    ["anvil", "Tx: [0x12] already Imported"],
    ["besu", "Known transaction"],
    ["hardhat", "Known transaction: 0x12"],
    ["erigon", "existing txn with same hash"],
  ],
  replacement: [
    ["geth", "replacement transaction underpriced"],
    ["geth, newer", "replacement transaction underpriced: new tx gas fee cap 5 <= 6 queued"],
    ["besu", "Replacement transaction underpriced"],
    [
      "hardhat",
      "Replacement transaction underpriced. A gasPrice/maxFeePerGas of at least 22 is necessary to replace it",
    ],
    ["nethermind, older", "ReplacementNotAllowed"],
    ["anvil", "Tx: [0x12] insufficient gas price to replace existing transaction"],
    ["erigon", "could not replace existing tx"],
    ["a provider", "replacement fee too low"],
  ],
  baseFee: [
    ["geth", "max fee per gas less than block base fee: address 0x12, maxFeePerGas: 1, baseFee: 875000000"],
    ["anvil", "max fee per gas less than block base fee"],
    ["geth, older", "fee cap less than block base fee"],
    ["besu", "Gas price below current base fee"],
    ["hardhat", "Transaction maxFeePerGas (1) is too low for the next block, which has a baseFeePerGas of 875000000"],
  ],
  underpriced: [
    ["geth", "transaction underpriced: gas tip cap 1, minimum needed 1000000"],
    ["erigon", "underpriced"],
    ["erigon", "fee too low"],
    ["nethermind, older", "FeeTooLowToCompete"],
    ["besu", "Gas price below configured minimum gas price"],
    ["reth", "transaction priority fee below minimum required priority fee 1"],
  ],
  nonceTooLow: [
    ["geth", "nonce too low: next nonce 2, tx nonce 1"],
    ["besu", "Nonce too low"],
    ["nethermind, older", "OldNonce, Current nonce: 2, nonce of rejected tx: 1"],
    ["hardhat", "Transaction nonce too low. Expected nonce to be at least 2 but got 1."],
  ],
  nonceGap: [
    ["nethermind", "NonceGap, Future nonce. Expected nonce: 5"],
    ["hardhat", "Nonce too high. Expected nonce to be 1 but got 2."],
    ["geth", "gapped-nonce tx from delegated accounts"],
  ],
  funds: [
    ["geth", "insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1"],
    ["anvil", "Insufficient funds for gas * price + value"],
    ["nethermind, older", "InsufficientFunds, Account balance: 0"],
    ["hardhat", "Sender doesn't have enough funds to send tx."],
    ["besu", "Upfront cost exceeds account balance"],
  ],
  tooLarge: [
    ["geth", "oversized data: transaction size 140000, limit 131072"],
    ["erigon", "RLPTooLong"],
    ["nethermind, older", "MaxTxSizeExceeded, tx size 140000"],
    ["nethermind", "transaction too large"],
  ],
  poolFull: [
    ["geth", "txpool is full"],
    ["erigon", "pending sub-pool is full"],
  ],
  feeCap: [["geth", "tx fee (1.63 ether) exceeds the configured cap (1.00 ether)"]],
  fails: [
    ["geth", "invalid opcode: INVALID"],
    ["geth", "gas required exceeds allowance (0)"],
    ["nethermind, older", "VM execution error."],
  ],
  pruned: [
    ["geth", "missing trie node 0x12 (path ) state 0x12 is not available"],
    ["erigon", "old data not available due to pruning"],
  ],
  refused: [
    ["geth", "exceeds block gas limit"],
    ["geth", "intrinsic gas too low: gas 1, minimum needed 21000"],
    ["geth", "transaction type not supported"],
    ["besu", "Transaction gas limit exceeds block gas limit"],
    ["besu", "Sender account not authorized to send transactions"],
  ],
  busy: [
    ["geth", "header not found"],
    ["besu", "Unknown block"],
    ["a load balancer", "no backends available for method"],
    ["besu", "World state unavailable"],
    ["besu", "Initial sync is still in progress"],
    ["nethermind", "node is syncing"],
    ["a provider", "Too Many Requests"],
    ["a provider", "50/second request limit reached"],
  ],
};

describe("words of nodes that refuse", function () {
  for (const [meaning, said] of Object.entries(SAID))
    for (const [make, words] of said)
      it(`${meaning}, ${make}: ${words}`, function () {
        expect(refusalOf(words)).to.equal(meaning);
      });

  it("everyLineOfTheTable_isOneThatANodeSays", function () {
    const all = Object.values(SAID).flatMap((said) => said.map(([, words]) => words));
    for (const [, line] of WORDS) {
      const first = all.some((words) => WORDS.find(([, known]) => known.test(words))?.[1] === line);
      expect(first, String(line)).to.equal(true);
    }
  });

  const error = (code: number, message: string) =>
    new RpcRequestError({ body: {}, url: "http://node", error: { code, message } });

  it("wordsInTheCauseOfAnError_areFound_andOthersMeanNothing", function () {
    const limited = new LimitExceededRpcError(error(-32_005, "Transaction gas limit exceeds block gas limit"));
    expect(refusalIn(limited)).to.equal("refused");
    expect(refusalIn(error(-32_000, "something else"))).to.equal(undefined);
    expect(refusalIn(new Error("already known"))).to.equal(undefined);
  });

  it("codesOfTooManyRequests_withWordsOfARefusal_areAnAnswer", function () {
    expect(isUnavailable(new LimitExceededRpcError(error(-32_005, "daily limit")))).to.equal(true);
    expect(isUnavailable(new LimitExceededRpcError(error(-32_005, "exceeds block gas limit")))).to.equal(false);
    expect(isUnavailable(error(-32_007, "Sender account not authorized to send transactions"))).to.equal(false);
    expect(isUnavailable(error(-32_007, "50/second request limit reached"))).to.equal(true);
    expect(isUnavailable(error(3, "execution reverted: rate limit"))).to.equal(false);
    expect(isUnavailable(new HttpRequestError({ url: "http://node", status: 500 }))).to.equal(true);
  });
});
