import { maxUint256 } from "viem";
import { ContractRevertError } from "../../chain/errors.ts";
import { translateError } from "../../chain/translateError.ts";
import { RefuteError } from "../../base/errors.ts";
import { problemOf } from "../../base/health.ts";
import type { Role } from "../role/role.ts";
import type { Device } from "../../attestation/device.ts";
import { sitExam } from "../../attestation/exams/sitExam.ts";
import { solver } from "../../attestation/exams/solve.ts";
import type { WorkerEvent } from "./events.ts";
import type { WorkerOptions, WorkerExams } from "./options.ts";

/** Interval between checks for held classes, seconds of the chain's time. */
const MEASURE_SECONDS = 60n;

/** The number of blocks whose hashes the chain knows. An exam without a number is forgotten after as many blocks. */
const KNOWN_BLOCKS = 256n;

/** Contract errors that end an exam for the worker: the block was replaced, or the report is too late. */
const OVER = new Set(["NoExam", "ExamOver", "SatBefore"]);
const isOver = (error: unknown): error is ContractRevertError =>
  error instanceof ContractRevertError && OVER.has(error.errorName);

/** The tools with which a worker sits exams. */
type Examinee = Pick<WorkerOptions, "session" | "programs" | "execute" | "log"> & { device: Device };

/** A worker's exams: the worker sits each exam for every class with a known program. */
export class Examinations {
  readonly #options: Examinee;
  readonly #examClasses: WorkerExams;
  readonly #role: Role<WorkerEvent>;
  /** Exam blocks with classes that the worker has sat or given up. */
  readonly #done = new Set<string>();
  /** The newest block on the grid that is known to be an exam's, or not. */
  #seen = -1n;
  #exam: bigint | undefined;
  /** The last exam that has a number, or is about to get one from this worker. */
  #numbered: bigint | undefined;
  #measureAt = 0n;

  constructor(options: Examinee, examClasses: WorkerExams, role: Role<WorkerEvent>) {
    this.#options = options;
    this.#examClasses = examClasses;
    this.#role = role;
  }

  /**
   * Sits the open exam, if any, unless already sat. The condition `exams` reports any obstacle, and the worker tries
   * again while the exam is open.
   * @param head The block number of the chain's head. @param now The head's time.
   */
  async tend(head: bigint, now: bigint): Promise<void> {
    try {
      if (this.#known().length > 0) {
        await this.#look(head);
        const exam = this.#exam;
        // The tasks need not wait for the number.
        if (exam !== undefined) await Promise.all([this.#number(exam), this.#sitAll(exam, head)]);
      }
      if (now >= this.#measureAt) await this.#measure(now);
      this.#role.health.set("exams", this.#problem());
    } catch (error) {
      this.#role.health.set("exams", problemOf(error, "an exam is not sat, and tried again while it is open"));
      if (!(error instanceof RefuteError)) throw error;
    }
  }

  /** Why there is nothing to sit. */
  #problem() {
    if (this.#known().length > 0) return undefined;
    return { reason: "no program of the exams' classes is among the models: see refute exam classes" };
  }

  /** Returns the classes with known programs, in the order of their deadlines. */
  #known(): number[] {
    const { classes } = this.#examClasses;
    return classes
      .map((_, k) => k)
      .filter((k) => this.#options.programs.knows(classes[k]!.programRoot))
      .sort((a, b) => classes[a]!.blocks - classes[b]!.blocks);
  }

  /**
   * Searches the grid blocks for the block that the contract counts as the exam, newest first, as far back as the chain
   * knows. While an exam has no number, the search begins at this exam: the next candidate counts once the chain has
   * forgotten the exam.
   */
  async #look(head: bigint): Promise<void> {
    const { exams, gridBlocks } = this.#examClasses;
    // A node may evaluate a call inside the head block: the examined block must come before the head.
    const newest = head - 1n - ((head - 1n) % gridBlocks);
    if (newest === this.#seen) return;
    const after = this.#exam === this.#numbered ? this.#seen : this.#exam! - 1n;
    const oldest = after < newest - KNOWN_BLOCKS ? newest - KNOWN_BLOCKS : after;
    for (let block = newest; block > oldest && block > 0n; block -= gridBlocks)
      // All of one head: among blocks that pass meanwhile, the exam may be the block that was asked for too early.
      if (await exams.isExam(block, head)) {
        this.#exam = block + KNOWN_BLOCKS > head ? block : await this.#candidate(block, newest);
        break;
      }
    this.#seen = newest;
  }

  /**
   * Returns the first candidate after a block whose hash the next block does not know: a transaction in the next block
   * finds this candidate to be the exam. `_isCandidate` in contracts/attestation/Exams.sol has the same threshold:
   * the contract cannot be asked, because its answer is that of the head, which still knows the hash. Without a
   * candidate up to the newest grid block, returns the block itself.
   */
  async #candidate(forgotten: bigint, newest: bigint): Promise<bigint> {
    const { exams, gridBlocks } = this.#examClasses;
    const { publicClient } = this.#options.session;
    const most = maxUint256 / BigInt(await exams.examOdds());
    for (let block = forgotten + gridBlocks; block <= newest; block += gridBlocks)
      if (BigInt((await publicClient.getBlock({ blockNumber: block })).hash) <= most) return block;
    return forgotten;
  }

  /** The classes that can still sit an exam in the next block, and have not. */
  #due(exam: bigint, head: bigint): number[] {
    const { classes } = this.#examClasses;
    return this.#known().filter(
      (k) => !this.#done.has(`${exam} ${k}`) && head + 1n <= exam + BigInt(classes[k]!.blocks),
    );
  }

