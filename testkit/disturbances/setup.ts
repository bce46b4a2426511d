import { parseEther, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import type { Deployment } from "../../src/chain/market/deployment.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import { openSession, type Session } from "../../src/chain/market/session.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { postJob, type JobTerms } from "../../src/parties/requester/postJob.ts";
import { Players } from "../players/players.ts";
import { carriedAnswers } from "../programs/answerPrograms.ts";
import { runInputBytes, runProgram } from "../programs/runProgram.ts";
import { chainOfSums, sumsInput } from "../programs/randomSums.ts";
import { Prng } from "../random/prng.ts";
import { ForkingChain } from "./forkingChain.ts";
import { RpcLine } from "./rpcLine.ts";
import { PARTIES, RUN_ITEMS, type Party, type Scenario, type ScenarioJob } from "./scenarios.ts";

const FEE = parseEther("0.1");

/** A chain with the protocol, and every party's key and money. Tests can play any number of scenarios on the chain. */
export class Setup {
  readonly fork: ForkingChain;
  /** The programs in the scenarios' jobs. */
  readonly programs: readonly KnownProgram[];
  readonly keys: Record<Party | "requester", Hex>;
  readonly fee = FEE;
  readonly deployment: Deployment;
  readonly #jobs: Record<ScenarioJob, SignedPost>;
  /** Each party's wealth in the vault before a scenario. */
  readonly wealth = new Map<Party, bigint>();
  readonly #addresses: Record<Party, Hex>;
  readonly #observer: Session;

  private constructor(
    fork: ForkingChain,
    programs: readonly KnownProgram[],
    keys: Setup["keys"],
    observer: Session,
    jobs: Record<ScenarioJob, SignedPost>,
  ) {
    this.fork = fork;
    this.programs = programs;
    this.keys = keys;
    const addressOf = (party: Party): Hex => privateKeyToAccount(keys[party]).address;
    this.#addresses = { worker: addressOf("worker"), watcher: addressOf("watcher"), second: addressOf("second") };
    this.deployment = observer.deployment;
    this.#observer = observer;
    this.#jobs = jobs;
  }

  static async create(): Promise<Setup> {
    const players = await Players.create();
    const { chain } = players;
    const requester = await chain.newAccount(parseEther("1"));
    const observer = await chain.sessionOf(requester);
    await deposit(observer, parseEther("1"));
    const keys = {
      worker: await players.workerKey(),
      watcher: await players.watcherKey(),
      second: await players.watcherKey(),
      requester,
    };
    const [sums, run, runAnswer] = [chainOfSums(), runProgram(), carriedAnswers()];
    const fork = new ForkingChain(chain);
    const input = [sumsInput(new Prng(1), sums.model)];
    const jobs = {
      delivered: await signPost(fork, sums, requester, input, { maxOutputBytes: 4_096 }),
      kept: await signPost(fork, sums, requester, input, { maxOutputBytes: 0 }),
      answer: await signPost(fork, sums, requester, input, { maxOutputBytes: 4_096, answer: true }),
      run: await signPost(fork, run, requester, runInputBytes(RUN_ITEMS.run), {
        maxOutputBytes: 4_096,
        items: RUN_ITEMS.run,
      }),
      runAnswer: await signPost(fork, runAnswer, requester, runInputBytes(RUN_ITEMS.runAnswer), {
        maxOutputBytes: 4_096,
        items: RUN_ITEMS.runAnswer,
        answer: true,
      }),
    };
    const setup = new Setup(fork, [sums, run, runAnswer], keys, observer, jobs);
    for (const party of PARTIES) setup.wealth.set(party, await setup.wealthOf(party));
    return setup;
  }

  /** The job of a scenario. */
  jobOf({ job }: Scenario): SignedPost {
    return this.#jobs[job];
  }

  addressOf(party: Party): Hex {
    return this.#addresses[party];
  }

  /** Returns a party's ledger entries, without money locked in games. */
  async wealthOf(party: Party): Promise<bigint> {
    const { credit, staked, withdrawing } = await this.#observer.vault.accountOf(this.addressOf(party));
    return credit + staked + withdrawing;
  }

  close(): Promise<void> {
    return this.fork.chain.close();
  }
}

/** A job and its signed post transaction. */
type SignedPost = { post: Hex; jobId: Hex };

/** Signs the transaction that posts a job. A scenario can then lose the transaction and send it again. */
async function signPost(
  fork: ForkingChain,
  program: KnownProgram,
  key: Hex,
  inputs: readonly Uint8Array[],
  more: Partial<JobTerms>,
): Promise<SignedPost> {
  await fork.begin();
  const line = new RpcLine(fork);
  let post: Hex = "0x";
  line.fault = (call, pass) => {
    if (call.method === "eth_sendRawTransaction") [post] = call.params as [Hex];
    return pass(call);
  };
  const { chainId, market, now } = fork.chain;
  const account = privateKeyToAccount(key);
  const session = await openSession({ endpoint: { transport: line.transport }, chainId, market, account });
  const deadline = (await now()) + 86_400n;
  const terms = { fee: FEE, window: 3_600, claimSeconds: 1_800, deadline, ...more };
  const { jobId } = await postJob(session, describeProgram(program), inputs, terms);
  await fork.begin();
  return { post, jobId };
}
