import { createHash } from "node:crypto";
import { expect } from "chai";
import { fromRlp, keccak256, slice, TransactionNotFoundError, type Hex, type LocalAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { versionedHashOf, type Kzg } from "../../../src/chain/blobSender.ts";
import { BlobsTooDearError, NoBlobsError, NonceTakenError, SignerError } from "../../../src/chain/errors.ts";
import { blobsOf, FILE_BYTES_PER_BLOB } from "../../../src/chain/market/blobs.ts";
import { BlobsIncompleteError, JobInputError, WrongBlobsError } from "../../../src/parties/requester/errors.ts";
import { blobCosts, postBlobs } from "../../../src/parties/requester/postBlobs.ts";
import { inVirtualTime } from "../../../testkit/nodes/fakeTimers.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { rejection } from "../../../testkit/rejection.ts";
import type { Reader } from "../../../src/chain/market/reader.ts";

/** Numbers of the right size that stand for commitments and proofs. */
const digest = (text: string): string => createHash("sha384").update(text).digest("hex");
const kzg: Kzg = {
  blobToKZGCommitment: (blob) => `0x${digest(blob)}`,
  computeCellsAndKZGProofs: (blob) => ({ proofs: Array.from({ length: 128 }, (_, k) => `0x${digest(k + blob)}`) }),
};
const FILE = Uint8Array.from({ length: 6 * FILE_BYTES_PER_BLOB + 5 }, (_, k) => k & 0xff);
const account = privateKeyToAccount(generatePrivateKey());
const patience = { pollingMs: 1, slowMs: 5 };

/** A chain that mines what it is sent, unless it waits for more than is offered. */
function chainOf({ min = 0n, hasBlobs = true, pending = 0 } = {}) {
  const mined = new Map<Hex, { blockNumber: bigint; blobVersionedHashes: Hex[] }>();
  const sent: Hex[][] = [];
  const publicClient = {
    chain: { id: 1 },
    getBlock: () => Promise.resolve({ baseFeePerGas: 100n, ...(hasBlobs && { excessBlobGas: 0n }) }),
    getBlobBaseFee: () => Promise.resolve(7n),
    estimateFeesPerGas: () => Promise.resolve({ maxFeePerGas: 150n, maxPriorityFeePerGas: 30n }),
    estimateGas: () => Promise.resolve(21_000n),
    getTransactionCount: ({ blockTag }: { blockTag: string }) =>
      Promise.resolve(mined.size + (blockTag === "pending" ? pending : 0)),
    sendRawTransaction: ({ serializedTransaction: raw }: { serializedTransaction: Hex }) => {
      const [fields, ...sidecar] = fromRlp(slice(raw, 1), "hex") as [Hex[], Hex, Hex[], Hex[], Hex[]];
      sent.push([
        raw.slice(0, 4) as Hex,
        fields[9]!,
        sidecar[0],
        ...sidecar.slice(1).map((all) => `0x${all.length}` as Hex),
      ]);
      const hashes = fields[10] as unknown as Hex[];
      if (BigInt(fields[9]!) >= min) mined.set(`0x${sent.length}`, { blockNumber: 1n, blobVersionedHashes: hashes });
      return Promise.resolve("0x");
    },
    getTransactionReceipt: () => {
      const hash = [...mined.keys()].at(-1);
      const isNew = hash !== undefined && hash === `0x${sent.length}`;
      const paid = { gasUsed: 21_000n, effectiveGasPrice: 130n, blobGasPrice: 7n };
      return isNew ? Promise.resolve({ transactionHash: hash, ...paid }) : Promise.reject(new Error("none"));
    },
    getTransaction: ({ hash }: { hash: Hex }) =>
      mined.has(hash) ? Promise.resolve(mined.get(hash)) : Promise.reject(new TransactionNotFoundError({ hash })),
  };
  return { sent, mined, at: { publicClient } as unknown as Pick<Reader, "publicClient"> };
}

/** In virtual time: what is waited for comes in the same order on the slowest machine. */
const quickly = <T>(action: () => Promise<T>): Promise<T> => inVirtualTime(() => false, new Prng(1), action);

describe("blobs of a job's inputs", () => {
  it("costs_areSaidBefore_ofWhatIsNotSentYet", async () => {
    const { at } = chainOf();
    const all = await blobCosts(at, FILE.length);
    expect(all).to.include({ blobs: 7, transactions: 2, gas: 42_000n, blobGas: 917_504n, blobGasPrice: 7n });
    expect(all.cost).to.equal(42_000n * 130n + 917_504n * 7n);
    expect(all.offered).to.equal(42_000n * 150n + 917_504n * 14n);
    expect(all.max).to.equal(4n * all.offered);
    expect(await blobCosts(at, FILE.length, 1)).to.include({ blobs: 1, transactions: 1 });
    expect(await rejection(blobCosts(chainOf({ hasBlobs: false }).at, 5))).to.be.instanceOf(NoBlobsError);
    expect(await rejection(blobCosts(at, 181 * FILE_BYTES_PER_BLOB))).to.be.instanceOf(JobInputError);
  });

  it("whatFailsHalfWay_namesWhatWasSent_andIsNotSentAgain", async () => {
    const { at, sent, mined } = chainOf();
    let signed = 0;
    const failing = {
      ...account,
      signTransaction: (...of: Parameters<typeof account.signTransaction>) =>
        ++signed === 2 ? Promise.reject(new Error("out of ink")) : account.signTransaction(...of),
    } as LocalAccount;
    const reported: number[] = [];
    const onSent = (done: readonly Hex[], total: number): void => void reported.push(done.length, total);
    const error = await rejection(postBlobs(at, FILE, { account: failing, kzg, patience, onSent }));
    expect(error).to.be.instanceOf(BlobsIncompleteError);
    expect(error.message).to.match(/^1 of 2 transactions .* in blocks are those in order: 0x1; number 2: out of ink/);
    const { transactions } = error as unknown as BlobsIncompleteError;
    expect([transactions, reported]).to.deep.equal([["0x1"], [1, 2]]);
    // Type 3, what is offered for blob gas, the form with proofs of cells, and blobs, commitments and proofs.
    expect(sent).to.deep.equal([["0x03", "0x0e", "0x01", "0x6", "0x6", "0x768"]]);
    const hashes = blobsOf(FILE).map((blob) => versionedHashOf(kzg, blob));
    expect(mined.get("0x1")!.blobVersionedHashes).to.deep.equal(hashes.slice(0, 6));
    const others = FILE.map((byte) => byte ^ 1);
    const options = { account, kzg, patience, sent: transactions };
    expect(await rejection(postBlobs(at, others, options))).to.be.instanceOf(WrongBlobsError);
    expect(await rejection(postBlobs(at, FILE, { ...options, sent: ["0x7"] }))).to.be.instanceOf(WrongBlobsError);
    expect(sent).to.have.length(1);
    expect(await postBlobs(at, FILE, options)).to.equal("blobs:0x1,0x2");
    expect(mined.get("0x2")!.blobVersionedHashes).to.deep.equal(hashes.slice(6));
  });

  it("transactionThatWaits_isSentAgainWithTwiceItsFees_twiceAtMost", async () => {
    const { at, sent } = chainOf({ min: 56n });
    await postBlobs(at, FILE.subarray(0, 9), { account, kzg, patience });
    expect(sent.map(([, offered]) => Number(offered))).to.deep.equal([14, 28, 56]);
    const never = chainOf({ min: 57n });
    const waiting = { account, kzg, patience: { ...patience, longestMs: 400 } };
    const error = await quickly(() => rejection(postBlobs(never.at, FILE.subarray(0, 9), waiting)));
    expect(error.message).to.match(/^0 of 1 .* none is in a block; number 1: transaction 0x\w{64} is in no block yet/);
    expect(new Set(never.sent.map(([, offered]) => Number(offered)))).to.deep.equal(new Set([14, 28, 56]));
  });

  it("neverMoreIsOffered_thanWasSaid", async () => {
    const { at, sent } = chainOf();
    const first = 21_000n * 150n + 6n * 131_072n * 14n;
    const refused = await rejection(postBlobs(at, FILE, { account, kzg, patience, max: first - 1n }));
    expect([refused.cause instanceof BlobsTooDearError, sent.length]).to.deep.equal([true, 0]);
    // The second one may offer what the first left.
    await postBlobs(at, FILE, { account, kzg, patience, max: first });
    expect(sent.length).to.equal(2);
    const waiting = chainOf({ min: 28n });
    const options = { account, kzg, patience: { ...patience, longestMs: 40 }, max: 2n * first - 1n };
    expect((await rejection(postBlobs(waiting.at, FILE, options))).message).to.match(/is in no block yet/);
    expect(new Set(waiting.sent.map(([, each]) => Number(each)))).to.deep.equal(new Set([14]));
  });

  it("aReplacementThatThePoolRefusedAndTookLater_isFound", async () => {
    const { at, mined } = chainOf();
    const { publicClient } = at as unknown as { publicClient: Record<string, unknown> };
    const offered: Hex[] = [];
    let tries = 0;
    // The first waits; the replacements are refused as too cheap until the last one is sent again.
    publicClient.sendRawTransaction = () => {
      if (++tries === 1) return Promise.resolve("0x");
      if (tries <= 3) return Promise.reject(new Error("replacement transaction underpriced"));
      mined.set(offered.at(-1)!, { blockNumber: 1n, blobVersionedHashes: [] });
      return Promise.resolve("0x");
    };
    const paid = { gasUsed: 21_000n, effectiveGasPrice: 130n, blobGasPrice: 7n };
    publicClient.getTransactionReceipt = ({ hash }: { hash: Hex }) =>
      mined.has(hash) ? Promise.resolve({ transactionHash: hash, ...paid }) : Promise.reject(new Error("none"));
    const onOffered = (hash: Hex): void => void offered.push(hash);
    const place = await postBlobs(at, FILE.subarray(0, 9), { account, kzg, patience, onOffered });
    expect([offered.length, place]).to.deep.equal([3, `blobs:${offered[2]}`]);
  });

  it("anotherTransactionThatWaits_orASignerOfOtherTypes_sendsNothing", async () => {
    const busy = chainOf({ pending: 1 });
    const error = await rejection(postBlobs(busy.at, FILE.subarray(0, 9), { account, kzg, patience }));
    expect([error.cause, busy.sent]).to.satisfy(
      ([cause, of]: [unknown, []]) => cause instanceof NonceTakenError && !of.length,
    );
    const other = { ...account, signTransaction: () => Promise.resolve(keccak256("0x02")) } as unknown as LocalAccount;
    const { at, sent } = chainOf();
    const { cause } = await rejection(postBlobs(at, FILE.subarray(0, 9), { account: other, kzg, patience }));
    expect([cause instanceof SignerError, sent]).to.deep.equal([true, []]);
  });
});
