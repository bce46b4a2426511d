import type { Hex } from "viem";
import type { Delivery, Parameters } from "../../chain/structs.ts";
import { toHex } from "../../program/merkle/hash.ts";
import { formOf } from "../../chain/market/claimForm.ts";
import type { ClaimRecord, History, JobRecord } from "../../chain/market/history.ts";
import { programFacts } from "../../dispute/run/execution.ts";
import type { Executions } from "../../runs/executions.ts";
import type { Logger } from "../../base/log.ts";
import { NativeJobs, type NativeOptions, type OutputTensors } from "../../runs/native/nativeJobs.ts";
import type { Role } from "../role/role.ts";
import { Answer } from "../../program/trace/answer.ts";
import type { WorkerEvent } from "./events.ts";
import { nativeRefusal, type NativePolicy } from "./nativePolicy.ts";

/** How a worker answers jobs natively. */
export type NativeWorkerOptions = NativeOptions & { policy: NativePolicy };

/** The answers that a worker submits without exact execution, and the outputs kept until delivery. */
export class NativeClaims {
  readonly #options: NativeWorkerOptions;
  readonly #jobs: NativeJobs;
  readonly #executions: Executions;
  readonly #parameters: Parameters;
  /** The outputs of natively answered jobs, by job. */
  readonly #outputs = new Map<Hex, OutputTensors>();
  /** Jobs that are answered natively, or were, and whose claims are not among the open ones yet. */
  readonly #underWay = new Map<Hex, JobRecord>();
  /** Jobs that this process executed exactly. After a restart, none is known to have been. */
  readonly #exact = new Set<Hex>();

  constructor(options: NativeWorkerOptions, role: Role<WorkerEvent>, log: Logger, parameters: Parameters) {
    this.#options = options;
    this.#jobs = new NativeJobs(options, { log, meter: role.meter, health: role.health, rate: parameters.rate });
    [this.#executions, this.#parameters] = [role.executions, parameters];
  }

  /**
   * The answer to a job that is claimed.
   * @param open Own claims of now.
   * @returns undefined if exact execution has to answer
   */
  async answer(job: JobRecord, open: readonly JobRecord[]): Promise<Answer | undefined> {
    const { id } = job;
    if (formOf(job.job) !== "answer" || this.#exact.has(id)) return undefined;
    // A submission that failed is sent again.
    const known = this.#outputs.get(id);
    if (known !== undefined) return Answer.ofTensors(known);
    for (const one of open) this.#underWay.delete(one.id);
    const all = new Map([...open.map((one) => [one.id, one] as const), ...this.#underWay]);
    all.delete(id);
    const uncertain = [...all.values()].filter((one) => formOf(one.job) === "answer" && !this.#exact.has(one.id));
    const refusal = nativeRefusal(job, uncertain, this.#options.policy, this.#parameters);
    if (refusal !== undefined) {
      this.#jobs.refused(id, refusal);
      this.#exact.add(id);
      return undefined;
    }
    // SAFETY: from now on, answers to other jobs count the current job.
    this.#underWay.set(id, job);
    const tensors = await this.#tensors(job).catch((error: unknown) => {
      this.#underWay.delete(id);
      throw error;
    });
    const answer = tensors && Answer.ofTensors(tensors);
    if (answer !== undefined && !this.#jobs.drawsExact()) {
      this.#outputs.set(id, tensors!);
      return answer;
    }
    this.#underWay.delete(id);
    this.#exact.add(id);
    const execution = answer && (await this.#executions.of(job));
    if (execution !== undefined) this.#jobs.compared(id, job.job.programRoot, execution.root === answer!.root);
    return undefined;
  }

  /**
   * Returns an output of a natively answered claim, in the form for delivery. @returns undefined if the output is
   * unknown
   */
  async delivery(job: JobRecord, { claim }: ClaimRecord, output: number): Promise<Delivery | undefined> {
    if (formOf(job.job) !== "answer" || this.#exact.has(job.id)) return undefined;
    const tensors = this.#outputs.get(job.id) ?? (await this.#tensors(job));
    const program = await this.#options.programs.of(job.job.programRoot);
    if (tensors === undefined || program === undefined) return undefined;
    const answer = Answer.ofTensors(tensors);
    if (answer.root !== claim.root) return undefined;
    return {
      program: programFacts(program.commitment),
      output,
      data: toHex(tensors[output]!.at(-1)!),
      siblings: answer.path(output, job.job.items - 1),
    };
  }

  /** Notes that exact execution has shown a claim by the worker to be wrong. */
  wrong({ id, job }: JobRecord): void {
    this.#jobs.compared(id, job.programRoot, false);
  }

  /** Forgets jobs that are forgotten. */
  forget({ jobs }: History): void {
    for (const id of this.#outputs.keys()) if (!jobs.has(id)) this.#outputs.delete(id);
    for (const id of this.#exact) if (!jobs.has(id)) this.#exact.delete(id);
    // Without a holder, a job is either claimed, and so among the open ones, or lost.
    for (const id of this.#underWay.keys()) if (jobs.get(id)?.holder === undefined) this.#underWay.delete(id);
  }

  async #tensors(job: JobRecord): Promise<OutputTensors | undefined> {
    const inputs = this.#executions.inputsOf(job);
    return inputs && this.#jobs.answer(job.id, job.job.programRoot, inputs);
  }
}
