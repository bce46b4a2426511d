import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadKZG } from "kzg-wasm";
import { parseEther, type Hex, type LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Kzg } from "../../src/chain/blobSender.ts";
import { Anvil, anvilBinary } from "../../src/deploy/devnet/anvil.ts";
import { deployLocally } from "../../src/deploy/devnet/deployLocally.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { FILE_BYTES_PER_BLOB } from "../../src/chain/market/blobs.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { parseReference, referencesIn } from "../../src/chain/market/references.ts";
import { fetchReference } from "../../src/runs/inputs/fetchReference.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { BlobsIncompleteError, WrongBlobsError } from "../../src/parties/requester/errors.ts";
import { blobCosts, postBlobs } from "../../src/parties/requester/postBlobs.ts";
import { waitForResult } from "../../src/parties/requester/result.ts";
import { runWorker } from "../../src/parties/worker/worker.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { serveBeacon } from "../../testkit/nodes/beaconServer.ts";
import { first, reference, start } from "../../testkit/players/players.ts";
import { Parties, type Party } from "../../testkit/processes/parties.ts";
import { rejection } from "../../testkit/rejection.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import type { WatcherEvent } from "../../watcher/events.ts";
import { runWatcher } from "../../watcher/watcher.ts";
import { itAtLength } from "../../testkit/atLength.ts";
import { refute } from "../cli/refute.ts";

const WINDOW = 3_600;

