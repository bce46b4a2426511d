import { expect } from "chai";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { concatHex, numberToHex, type Hex, type PublicClient } from "viem";
import { blobsOf } from "../../../src/chain/market/blobs.ts";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import { referenceSuffix } from "../../../src/chain/market/references.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import type { Figures } from "../../../src/runs/figures.ts";
import { ReferencedInputs } from "../../../src/runs/inputs/referencedInputs.ts";
import type { Logger } from "../../../src/base/log.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { bytesProgram } from "../../../testkit/models/bytesModel.ts";
import { publishedRun } from "../../../testkit/programs/publishedRun.ts";

const BYTES = 3_000;
const program = bytesProgram(BYTES);
const content = Uint8Array.from({ length: BYTES }, (_, k) => k & 0x7f);
const [GENESIS, SLOT] = [1_606_824_023n, 100n];
const TIME = GENESIS + 12n * SLOT;
/** 4096 epochs of 32 slots of 12 seconds. */
const KEPT = 1_572_864n;
const [BLOBS, BLOCK] = [numberToHex(1, { size: 32 }), numberToHex(2, { size: 32 })];

describe("blobs that nodes may forget", () => {
  let server: Server;
  let isForgotten: boolean;
  let asked: string[];
  let warnings: string[];
  let atRisk: number[];
  let last: bigint;
  const stop = new AbortController();

  beforeEach(async () => {
    [isForgotten, asked, warnings, atRisk, last] = [false, [], [], [], TIME + KEPT];
    server = createServer(({ url = "" }, response) => {
      asked.push(url);
      const data: Record<string, unknown> = {
        "/eth/v1/beacon/genesis": { genesis_time: String(GENESIS) },
        "/eth/v1/config/spec": {},
        ...(!isForgotten && { [`/eth/v1/beacon/blobs/${SLOT}`]: blobsOf(content).map(toHex) }),
      };
      if (url in data) response.end(JSON.stringify({ data: data[url] }));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => void server.close());
  after(() => stop.abort());

  const log = {
    info: () => undefined,
    warn: ({ reason }: { reason: string }) => void warnings.push(reason),
  } as unknown as Logger;
  const open = (mustLast = false, keptInputBytes?: number): ReferencedInputs => {
    const publicClient = {
      getTransaction: ({ hash }: { hash: Hex }) =>
        Promise.resolve(
          hash === BLOBS
            ? { hash, blockHash: BLOCK, input: "0x" }
            : { input: concatHex(["0x1234", referenceSuffix([`blobs:${BLOBS}`])]) },
        ),
      getBlock: () =>
        Promise.resolve({ timestamp: TIME, transactions: [{ hash: BLOBS, blobVersionedHashes: [BLOCK] }] }),
    } as unknown as PublicClient;
    const beaconUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const meter = { figures: ({ blobsAtRisk }: Partial<Figures>) => void atRisk.push(blobsAtRisk!) };
    const at = { publicClient, folder: undefined, log, signal: stop.signal, lastSecondOf: () => last };
    const options = { sources: { beaconUrl }, seconds: 5, mustLast, keptInputBytes };
    return new ReferencedInputs(options, { ...at, meter, knows: () => true });
  };
  const inputs = new RunInputs(program.model.program.inputs, { items: 1, firstItem: 0 }, [content]);
  const posted = publishedRun(program, inputs, 7);
  const record = { ...posted, parts: new Map(), postedIn: posted.id, job: { ...posted.job, rootOnly: true } };
  const job: JobRecord = { ...record, alike: [] };
  const jobs = new Map([[job.id, job]]);
  /** Some rounds of a role. */
  const rounds = async (held: ReferencedInputs): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      held.keep(jobs);
      await held.settled();
    }
  };

  it("areFetchedBeforeAnybodyClaimsTheJob", async () => {
    const held = open();
    await rounds(held);
    expect(held.has(job)).to.equal(true);
    expect(asked.filter((url) => url.includes("/blobs/"))).to.have.length(1);
    expect([warnings, atRisk]).to.deep.equal([[], [0, 0, 0]]);
  });

  it("areWarnedOf_once_whereDisputesMayEndLater", async () => {
    last = TIME + KEPT + 1n;
    await rounds(open());
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/nodes may forget its blobs at 20.*, and disputes of it may end at 20/);
    // Until they are fetched.
    expect(atRisk).to.deep.equal([0, 1, 0]);
  });

  it("countAsARisk_whileTheyAreNotHeld_andTheJobMayBeDisputed", async () => {
    [last, isForgotten] = [TIME + KEPT + 1n, true];
    const held = open();
    await rounds(held);
    expect(atRisk.at(-1)).to.equal(1);
    const final = { ...job, claims: [{ finalised: true }] } as unknown as JobRecord;
    held.keep(new Map([[final.id, final]]));
    expect(atRisk.at(-1)).to.equal(0);
  });

  it("ofJobsThatNobodyHasClaimed_takeHalfOfTheRoom", async () => {
    last = TIME + KEPT + 1n;
    const held = open(false, BYTES + 1_000);
    await rounds(held);
    expect(asked.filter((url) => url.includes("/blobs/"))).to.deep.equal([]);
    expect(atRisk.at(-1)).to.equal(1);
    const claimed = { ...job, holder: { worker: job.id, until: 0n } } as unknown as JobRecord;
    for (let round = 0; round < 3; round++) {
      held.keep(new Map([[job.id, claimed]]));
      await held.settled();
    }
    expect([held.has(job), atRisk.at(-1)]).to.deep.equal([true, 0]);
  });

  it("areNotLookedFor_whereJobsThatTheyDoNotOutlastAreLeftAlone", async () => {
    await rounds(open(true));
    expect([asked, atRisk]).to.deep.equal([[], []]);
  });
});
