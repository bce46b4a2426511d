import type { JobRecord } from "../../../src/chain/market/history.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { knownProgram, programFacts, type KnownProgram } from "../../../src/dispute/run/execution.ts";
import { ONE_ITEM } from "../../../src/program/run.ts";
import { Executions } from "../../../src/runs/executions.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";
import { compileModel } from "../../../testkit/models/compileModel.ts";
import { MIB, ownStatus } from "./figures.ts";

/** Prints the process's memory: resident, its peak, files in it, V8's heap used and reserved, buffers, executions. */
function report(stage: string, kept = 0): void {
  globalThis.gc?.();
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  const [peak, files] = [ownStatus("VmHWM"), ownStatus("RssFile")];
  const figures = { rss, peak, files, heapUsed, heapTotal, external, arrayBuffers, kept };
  const text = Object.entries(figures).map(([name, bytes]) => `${name} ${Math.round(bytes / MIB)}`);
  console.log(`${stage.padEnd(28)} ${text.join("  ")}  (MiB)`);
}

/** The job of a program, as it is read from a chain. */
function jobOf(id: number, { model, commitment }: KnownProgram, inputs: readonly Uint8Array[]): JobRecord {
  const inputRoots = inputs.map(tensorRoot);
  const parts = new Map(inputs.map((bytes, k) => [k, new Map([[0, toHex(bytes)]])]));
  const inputsRoot = MerkleList.fromHashes(inputRoots).root;
  const job = { programRoot: model.programRoot, inputsRoot, ...ONE_ITEM, answers: 0 };
  const record = { id: `0x${id}`, job, program: programFacts(commitment), inputRoots, parts, claims: [] };
  return record as unknown as JobRecord;
}

/**
 * Where the memory of a worker goes: executes jobs of models of the catalogue as a worker does, and prints the
 * process's memory after each stage.
 * @param keepMib The budget of kept executions.
 */
export async function measureJobs(names: readonly string[], jobs: number, keepMib: number): Promise<void> {
  report("modules loaded");
  const models = names.map((name) => {
    const entry = catalogued(name);
    const given = entry.inputs();
    const program = knownProgram(compileModel(entry, given).model);
    const inputs = program.model.inputs.map((input) => given.get(input.name)!.bytes);
    report(`${name} compiled`);
    return { name, program, inputs };
  });
  const executors = new FastExecutors();
  const programs = ProgramLibrary.of(models.map(({ program }) => program));
  const executions = new Executions(programs, executors.execute, keepMib * MIB);
  let id = 0;
  for (const { name, program, inputs } of models)
    for (let k = 0; k < jobs; k++) {
      const own = inputs.map((bytes) => Uint8Array.from(bytes));
      own[0]![0] = k;
      await executions.of(jobOf(++id, program, own));
      if ([1, 10, jobs].includes(k + 1)) report(`${name} ${k + 1} jobs`, executions.bytes);
    }
  await executors.close();
  report("executors closed", executions.bytes);
}