/** Commitments and proofs take seconds: test/parties/requester/postBlobs.test.ts tests the rest with stand-ins. */
describe("inputs in blobs, on a real node", function () {
  this.timeout(600_000);
  let folder: string;
  let anvil: Anvil | undefined;
  let beacon: Awaited<ReturnType<typeof serveBeacon>>;
  let parties: Parties;
  let requester: Party;
  let kzg: Kzg;

  before(async function () {
    folder = mkdtempSync(join(tmpdir(), "refute-blobs-"));
    const binary = anvilBinary();
    if (typeof binary !== "string") {
      console.log(`      skipped: ${binary.missing}`);
      return this.skip();
    }
    anvil = await Anvil.start();
    beacon = await serveBeacon(anvil);
    const deployment = await deployLocally(anvil.url, { baseWindow: WINDOW, baseClock: 900 });
    parties = new Parties(anvil, deployment, 1);
    requester = await parties.withCredit("requester", parseEther("1"));
    kzg = await loadKZG();
  });
  after(async () => {
    beacon?.close();
    await anvil?.close();
    rmSync(folder, { recursive: true });
  });

  const say = (...args: string[]) => {
    const { deployment } = requester.session;
    const network = { REFUTE_RPC_URL: anvil!.url, REFUTE_CHAIN_ID: "31337", REFUTE_MARKET: deployment.market };
    return refute(args, { ...network, REFUTE_PRIVATE_KEY: requester.key });
  };
  const sentBy = ({ address }: Party): Promise<number> =>
    requester.session.publicClient.getTransactionCount({ address });

  itAtLength("submit_putsThemThere_andTheJobIsClaimedJudgedAndDelivered", async () => {
    const [model, input] = [join(folder, "mlp.onnx"), join(folder, "x.bin")];
    writeFileSync(model, mlpBytes());
    writeFileSync(input, mlpInput(7));
    const args = ["submit", model, "--input", `x=${input}`, "--fee", "0.1"];
    const before = await sentBy(requester);
    for (const [flags, why] of [
      [["--blobs-sent", `0x${"ab".repeat(32)}`], /--blobs-sent also needs --blobs/],
      [["--blobs", "--signer", "http://127.0.0.1:1"], /use a key of this process/],
      [["--blobs", "--deadline-seconds", "1600000"], /nodes forget blobs after 1572864 seconds/],
      [["--blobs", "--blobs-sent", `0x${"ab".repeat(32)}`], /no node has the transaction/],
    ] as const) {
      const { status, stderr } = await say(...args, ...flags);
      expect(status, stderr).to.not.equal(0);
      expect(stderr).to.match(why);
    }
    expect(await sentBy(requester)).to.equal(before);
    const { status, stdout, stderr } = await say(...args, "--blobs", "--json");
    expect(status, stderr).to.equal(0);
    expect(stderr).to.match(/1 blobs in 1 transactions cost [\d.]+ .*21000 gas, and 131072 blob gas/);
    expect(stderr).to.match(/If the job is not posted, go on with --blobs-sent 0x[0-9a-f]{64}/);
    expect(await sentBy(requester)).to.equal(before + 2);
    const { job: jobId } = JSON.parse(stdout) as { job: Hex };
    const program = mlpProgram();
    const references = { sources: { beaconUrl: beacon.url } };
    const all = { programs: ProgramLibrary.of([program]), execute: reference(), references };
    const [worker, watcher] = [await parties.withStake("worker", 1), await parties.withCredit("watcher", 10n ** 18n)];
    const policy = { minFee: 1n, marginSeconds: 10 };
    const working = start<WorkerEvent>(worker.session, (loop) =>
      runWorker({ ...loop, ...all, policy, selfAuditSamples: 0 }),
    );
    const watching = start<WatcherEvent>(watcher.session, (loop) => runWatcher({ ...loop, ...all, mode: "defend" }));
    await first(working, "submitted");
    await first(watching, "agrees");
    await anvil!.request("evm_increaseTime", [WINDOW + 60]);
    await anvil!.request("evm_mine", []);
    const { outputs } = await waitForResult(requester.session, jobId, { intervalMs: 20 });
    await Promise.all([working.stop(), watching.stop()]);
    const exact = executeReference(program.model, [mlpInput(7)]).at(-1)!;
    expect(Buffer.from(outputs.get(0)!).equals(Buffer.from(exact))).to.equal(true);
    const { history } = await followMarket(requester.session)();
    const { input: calldata } = await requester.session.publicClient.getTransaction({
      hash: history.jobs.get(jobId)!.postedIn,
    });
    expect(referencesIn(calldata).map(({ kind }) => kind)).to.deep.equal(["blobs"]);
  });

  itAtLength("whatFailsHalfWay_saysWhatWasSent_andGoesOnFromThere", async () => {
    const { session, key } = await parties.withCredit("half", 1n);
    const party = await parties.known("half");
    const file = Uint8Array.from({ length: 6 * FILE_BYTES_PER_BLOB + 100 }, (_, k) => (k * 31 + (k >> 8)) & 0xff);
    const account = privateKeyToAccount(key);
    const before = await sentBy(party);
    let signed = 0;
    const failing = {
      ...account,
      signTransaction: (transaction: never) => {
        if (++signed === 2) throw new Error("out of ink");
        return account.signTransaction(transaction);
      },
    } as LocalAccount;
    const costs = await blobCosts(session, file.length);
    expect(costs).to.include({ blobs: 7, transactions: 2, gas: 42_000n, blobGas: 7n * 131_072n });
    const error = await rejection(postBlobs(session, file, { account: failing, kzg, patience: { pollingMs: 20 } }));
    expect(error).to.be.instanceOf(BlobsIncompleteError);
    expect(error.message).to.match(/^1 of 2 transactions .* number 2: out of ink/);
    const { transactions: sent } = error as unknown as BlobsIncompleteError;
    expect(await sentBy(party)).to.equal(before + 1);
    const other = await rejection(
      postBlobs(
        session,
        file.map((byte) => byte ^ 1),
        { account, kzg, sent },
      ),
    );
    expect(other).to.be.instanceOf(WrongBlobsError);
    const options = { account, kzg, sent, patience: { pollingMs: 20 } };
    const place = await postBlobs(session, file, options);
    expect(place.startsWith(`blobs:${sent[0]},0x`)).to.equal(true);
    expect(await sentBy(party)).to.equal(before + 2);
    const found = await fetchReference(parseReference(place), file.length, {
      sources: { beaconUrl: beacon.url },
      signal: new AbortController().signal,
      chain: session.publicClient,
    });
    expect(Buffer.from(found).equals(Buffer.from(file))).to.equal(true);
  });

  itAtLength("transactionThatWaits_isSentAgain_withTwiceItsFees", async () => {
    const { session, key } = await parties.withCredit("slow", 1n);
    await anvil!.request("evm_setAutomine", [false]);
    const options = { account: privateKeyToAccount(key), kzg, patience: { pollingMs: 20, slowMs: 150 } };
    const sending = postBlobs(session, new Uint8Array(100), options);
    const offered = new Set<string>();
    while (offered.size < 3) {
      const { pending } = (await anvil!.request("txpool_content")) as {
        pending: Record<string, Record<string, { maxFeePerBlobGas: string; hash: string }>>;
      };
      for (const { maxFeePerBlobGas } of Object.values(Object.values(pending)[0] ?? {})) offered.add(maxFeePerBlobGas);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const [min, twice, max] = [...offered].map(BigInt);
    expect([twice, max]).to.deep.equal([2n * min!, 4n * min!]);
    await anvil!.request("evm_setAutomine", [true]);
    await anvil!.request("evm_mine", []);
    const [, hash] = (await sending).split(":") as [string, Hex];
    const { maxFeePerBlobGas } = await session.publicClient.getTransaction({ hash });
    expect(maxFeePerBlobGas).to.equal(max);
  });
});
