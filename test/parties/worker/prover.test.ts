import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { mock } from "node:test";
import { join } from "node:path";
import { expect } from "chai";
import type { Hex } from "viem";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { writeKey } from "../../../src/circuits/groth16/keyFile.ts";
import { keyOf, proofOf } from "../../../src/circuits/groth16/keys.ts";
import { verify } from "../../../src/circuits/groth16/verify.ts";
import { KeyProver } from "../../../src/circuits/prover.ts";
import { publicValues } from "../../../src/circuits/witness.ts";
import { JobStatus } from "../../../src/chain/structs.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { waitForResult } from "../../../src/parties/requester/result.ts";
import type { WorkerOptions } from "../../../src/parties/worker/options.ts";
import { submitProven } from "../../../src/parties/worker/prover.ts";
import { AROUND_ONE, networkInput } from "../../../testkit/circuits/networks.ts";
import { provable, type Provable } from "../../../testkit/circuits/provenJobs.ts";
import { first, Players, reference } from "../../../testkit/players/players.ts";

const LOCAL = 31_337;

describe("a worker that proves", function () {
  let network: Provable;
  let folder: string;
  let file: string;
  let prover: KeyProver;
  before(async () => {
    network = await provable([4, 2]);
    folder = mkdtempSync(join(tmpdir(), "refute-proofs-"));
    file = join(folder, "model.key");
    writeFileSync(file, writeKey(network.curve, network.key, [AROUND_ONE]));
    prover = await KeyProver.open([file], LOCAL);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Has a worker serve a job whose terms name a key. */
  async function served(keyHash: Hex, options: Partial<WorkerOptions>, inputs = network.inputs) {
    const players = await Players.create();
    const program = knownProgram(network.model);
    const key = await players.workerKey();
    const { collateral } = (await players.chain.sessionOf(key)).deployment.parameters;
    const rare = { collateral, keyHash };
    const { requester, jobId } = await players.post(program, inputs, { answer: true, rare });
    const watcher = await players.startWatcher(await players.watcherKey(), program, reference());
    const worker = await players.startWorker(key, program, reference(), options);
    const end = async (): Promise<void> => {
      await worker.stop();
      await watcher.stop();
      await players.chain.close();
    };
    return { requester, jobId, worker, watcher, end };
  }

  it("jobWithAKeyOfItsSettings_endsByAProof_withoutAWindow_andWatchersLeaveItAlone", async () => {
    const { requester, jobId, worker, watcher, end } = await served(network.keyHash, { prover });
    const { root } = await first(worker, "proven");
    const result = await waitForResult(requester, jobId, { keys: [network.keyHash], intervalMs: 20 });
    expect(result.provenBy).to.equal(network.keyHash);
    expect([...result.outputs.values()].map((bytes) => [...bytes])).to.deep.equal(
      network.outputs.map((bytes) => [...bytes]),
    );
    expect([...result.inputs![0]!]).to.deep.equal([...network.inputs[0]!]);
    expect(result.root).to.equal(root);
    expect((await requester.market.jobOf(jobId)).status).to.equal(JobStatus.proven);
    // Whoever names no key, or another one, gets no result.
    for (const keys of [[], [`0x${"11".repeat(32)}`] as const]) {
      const refused = waitForResult(requester, jobId, { keys, intervalMs: 20 }).catch((error: unknown) => error);
      expect(((await refused) as Error).message).to.include(`under the key ${network.keyHash}, which you did not name`);
    }
    await sleep(300);
    expect(watcher.inbox.all.filter(({ kind }) => kind === "opened")).to.deep.equal([]);
    expect(worker.inbox.all.map(({ kind }) => kind)).to.deep.equal(["claimed", "executed", "proven"]);
    await end();
  });

  it("jobWithAnotherKey_orInputsWithoutAProof_waitsForItsWindow", async () => {
    const none = await served(network.keyHash, {});
    await first(none.worker, "submitted");
    await none.end();
    const other = await served(`0x${"11".repeat(32)}`, { prover });
    await first(other.worker, "submitted");
    await other.end();
    // The number 1000 lies outside the key's domain.
    const far = Buffer.from(networkInput(4, 3));
    far.writeFloatLE(1_000, 0);
    const outside = await served(network.keyHash, { prover }, [far]);
    await first(outside.worker, "submitted");
    await outside.end();
  });

  it("keyWithKnownSecrets_isRefusedOnAnotherChain_andSoIsAKeyOfAnotherProgram", async () => {
    const open = (path: string, chain: number): Promise<string> =>
      KeyProver.open([path], chain).then(
        () => "opened",
        (error: unknown) => (error as Error).message,
      );
    expect(await open(file, LOCAL)).to.equal("opened");
    expect(await open(file, 1)).to.include("local chains only");
    expect(await open(join(folder, "none"), LOCAL)).to.include("none");
    // A key that says it is of the job's program, and has the circuit of another.
    const other = await provable([4, 2], 5);
    const { programRoot } = network.model;
    const lying = { ...other.key, verifying: { ...other.key.verifying, program: programRoot } };
    const files = [other.key, lying].map((key, k) => {
      const path = join(folder, `other-${k}.key`);
      writeFileSync(path, writeKey(other.curve, key, [AROUND_ONE]));
      return path;
    });
    const swapped = await KeyProver.open(files, LOCAL);
    for (const hash of swapped.hashes) {
      const { worker, end } = await served(hash, { prover: swapped });
      await first(worker, "submitted");
      await end();
    }
    await swapped.close();
  });

  it("proverThatNeverAnswers_isGivenUp_inHalfOfTheTime_andNoneIsAskedForAJobThatDoesNotPay", async () => {
    const address = `0x${"22".repeat(20)}`;
    let price = 10n ** 12n;
    const session = {
      publicClient: {
        getBlock: () => Promise.resolve({ timestamp: 1_000n, baseFeePerGas: price }),
        estimateMaxPriorityFeePerGas: () => Promise.resolve(0n),
      },
      ...{ deployment: { chainId: LOCAL, market: address }, sender: { address } },
    };
    const fee = 10n ** 15n;
    const terms = { keyHash: network.keyHash };
    const job = { id: `0x${"33".repeat(32)}`, terms, holder: { until: 1_400n }, job: { fee } };
    const warnings: string[] = [];
    const log = { warn: (_: unknown, text: string) => warnings.push(text) };
    let asked = 0;
    const prove = (): Promise<never> => (asked++, new Promise(() => {}));
    const hanging = { knows: () => true, publicValues: () => 3, prove };
    // A job that does not pay the gas is not proven at all.
    expect(await submitProven({ session, log, prover: hanging } as never, job as never, {} as never, "0x")).to.equal(
      undefined,
    );
    expect([asked, warnings.splice(0)]).to.deep.equal([
      0,
      ["a proof's gas costs more than the fee: submitted without"],
    ]);
    price = 10n ** 9n;
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const submitted = submitProven({ session, log, prover: hanging } as never, job as never, {} as never, "0x");
      await immediate();
      mock.timers.tick(199_000);
      await immediate();
      expect(warnings).to.deep.equal([]);
      mock.timers.tick(2_000);
      expect(await submitted).to.equal(undefined);
      expect(warnings).to.deep.equal(["no proof in half of the job's time: submitted without"]);
    } finally {
      mock.timers.reset();
    }
  });

  it("proofsAreMadeInAThread_thatIsStartedAnewWhenItHasEnded", async () => {
    const program = knownProgram(network.model);
    const tensor = (): Uint8Array => network.outputs[0]!;
    const run = { program, inputs: { bytes: network.inputs }, item: () => ({ trace: { tensor } }) } as never;
    const job = { job: { programRoot: program.model.programRoot }, terms: { keyHash: network.keyHash }, program: {} };
    for (const context of [7n, 8n, 9n]) {
      let isSettled = false;
      const asked = prover.prove(job as never, run, context).finally(() => (isSettled = true));
      // The calling thread goes on at once, in the midst of the proof.
      await immediate();
      expect(isSettled).to.equal(false);
      const { key, proof } = await asked;
      const publics = publicValues(network.circuit, network.inputs, network.outputs, context);
      expect(verify(network.curve, keyOf(key), publics, proofOf(proof))).to.equal(true);
      if (context === 8n) await prover.close();
    }
    const stopped = prover.prove(job as never, run, 1n).catch((error: unknown) => (error as Error).message);
    await prover.close();
    expect(await stopped).to.include("the proving thread ended before the proof");
  });
});
