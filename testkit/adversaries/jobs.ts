import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { knownProgram, programFacts, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import { compile } from "../../src/compiler/compile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { DType, writeWord } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { estimateStepProofGas } from "../../src/program/gas.ts";
import { programRoot } from "../../src/program/root.ts";
import { ONE_ITEM } from "../../src/program/run.ts";
import { parseEther } from "viem";
import { buildModel } from "../onnx/onnxBuilder.ts";
import { first, reference } from "../players/players.ts";
import { matMulStep, stepModel } from "../programs/stepModel.ts";
import { sumsInput } from "../programs/randomSums.ts";
import { Prng } from "../random/prng.ts";
import { Adversary } from "./adversary.ts";
import type { Verdict } from "./verdict.ts";
import type { Arena } from "./arena.ts";
import { LiarWorker } from "./liarWorker.ts";
import { claim, mustRefuse } from "./sendMoves.ts";
import type { Execute } from "../../src/runs/execute.ts";

/**
 * A job whose program root commits to steps unknown to everybody. A worker in league with the requester claims the job.
 */
class ProgramNobodyCanOpen extends Adversary {
  readonly name = "job with program roots nobody can open";
  readonly expected = "left alone by honest parties";

  async attack(arena: Arena): Promise<Verdict> {
    const { model, commitment } = arena.chainOfSums;
    const steps = MerkleList.fromHashes([`0x${"77".repeat(32)}`]);
    const program: KnownProgram = { model, commitment: { ...commitment, steps } };
    const honest = await arena.players.startWorker(await arena.players.workerKey(), arena.chainOfSums, reference());
    const posted = await arena.post(program, [sumsInput(new Prng(1), model)]);
    const liar = await LiarWorker.create(arena);
    await liar.submit(posted, `0x${"5b".repeat(32)}`);
    const { id, games } = await arena.claimOn(posted);
    await first(arena.watcher, "unknown", (e) => e.claimId === id);
    await honest.stop();
    if (games.length > 0) throw new Error("somebody honest disputes what cannot be disputed");
    if (honest.inbox.all.length > 0) throw new Error("somebody honest claims what cannot be defended");
    return "left alone by honest parties";
  }
}

/** A job whose input bytes never come. */
class WithheldInput extends Adversary {
  readonly name = "job whose input is withheld";
  readonly expected = "refused by the contract";

  async attack(arena: Arena): Promise<Verdict> {
    const { model, commitment } = arena.chainOfSums;
    const requester = await arena.players.chain.newSession(parseEther("1"));
    await deposit(requester, parseEther("1"));
    const request = {
      program: programFacts(commitment),
      inputRoots: [tensorRoot(sumsInput(new Prng(2), model))],
      inputs: [],
      ...ONE_ITEM,
      fee: 10n ** 17n,
      window: 3_600,
      claimSeconds: 600,
      deadline: (await arena.now()) + 10_000n,
      callbackGas: 0,
      maxOutputBytes: 4_096,
      rootOnly: false,
      terms: [],
      answer: arena.form === "answer",
      salt: `0x${"22".repeat(32)}` as const,
    };
    const { sender, deployment } = requester;
    const market = { address: deployment.market, abi: jobMarketAbi } as const;
    await sender.send({ ...market, functionName: "post", args: [request] });
    const record = await arena.until("the job", ({ jobs }) =>
      [...jobs.values()].find(({ job }) => job.salt === request.salt && job.requester === sender.address),
    );
    const liar = await LiarWorker.create(arena);
    await mustRefuse(claim(liar.session, record), "WrongJobStatus");
    // The fee is not lost: anybody can expire the job after its time.
    await arena.players.chain.advance(9_500);
    await liar.session.sender.send({ ...market, functionName: "expire", args: [record.job] });
    const closed = await arena.until("the refund", ({ jobs }) => jobs.get(record.id)?.closed || undefined);
    return closed ? "refused by the contract" : "left alone by honest parties";
  }
}

/** A model that moves data unchanged, gathers by an index input, and adds. */
const hostileModel = (): KnownProgram =>
  knownProgram(
    compile(
      readModel(
        buildModel({
          inputs: [
            { name: "x", dtype: DType.float32, shape: [64, 3] },
            { name: "i", dtype: DType.int64, shape: [40] },
          ],
          outputs: [{ name: "y", dtype: DType.float32, shape: [3, 40] }],
          initializers: {},
          nodes: [
            { op: "Gather", inputs: ["x", "i"], outputs: ["g"], attributes: { axis: 0 } },
            { op: "Transpose", inputs: ["g"], outputs: ["y"], attributes: { perm: [1, 0] } },
          ],
        }),
      ),
      { shapes: {} },
    ),
  );

/**
 * NaNs with each single payload bit and both signs, signalling NaNs, -0 and infinities. The indices lie within the
 * range, outside the range, or at extremes.
 */
function hostileInputs(): Uint8Array[] {
  const x = new Uint8Array(64 * 3 * 4);
  for (let k = 0; k < 192; k++) {
    const payload = 1 << (k % 23);
    const sign = k % 2 === 0 ? 0 : 0x8000_0000;
    const words = [0x7f80_0000 | payload, 0x7fff_ffff ^ payload, 0x7fc0_0000, 0, 0x7f80_0000];
    writeWord(x, k, DType.float32, BigInt((words[k % words.length]! | sign) >>> 0));
  }
  const indices = new Uint8Array(40 * 8);
  const edges = [-1, -64, -65, 64, 65, 63, 0, 2 ** 31, -(2 ** 31), 1e15, -1e15].map(BigInt);
  edges.push(2n ** 63n - 1n, -(2n ** 63n));
  for (let k = 0; k < 40; k++) writeWord(indices, k, DType.int64, edges[k] ?? BigInt((k * 5) % 64));
  return [x, indices];
}

/** NaN payloads and indices out of range: the fast executor, the definition and the chain see the same. */
class HostileInputs extends Adversary {
  readonly name = "every NaN payload bit and out-of-range indices in inputs, answered honestly";
  readonly expected = "finalised";

  async attack(arena: Arena): Promise<Verdict> {
    const program = hostileModel();
    await arena.startWatcher([program]);
    const executors = new FastExecutors();
    const key = await arena.players.workerKey();
    const posted = await arena.post(program, hostileInputs());
    // The chain recomputes every element before the worker submits it.
    const audit = { selfAuditSamples: 60 };
    const worker = await arena.players.startWorker(key, program, executors.execute, audit);
    const { id } = await arena.claimOn(posted);
    await first(arena.watcher, "agrees", (e) => e.claimId === id);
    const verdict = await arena.survival(posted);
    await worker.stop();
    await executors.close();
    return verdict;
  }
}

/** Replaces bytes of the defined result for hostile inputs. */
class HostileAnswer extends Adversary {
  readonly expected = "refuted by a proof";

  readonly name: string;
  readonly change: (tensor: Uint8Array, inputs: readonly Uint8Array[]) => void;

  constructor(name: string, change: (tensor: Uint8Array, inputs: readonly Uint8Array[]) => void) {
    super();
    this.name = name;
    this.change = change;
  }

  async attack(arena: Arena): Promise<Verdict> {
    const program = hostileModel();
    await arena.startWatcher([program]);
    const posted = await arena.post(program, hostileInputs());
    const execute: Execute = (model, inputs) => {
      const last = model.program.steps.length - 1;
      const onStep = (step: number, tensor: Uint8Array): void => {
        if (step === last) this.change(tensor, inputs);
      };
      return Promise.resolve(executeReference(model, inputs, { onStep }));
    };
    const liar = await arena.players.startWorker(await arena.players.workerKey(), program, execute);
    const verdict = await arena.death(posted);
    await liar.stop();
    return verdict;
  }
}

/** A column of the output. Column `k` takes row `indices[k]` of the input. */
const COLUMN_IN_RANGE = 20;

/** Inputs that defeat every rounding certificate in a matrix product: all elements take the exact path. */
class UncertifiableInputs extends Adversary {
  readonly name = "inputs that defeat the certificate";
  readonly expected = "finalised";

  async attack(arena: Arena): Promise<Verdict> {
    const [rows, inner, columns] = [16, 64, 16];
    const step = matMulStep(rows, inner, columns);
    const drawn = stepModel([step]);
    const program = { ...drawn.program, maxStepGas: estimateStepProofGas(step) };
    const known = knownProgram({ ...drawn, program, programRoot: programRoot(program) });
    await arena.startWatcher([known]);
    const executors = new FastExecutors();
    const worker = await arena.players.startWorker(await arena.players.workerKey(), known, executors.execute);
    let verdict: Verdict = "finalised";
    for (const inputs of [nullSpace(rows, inner, columns), ties(rows, inner, columns)]) {
      const posted = await arena.post(known, inputs);
      const { id } = await arena.claimOn(posted);
      await first(arena.watcher, "agrees", (e) => e.claimId === id);
      verdict = await arena.survival(posted);
    }
    await worker.stop();
    await executors.close();
    return verdict;
  }
}

const bytesOf = (values: Float32Array): Uint8Array => new Uint8Array(values.buffer);

/** Returns rows orthogonal to columns: every exact sum is 0, although the products are not 0. */
function nullSpace(rows: number, inner: number, columns: number): Uint8Array[] {
  const prng = new Prng(3);
  const value = () => (prng.below(20_001) - 10_000) / 7_919;
  const left = Float32Array.from({ length: rows * inner }, value);
  const right = Float32Array.from({ length: columns * inner }, value);
  for (let i = 0; i < left.length; i += 2) {
    left[i + 1] = left[i]!;
    right[i + 1] = -right[i]!;
  }
  return [bytesOf(left), bytesOf(right)];
}

/** Integers whose sums are exactly between two float32. */
function ties(rows: number, inner: number, columns: number): Uint8Array[] {
  const left = Float32Array.from({ length: rows * inner }, (_, k) =>
    k % inner === 0 ? 2 ** 24 : k % inner === 1 ? 1 : 0,
  );
  const right = Float32Array.from({ length: columns * inner }, () => 1);
  return [bytesOf(left), bytesOf(right)];
}

export const HOSTILE_JOBS: readonly Adversary[] = [
  new ProgramNobodyCanOpen(),
  new WithheldInput(),
  new HostileInputs(),
  new HostileAnswer("a NaN payload kept through a pure move", (tensor) => {
    // The first NaN that was canonicalised, with another payload.
    for (let k = 0; k + 4 <= tensor.length; k += 4) {
      if (tensor[k + 2] === 0xc0 && tensor[k + 3] === 0x7f) return void (tensor[k] = 1);
    }
    throw new Error("there is no NaN in the output");
  }),
  new HostileAnswer("another row for an index out of range", (tensor, [x]) => tensor.set(x!.subarray(12, 16), 2 * 4)),
  new HostileAnswer("another row for an index in range", (tensor) => void (tensor[COLUMN_IN_RANGE * 4 + 1]! ^= 4)),
  new UncertifiableInputs(),
];