  /**
   * Numbers the exam if nobody has. The number makes a missed exam visible, also if no report comes in time. A failure
   * is logged only, and numbering is tried again: each report numbers the exam too. Never rejects: the reports of the
   * exam are waited for.
   */
  async #number(exam: bigint): Promise<void> {
    if (this.#numbered === exam) return;
    const { exams } = this.#examClasses;
    this.#numbered = exam;
    try {
      if ((await exams.lastExam()).gridBlock !== exam) await exams.numberExam(exam);
    } catch (thrown) {
      const error = translateError(thrown, "numberExam");
      if (this.#numbered === exam) this.#numbered = undefined;
      // The block is no exam: the next look searches again for the exam, from this block on.
      if (this.#exam === exam && isOver(error)) [this.#exam, this.#seen] = [undefined, exam - 1n];
      if (this.#role.isNew("exam number", "", `${exam} ${error.message}`))
        this.#options.log.warn({ exam: String(exam), error: error.message }, "an exam is not numbered");
    }
  }

  async #sitAll(exam: bigint, head: bigint): Promise<void> {
    for (const k of this.#due(exam, head)) await this.#sit(exam, k);
  }

  async #sit(exam: bigint, k: number): Promise<void> {
    const { session, device, programs, execute } = this.#options;
    const { exams, classes } = this.#examClasses;
    const { programRoot } = classes[k]!;
    const program = await programs.load(programRoot);
    if (program === undefined) return;
    const task = { class: k, programRoot, gridBlock: exam };
    try {
      const { seq, milliseconds, receipt } = await sitExam(session, exams, device, task, solver(program, execute));
      this.#role.report({
        ...{ kind: "sat", class: k, exam: String(exam), seq: String(seq) },
        ...{ milliseconds: Math.round(milliseconds), receipt },
      });
    } catch (error) {
      if (!isOver(error)) throw error;
      this.#options.log.warn({ class: k, exam: String(exam), error: error.errorName }, "an exam was missed");
    }
    this.#done.add(`${exam} ${k}`);
  }

  /** Says which classes are held. */
  async #measure(now: bigint): Promise<void> {
    const { exams } = this.#examClasses;
    const held = await exams.classesOf(this.#options.session.sender.address);
    this.#measureAt = now + MEASURE_SECONDS;
    this.#role.meter.figures({ classes: held.length });
    if (this.#role.isNew("classes", "", held.join())) this.#options.log.info({ classes: held }, "classes held");
  }
}
