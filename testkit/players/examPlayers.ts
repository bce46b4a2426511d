import { parseEther, zeroHash, type Address, type Hex } from "viem";
import { deposit } from "../../src/chain/market/deposit.ts";
import { openSession, type Session } from "../../src/chain/market/session.ts";
import { PledgedClaims, PledgedClaimsReader } from "../../src/chain/clients/pledgedClaims.ts";
import type { ExamResult } from "../../src/chain/structs.ts";
import type { LocalTickets } from "../../src/deploy/demo/localChain.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { attest } from "../../src/attestation/attest.ts";
import { SoftwareDevice } from "../../src/attestation/device.ts";
import { openExamClaims } from "../../src/attestation/exams/openExamClaims.ts";
import { openExams } from "../../src/attestation/exams/openExams.ts";
import { sitExam } from "../../src/attestation/exams/sitExam.ts";
import { solver } from "../../src/attestation/exams/solve.ts";
import { runWorker } from "../../src/parties/worker/worker.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import { privateKeyToAccount } from "viem/accounts";
import type { WatcherEvent } from "../../watcher/events.ts";
import { runWatcher } from "../../watcher/watcher.ts";
import { Players, start } from "./players.ts";
import type { Execute } from "../../src/runs/execute.ts";
import type { WatcherOptions } from "../../watcher/options.ts";

/** The least distance of two exams. */
const SPACING = 256n;

/** A worker that sits exams with a separate device, and with a pledge behind its reports. */
export type Examinee = { key: Hex; device: SoftwareDevice; session: Session; claimContracts: Session };

/** Players on a chain with exams about a single program, whose wrong roots can be challenged. */
export class ExamPlayers {
  readonly players: Players;
  readonly program: KnownProgram;
  readonly exams: Address;
  readonly beside: LocalTickets;

  private constructor(players: Players, program: KnownProgram, exams: Address, beside: LocalTickets) {
    [this.players, this.program, this.exams, this.beside] = [players, program, exams, beside];
  }

  static async create(program: KnownProgram): Promise<ExamPlayers> {
    const players = await Players.create();
    const { chain } = players;
    const { provisioning } = (await chain.newSession()).deployment;
    const examClasses = [{ programRoot: program.model.programRoot, blocks: 64 }];
    const exams = await chain.deploy("Exams", [provisioning, examClasses, 1n, SPACING]);
    return new ExamPlayers(players, program, exams, await chain.deployTickets({}, exams));
  }

  /** A session of an account about the pledged claims. */
  claimContractsOf(key: Hex): Promise<Session> {
    const { transport, chainId } = this.players.chain;
    const account = privateKeyToAccount(key);
    return openSession({ endpoint: { transport }, chainId, market: this.beside.claims, account });
  }

  /** Returns the clients for challenging exams, for an account. */
  open(claimContracts: Session) {
    return openExamClaims(claimContracts, this.beside.examClaims!);
  }

  /** Creates an attested worker with a pledge and an enrolment. */
  async examinee(): Promise<Examinee> {
    const key = await this.players.chain.newAccount(parseEther("5"));
    const session = await this.players.chain.sessionOf(key);
    const device = new SoftwareDevice(this.players.manufacturer);
    await attest(session, device, zeroHash);
    const claimContracts = await this.claimContractsOf(key);
    const { collateral } = claimContracts.deployment.parameters;
    await deposit(claimContracts, collateral);
    await claimContracts.vault.stake(collateral);
    await new PledgedClaims(this.beside.claims, claimContracts).pledge();
    await (await this.open(claimContracts)).examClaims.enrol(claimContracts.sender.address);
    return { key, device, session, claimContracts };
  }

  /** The key of an account with credit for two bonds. */
  async challengerKey(): Promise<Hex> {
    const key = await this.players.chain.newAccount(parseEther("1"));
    const claimContracts = await this.claimContractsOf(key);
    await deposit(claimContracts, 2n * claimContracts.deployment.bond);
    return key;
  }

  /** Mines blocks up to the next exam, unless already reached. @returns the exam block's number */
  async nextExam(): Promise<bigint> {
    const { chain } = this.players;
    const { provider } = chain;
    const head = BigInt((await provider.request({ method: "eth_blockNumber" })) as string);
    const { exams } = await openExams(await chain.newSession(), this.exams);
    const { number, gridBlock } = await exams.lastExam();
    // The deployment's block decides the first exam.
    let exam = number === 0 ? (head > SPACING ? head - SPACING : 0n) : gridBlock + SPACING;
    while (exam < head && !(await exams.isExam(exam))) exam++;
    const blocks = exam + 1n - head;
    if (blocks > 0n) await provider.request({ method: "hardhat_mine", params: [`0x${blocks.toString(16)}`, "0x1"] });
    return exam;
  }

  /** Has a worker sit an exam. @returns what the chain keeps of it */
  async sit({ session, device }: Examinee, gridBlock: bigint, execute: Execute): Promise<ExamResult> {
    const { exams } = await openExams(session, this.exams);
    const task = { class: 0, programRoot: this.program.model.programRoot, gridBlock };
    const { traceRoot, receipt } = await sitExam(session, exams, device, task, solver(this.program, execute));
    const log = receipt.logs.at(-1)!;
    const { timestamp: time } = await session.publicClient.getBlock({ blockNumber: receipt.blockNumber });
    const { number } = await exams.lastExam();
    const nonce: Hex = `0x${log.data.slice(2 + 128, 2 + 192)}`;
    return { worker: session.sender.address, device: device.id, class: 0, number, time, nonce, traceRoot };
  }

  /**
   * Lets a game about a worker's only claim run out of time, and then the claim's window, up to the time when the
   * worker makes the claim final. The steps are short while a game is open: each party has time for the party's moves.
   */
  async endClaim({ claimContracts }: Examinee, claimId: Hex): Promise<void> {
    const { chain } = this.players;
    const reader = new PledgedClaimsReader(this.beside.claims, claimContracts);
    const { time: windowEnd } = await reader.statusOf(claimId);
    const step = async (): Promise<void> => {
      await chain.advance(600);
      await new Promise((resolve) => setTimeout(resolve, 150));
    };
    for (let k = 0; k < 1_000 && (await claimContracts.game.claimGames(claimId)).open > 0n; k++) await step();
    const left = windowEnd - (await chain.now());
    if (left > 0n) await chain.advance(Number(left));
    const { address } = claimContracts.sender;
    for (let k = 0; k < 1_000 && (await reader.pledgeOf(address)).claims > 0n; k++) await step();
  }

  /** Starts a worker that answers games about results, and makes undisputed claims final. */
  defend({ claimContracts }: Examinee, execute: Execute) {
    const policy = { minFee: 1n, marginSeconds: 10 };
    const role = { programs: ProgramLibrary.of([this.program]), execute, policy, selfAuditSamples: 0 };
    return start<WorkerEvent>(claimContracts, (all) => runWorker({ ...all, ...role }));
  }

  /** Has an account audit exams. */
  async audit(key: Hex, execute: Execute, share = 1, changes: Partial<WatcherOptions> = {}) {
    const claimContracts = await this.claimContractsOf(key);
    const exams = { claimContracts: await this.open(claimContracts), share };
    const role = { programs: ProgramLibrary.of([this.program]), execute, mode: "defend" as const, exams };
    return start<WatcherEvent>(claimContracts, (all) => runWatcher({ ...all, ...role, ...changes }));
  }
}
