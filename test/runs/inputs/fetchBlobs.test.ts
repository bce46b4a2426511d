import { expect } from "chai";
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { BLOB_BYTES, blobCount, blobsOf, FILE_BYTES_PER_BLOB, fileOf } from "../../../src/chain/market/blobs.ts";
import { fetchBlobs, type BlobChain } from "../../../src/runs/inputs/fetchBlobs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { rejection } from "../../../testkit/rejection.ts";

const GENESIS = 1_606_824_023n;
const SLOT = 100n;
const TIME = GENESIS + 12n * SLOT;
/** 4096 epochs of 32 slots of 12 seconds. */
const KEPT = 1_572_864n;
const FILE = Uint8Array.from({ length: 2 * FILE_BYTES_PER_BLOB + 1_000 }, (_, k) => (k * 31 + (k >> 8)) & 0xff);
const hashOf = (digit: string): Hex => `0x${digit.repeat(64)}`;
const versioned = (commitment: Uint8Array): Hex =>
  `0x01${createHash("sha256").update(commitment).digest("hex").slice(2)}`;

describe("inputs in blobs", () => {
  let server: Server;
  let answers: Record<string, unknown>;
  const { signal } = new AbortController();
  const blobs = [new Uint8Array(BLOB_BYTES), ...blobsOf(FILE)];
  const commitments = blobs.map((_, k) => new Uint8Array(48).fill(k + 1));
  const hashes = commitments.map(versioned);

  beforeEach(async () => {
    answers = {
      "/eth/v1/beacon/genesis": { genesis_time: String(GENESIS) },
      "/eth/v1/config/spec": { SECONDS_PER_SLOT: "12", SLOTS_PER_EPOCH: "32" },
      [`/eth/v1/beacon/blobs/${SLOT}`]: blobs.map(toHex),
    };
    server = createServer(({ url }, response) => {
      const data = answers[url!];
      if (data === undefined) response.writeHead(404).end();
      else response.end(JSON.stringify({ data }));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => void server.close());

  /** A block in which a stranger's blob comes first, then those of two transactions. */
  const chain = {
    getTransaction: ({ hash }: { hash: Hex }) => Promise.resolve({ hash, blockHash: hashOf("b") }),
    getBlock: () =>
      Promise.resolve({
        timestamp: TIME,
        transactions: [
          { hash: hashOf("0"), blobVersionedHashes: [hashes[0]] },
          { hash: hashOf("9") },
          { hash: hashOf("1"), blobVersionedHashes: [hashes[1], hashes[2]] },
          { hash: hashOf("2"), blobVersionedHashes: [hashes[3]] },
        ],
      }),
  } as unknown as BlobChain;
  const fetch = (transactions = [hashOf("1"), hashOf("2")], until?: bigint): Promise<Uint8Array> => {
    const beaconUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const reference = { kind: "blobs" as const, uri: `blobs:${transactions.join()}`, transactions };
    return fetchBlobs(reference, FILE.length, { chain, beaconUrl, signal, until });
  };
  const refusal = async (...of: Parameters<typeof fetch>): Promise<string> => (await rejection(fetch(...of))).message;

  it("files_areHeldByBlobs_31BytesAnElement", () => {
    expect(blobCount(640 * 640 * 3 * 4)).to.equal(39);
    for (const length of [1, 31, 32, FILE_BYTES_PER_BLOB, FILE_BYTES_PER_BLOB + 1]) {
      const file = FILE.subarray(0, length);
      const held = blobsOf(file);
      expect(held.length).to.equal(blobCount(length));
      expect(held.every((blob) => blob.every((byte, k) => k % 32 !== 0 || byte === 0))).to.equal(true);
      expect(Buffer.from(fileOf(held, length)!).equals(file)).to.equal(true);
    }
    expect(fileOf(blobsOf(FILE), FILE_BYTES_PER_BLOB)).to.equal(undefined);
    expect(fileOf([new Uint8Array(3)], 3)).to.equal(undefined);
  });

  it("blobsOfTransactions_areReadBack_fromEitherWayOfTheBeaconApi", async () => {
    expect(Buffer.from(await fetch()).equals(FILE)).to.equal(true);
    delete answers["/eth/v1/config/spec"];
    const sidecars = blobs.map((blob, index) => ({
      index: String(index),
      blob: toHex(blob),
      kzg_commitment: toHex(commitments[index]!),
    }));
    delete answers[`/eth/v1/beacon/blobs/${SLOT}`];
    answers[`/eth/v1/beacon/blob_sidecars/${SLOT}`] = sidecars.reverse();
    expect(Buffer.from(await fetch()).equals(FILE)).to.equal(true);
    sidecars[0] = { ...sidecars[0]!, kzg_commitment: toHex(new Uint8Array(48)) };
    expect(await refusal()).to.match(/is not the one of its transaction/);
  });

  it("blobsThatMayBeForgottenBeforeTheLastDispute_areRefused", async () => {
    expect(Buffer.from(await fetch(undefined, TIME + KEPT)).equals(FILE)).to.equal(true);
    expect(await refusal(undefined, TIME + KEPT + 1n)).to.match(
      /may be forgotten at .* disputes of the job may end at/,
    );
  });

  it("whatIsNotThere_orOfAnotherForm_isNoFile", async () => {
    expect(await refusal([hashOf("1")])).to.match(/2 blobs, expected 3/);
    expect(await refusal([hashOf("9"), hashOf("1")])).to.match(/has no blobs/);
    expect(await refusal(Array.from({ length: 4 }, () => hashOf("1")))).to.match(/names 4 transactions for 3 blobs/);
    answers[`/eth/v1/beacon/blobs/${SLOT}`] = blobs.slice(1).map(toHex);
    expect(await refusal()).to.match(/does not give the 4 blobs of slot 100/);
    answers[`/eth/v1/beacon/blobs/${SLOT}`] = ["x", null, 3, {}];
    expect(await refusal()).to.match(/are none/);
    delete answers[`/eth/v1/beacon/blobs/${SLOT}`];
    expect(await refusal()).to.match(/answers 404/);
    answers["/eth/v1/beacon/genesis"] = { genesis_time: "soon" };
    expect(await refusal()).to.match(/says soon where a number is expected/);
  });
});
