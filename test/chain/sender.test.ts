import { expect } from "chai";
import {
  parseAbi,
  toHex,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  zeroAddress,
  zeroHash,
} from "viem";
import { TransactionDroppedError } from "../../src/chain/errors.ts";
import { Sender } from "../../src/chain/sender.ts";
import { rejection } from "../../test-support/rejection.ts";

describe("Sender", function () {
  it("manySends_doNotWaitForEachOthersBlocks", async function () {
    let mine = (): void => undefined;
    const mined = new Promise<void>((resolve) => (mine = resolve));
    let sent = 0;
    const publicClient = {
      getTransactionCount: () => Promise.resolve(7),
      estimateContractGas: () => Promise.resolve(21_000n),
      getTransactionReceipt: ({ hash }: { hash: string }) =>
        mined.then(() => ({ status: "success", transactionHash: hash })),
    };
    const walletClient = {
      account: { address: zeroAddress },
      writeContract: () => {
        // A block is made only when the moves of all three games are there.
        if (++sent === 3) mine();
        return Promise.resolve(toHex(sent, { size: 32 }));
      },
    };
    const sender = new Sender(publicClient as never, walletClient as never);
    const abi = parseAbi(["function move()"]);
    const call = { address: zeroAddress, abi, functionName: "move", args: [] } as const;
    const receipts = await Promise.all([1, 2, 3].map(() => sender.send(call)));
    expect(new Set(receipts.map(({ transactionHash }) => transactionHash)).size).to.equal(3);
  });

  it("transactionThatTheBaseFeeHasOutrun_isSentAgainWithTheSameNonce", async function () {
    const GWEI = 10n ** 9n;
    const sent: { nonce?: number; maxFeePerGas?: bigint; maxPriorityFeePerGas?: bigint }[] = [];
    const publicClient = {
      getTransactionCount: () => Promise.resolve(7),
      estimateContractGas: () => Promise.resolve(21_000n),
      // Only the second one is ever mined.
      getTransactionReceipt: ({ hash }: { hash: `0x${string}` }) =>
        hash === toHex(2, { size: 32 })
          ? Promise.resolve({ status: "success", transactionHash: hash })
          : Promise.reject(new TransactionReceiptNotFoundError({ hash })),
      getTransaction: () =>
        Promise.resolve({ nonce: 7, gas: 24_150n, maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: GWEI }),
      getBlock: () => Promise.resolve({ baseFeePerGas: 50n * GWEI }),
    };
    const walletClient = {
      account: { address: zeroAddress },
      writeContract: (request: (typeof sent)[number]) => {
        sent.push(request);
        return Promise.resolve(toHex(sent.length, { size: 32 }));
      },
    };
    const sender = new Sender(publicClient as never, walletClient as never);
    const abi = parseAbi(["function move()"]);
    const receipt = await sender.send({ address: zeroAddress, abi, functionName: "move", args: [] });
    expect(receipt.transactionHash).to.equal(toHex(2, { size: 32 }));
    expect(sent).to.have.length(2);
    expect(sent[1]!.nonce).to.equal(7);
    expect(sent[1]!.maxFeePerGas! > 100n * GWEI).to.equal(true);
    expect(sent[1]!.maxPriorityFeePerGas! >= (GWEI * 9n) / 8n).to.equal(true);
  });

  it("transactionThatTheNodeHasForgotten_isGivenUp", async function () {
    this.timeout(20_000);
    const publicClient = {
      getTransactionCount: () => Promise.resolve(7),
      estimateContractGas: () => Promise.resolve(21_000n),
      getTransactionReceipt: ({ hash }: { hash: `0x${string}` }) =>
        Promise.reject(new TransactionReceiptNotFoundError({ hash })),
      getTransaction: ({ hash }: { hash: `0x${string}` }) => Promise.reject(new TransactionNotFoundError({ hash })),
    };
    const walletClient = { account: { address: zeroAddress }, writeContract: () => Promise.resolve(zeroHash) };
    const sender = new Sender(publicClient as never, walletClient as never);
    const abi = parseAbi(["function move()"]);
    const error = await rejection(sender.send({ address: zeroAddress, abi, functionName: "move", args: [] }));
    expect(error).to.be.instanceOf(TransactionDroppedError);
    expect(error.retryable).to.equal(true);
  });
});
