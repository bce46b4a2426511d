import { parseEther, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { knownProgram, type KnownProgram } from "../../src/player/execution.ts";
import type { Deployment } from "../../src/market/deployment.ts";
import { deposit } from "../../src/market/ledger.ts";
import { openSession, type Session } from "../../src/market/session.ts";
import { postJob } from "../../src/sdk/postJob.ts";
import { Players } from "../players/players.ts";
import { seeded, toyInput, toyModel } from "../programs/toyProgram.ts";
import { ForkingChain } from "./forkingChain.ts";
import { Line } from "./line.ts";
import { PARTIES, type Party, type Story } from "./stories.ts";

const FEE = parseEther("0.1");

/** A chain with the protocol on it, and everybody's keys and money, on which stories can be told again and again. */
export class Stage {
  readonly fork: ForkingChain;
  readonly program: KnownProgram;
  readonly keys: Record<Party | "requester", Hex>;
  readonly fee = FEE;
  readonly deployment: Deployment;
  readonly #jobs: { delivered: Drawn; kept: Drawn };
  /** What each party has in the vault before a story. */
  readonly wealth = new Map<Party, bigint>();
  readonly #observer: Session;

  private constructor(
    fork: ForkingChain,
    program: KnownProgram,
    keys: Stage["keys"],
    observer: Session,
    jobs: { delivered: Drawn; kept: Drawn },
  ) {
    this.fork = fork;
    this.program = program;
    this.keys = keys;
    this.deployment = observer.deployment;
    this.#observer = observer;
    this.#jobs = jobs;
  }

  static async create(): Promise<Stage> {
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
    const program = knownProgram(toyModel(seeded(77), 12));
    const fork = new ForkingChain(chain);
    const jobs = {
      delivered: await drawUp(fork, program, requester, 4_096),
      kept: await drawUp(fork, program, requester, 0),
    };
    const stage = new Stage(fork, program, keys, observer, jobs);
    for (const party of PARTIES) stage.wealth.set(party, await stage.wealthOf(party));
    return stage;
  }

  /** The job of a story. */
  jobOf({ delivery }: Story): Drawn {
    return delivery ? this.#jobs.delivered : this.#jobs.kept;
  }

  addressOf(party: Party): Hex {
    return privateKeyToAccount(this.keys[party]).address;
  }

  /** A party's ledger entries, without what is locked in games. */
  async wealthOf(party: Party): Promise<bigint> {
    const { credit, staked, withdrawing } = await this.#observer.vault.accountOf(this.addressOf(party));
    return credit + staked + withdrawing;
  }

  close(): Promise<void> {
    return this.fork.chain.close();
  }
}

/** A job, and the signed transaction that posts it. */
type Drawn = { post: Hex; jobId: Hex };

/** The post of a job as a signed transaction, so that a story may lose it and have it again. */
async function drawUp(fork: ForkingChain, program: KnownProgram, key: Hex, maxOutputBytes: number): Promise<Drawn> {
  await fork.begin();
  const line = new Line(fork);
  let post: Hex = "0x";
  line.fault = (call, pass) => {
    if (call.method === "eth_sendRawTransaction") [post] = call.params as [Hex];
    return pass(call);
  };
  const { chainId, market, now } = fork.chain;
  const account = privateKeyToAccount(key);
  const session = await openSession({ endpoint: { transport: line.transport }, chainId, market, account });
  const deadline = (await now()) + 86_400n;
  const terms = { fee: FEE, window: 3_600, claimSeconds: 1_800, deadline, maxOutputBytes };
  const { jobId } = await postJob(session, program, [toyInput(seeded(1), program.model)], terms);
  await fork.begin();
  return { post, jobId };
}
