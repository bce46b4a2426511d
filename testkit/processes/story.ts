import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { numberToHex, parseEther, type Address, type Hex } from "viem";
import type { History } from "../../src/chain/market/history.ts";
import { followMarket, type Snapshot } from "../../src/chain/market/session.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { postJob } from "../../src/parties/requester/postJob.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../models/mlp.ts";
import { Anvil } from "../../src/deploy/devnet/anvil.ts";
import { FaultyProxy, NetworkPool } from "../nodes/faultyProxy.ts";
import { deployLocally } from "../../src/deploy/devnet/deployLocally.ts";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import type { LiarSettings } from "../../src/deploy/devnet/liar.ts";
import { Prng } from "../random/prng.ts";
import { builtCommandLine } from "./commandLine.ts";
import { LifeLog, type Lives } from "./lifeLog.ts";
import { Parties, type Party } from "./parties.ts";
import { RefuteProcess, type ServedModel } from "./refuteProcess.ts";
import { gainOf, judge, transactionsOf, wealthOf, type Verdict, type Wealth } from "./verdict.ts";

/** How a story is told. Times in seconds. */
export type StoryTerms = {
  seed: number;
  /** Wrong claims, all open at once, and honest jobs at the same time. */
  lies: number;
  jobs: number;
  window: number;
  clock: number;
  /** Between blocks. */
  blockSeconds: number;
  /** The story posts jobs and mines blocks itself, step by step. */
  isPaced?: boolean;
  /** Models that worker and watcher know in addition to the story's models. */
  otherModels?: readonly ServedModel[];
  /** The story ends after the limit, even with open claims. */
  limit: number;
  /** After every lie has been refuted, the story moves the chain's clock past the honest claims' windows. */
  skipsWindows?: boolean;
  /** Blocks between the deployment and the story. */
  emptyBlocks?: number;
  /** Extra nodes for each honest process, each with a constant lag in blocks. */
  laggingNodes?: readonly number[];
  /** By how much the clocks of the honest processes are ahead of the true time. */
  clocksAhead?: Readonly<Record<"worker" | "watcher", number>>;
};

/** A story's result. */
export type StoryResult = Verdict & {
  /** Errors logged by worker and watcher, by message. */
  errors: Record<string, number>;
  /** The lives of each process, except the first life. */
  lives: Lives;
  /** Processes that ended by themselves, and were started again. */
  ended: number;
  seconds: number;
  /** Requests and failures by kind, at both proxies. */
  calls: Record<string, number>;
  output: Record<"worker" | "watcher", string>;
};

const HONEST = ["worker", "watcher"] as const;
/** Bonds that the watcher can have out at once, in addition to one bond per lie. */
const SPARE_BONDS = 3;
const FEE = parseEther("0.1");
/** The number of first elements in the lying step that can hold a lie. */
const LIE_ELEMENTS = 300;

/** The option of Node that puts a process's clock ahead. @param seconds May be negative. */
function clockAhead(seconds: number): string {
  const code = `{ const Clock = Date; globalThis.Date = class extends Clock {
    constructor(...given) { given.length > 0 ? super(...given) : super(Clock.now() + ${seconds * 1_000}); }
    static now() { return Clock.now() + ${seconds * 1_000}; }
  } }`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

/**
 * A whole market in processes of its own: a node, `refute worker`, `refute watcher`, a liar. The worker and the watcher
 * each reach the node through a proxy of their own, which can have faults. The liar has none.
 */
export class Story {
  readonly terms: StoryTerms;
  readonly prng: Prng;
  readonly anvil: Anvil;
  readonly proxies: Record<(typeof HONEST)[number], FaultyProxy>;
  readonly processes: Record<(typeof HONEST)[number], RefuteProcess>;
  readonly lifeLog: LifeLog;
  readonly #more: (() => Promise<void>)[] = [];
  readonly #parties: Record<"worker" | "watcher" | "liar" | "requester", Party>;
  readonly #before: Record<(typeof HONEST)[number], Wealth>;
  readonly #folder: string;
  readonly #pool: NetworkPool;
  readonly #fromBlock: bigint;
  readonly #lagging: readonly FaultyProxy[];
  readonly #follow: () => Promise<Snapshot>;
  #liar: ChildProcess | undefined;
  #ended = 0;
  #hasSkipped = false;
  #lookFailure: unknown;
  #honestJobs: Hex[] = [];
  #jobsPosted = 0;
  /** As of the last look. */
  history: History | undefined;

  private constructor(parts: {
    terms: StoryTerms;
    anvil: Anvil;
    pool: NetworkPool;
    proxies: Story["proxies"];
    parties: Record<"worker" | "watcher" | "liar" | "requester", Party>;
    before: Record<(typeof HONEST)[number], Wealth>;
    fromBlock: bigint;
    lifeLog: LifeLog;
    lagging: readonly FaultyProxy[];
  }) {
    const { terms, anvil, pool, proxies, parties, before, fromBlock, lifeLog, lagging } = parts;
    [this.terms, this.anvil, this.#pool, this.proxies, this.#parties] = [terms, anvil, pool, proxies, parties];
    [this.#before, this.#fromBlock, this.lifeLog, this.#lagging] = [before, fromBlock, lifeLog, lagging];
    this.prng = new Prng(terms.seed);
    this.#folder = mkdtempSync(join(tmpdir(), "refute-liar-"));
    this.processes = { worker: this.processOf("worker"), watcher: this.processOf("watcher") };
    for (const proxy of lagging) this.atEnd(() => proxy.close());
    this.#follow = followMarket(parties.requester.session);
  }

  /** Starts a node with a deployment and accounts. No other process runs yet, and no block comes by itself. */
  static async create(terms: StoryTerms): Promise<Story> {
    const { seed, lies, jobs, clock, window } = terms;
    const anvil = await Anvil.start();
    const deployment = await deployLocally(anvil.url, { baseWindow: window, baseClock: clock });
    const make = new Parties(anvil, deployment, seed);
    const requester = await make.withCredit("requester", BigInt(lies + jobs) * FEE);
    const { bond } = requester.session.deployment;
    const parties = {
      requester,
      worker: await make.withStake("worker", jobs),
      liar: await make.withStake("liar", lies),
      watcher: await make.withCredit("watcher", BigInt(lies + SPARE_BONDS) * bond),
    };
    const lifeLog = new LifeLog();
    const pool = new NetworkPool(anvil.url);
    const proxies = {
      worker: await FaultyProxy.start(pool, seed, (call) => lifeLog.called("worker", call)),
      watcher: await FaultyProxy.start(pool, seed + 1, (call) => lifeLog.called("watcher", call)),
    };
    const lagging = await Promise.all((terms.laggingNodes ?? []).map((blocks) => lag(pool, blocks)));
    const before = { worker: await wealthOf(parties.worker), watcher: await wealthOf(parties.watcher) };
    const fromBlock = await requester.session.publicClient.getBlockNumber();
    if (terms.emptyBlocks !== undefined) await anvil.request("anvil_mine", [numberToHex(terms.emptyBlocks)]);
    return new Story({ terms, anvil, pool, proxies, parties, before, fromBlock, lifeLog, lagging });
  }

  /** Creates another process for an honest party, with the party's key and nodes. */
  processOf(name: (typeof HONEST)[number]): RefuteProcess {
    const urls = [...this.#lagging.map(({ url }) => url), this.proxies[name].url];
    const { seed, otherModels = [], jobs } = this.terms;
    const command =
      name === "worker"
        ? ["worker", "--self-audit", "1", "--margin-seconds", "10", "--max-open-claims", String(jobs)]
        : ["watcher", "--mode", "defend"];
    const { deployment } = this.#parties.requester.session;
    const flags = {
      "--rpc-url": urls.join(),
      "--chain-id": String(deployment.chainId),
      "--market": deployment.market,
      "--interval": String(this.terms.blockSeconds / 2),
    };
    // The worker does not know the lies' model: a worker's claim on such a job would keep the liar out.
    const own = name === "worker" ? [seed] : [seed, seed + 1];
    const models = [...own.map((k) => ({ bytes: mlpBytes(k) })), ...otherModels];
    const ahead = this.terms.clocksAhead?.[name] ?? 0;
    const env = ahead === 0 ? undefined : { NODE_OPTIONS: clockAhead(ahead) };
    return new RefuteProcess([...command, ...Object.entries(flags).flat()], this.#parties[name].key, models, env);
  }

  /** The account that lies. */
  get liar(): Address {
    return this.#parties.liar.address;
  }

  /** Has something else closed at the end. */
  atEnd(close: () => Promise<void>): void {
    this.#more.push(close);
  }

  /**
   * Starts the processes, posts the jobs, lets happen what shall, and waits until every lie is decided and every honest
   * job is paid.
   * @param happen What goes on beside the games; it ends when the signal is given.
   */
  async play(happen: (story: Story, signal: AbortSignal) => Promise<void> = () => Promise.resolve()) {
    const start = Date.now();
    const ended = new AbortController();
    try {
      await Promise.all(HONEST.map((name) => this.restart(name)));
      const end = Date.now() + this.terms.limit * 1_000;
      // Honest parties are there before the jobs are.
      while (!HONEST.every((name) => this.lifeLog.hasReadEvents(name)) && Date.now() < end) {
        await this.#supervise();
        await sleep(200);
      }
      this.#startLiar();
      if (this.terms.isPaced !== true) {
        await this.anvil.mineEvery(this.terms.blockSeconds);
        await this.post(this.terms.lies, this.terms.jobs);
      }
      const happening = happen(this, ended.signal);
      happening.catch(() => undefined);
      while (Date.now() < end && !(await this.#isOver())) {
        await this.#supervise();
        await sleep(500);
      }
      ended.abort();
      await happening.catch((error: unknown) => {
        if (!(error instanceof Error && error.name === "AbortError")) throw error;
      });
      return await this.#result(Date.now() - start);
    } finally {
      ended.abort();
      await this.#close();
    }
  }

  /** Posts jobs for the liar alone, and jobs for the honest worker alone. */
  async post(lies: number, jobs: number): Promise<void> {
    const { seed, window } = this.terms;
    const { session } = this.#parties.requester;
    const { timestamp } = await session.publicClient.getBlock();
    const terms = { fee: FEE, window: window + 1, claimSeconds: 120 + this.terms.clock, deadline: timestamp + 86_000n };
    const post = async (model: number) => {
      const { jobId } = await postJob(
        session,
        describeProgram(mlpProgram(model)),
        [mlpInput(seed + this.#jobsPosted++)],
        terms,
      );
      if (model === seed) this.#honestJobs.push(jobId);
    };
    const models = [...Array<number>(lies).fill(seed + 1), ...Array<number>(jobs).fill(seed)];
    await Promise.all(models.map(post));
  }

  /** Starts a process, after killing any running instance. */
  async restart(name: (typeof HONEST)[number]): Promise<void> {
    await this.processes[name].kill();
    this.lifeLog.began(name);
    await this.processes[name].start();
  }

  /** Reads the chain past all faults. If the node is down, the known history stays. */
  async look(): Promise<History | undefined> {
    try {
      this.history = (await this.#follow()).history;
      this.#lookFailure = undefined;
    } catch (error) {
      this.#lookFailure = error;
    }
    return this.history;
  }

  /** Waits until something holds of the market. @throws AbortError */
  async until(holds: (history: History) => boolean, signal: AbortSignal): Promise<void> {
    for (;;) {
      const history = await this.look();
      if (history !== undefined && holds(history)) return;
      await sleep(300, undefined, { signal });
    }
  }

  async #isOver(): Promise<boolean> {
    const history = await this.look();
    if (history === undefined) return false;
    const { lies, jobs, paid } = judge(history, this.liar, this.#honestJobs);
    const own = [...history.claims.values()].filter(({ claim }) => claim.worker === this.liar);
    const areDecided = lies >= this.terms.lies && own.every(({ finalised, refuted }) => finalised || refuted);
    const areServed = this.#honestJobs.every((id) => history.jobs.get(id)?.claims.length === 1);
    if (areDecided && areServed) await this.#skipWindows();
    return areDecided && jobs === this.terms.jobs && paid === jobs;
  }

  async #skipWindows(): Promise<void> {
    if (this.#hasSkipped || this.terms.skipsWindows !== true) return;
    await this.anvil.request("evm_increaseTime", [this.terms.window + 1]);
    this.#hasSkipped = true;
  }

  /** Restarts processes that ended by themselves, like a server's supervisor. */
  async #supervise(): Promise<void> {
    for (const name of HONEST) {
      if (!this.processes[name].hasEnded) continue;
      this.#ended++;
      await this.restart(name);
    }
  }

  #startLiar(): void {
    const { seed, lies } = this.terms;
    const { key, session } = this.#parties.liar;
    const path = join(this.#folder, "model.onnx");
    writeFileSync(path, mlpBytes(seed + 1));
    const models = [{ path, shapes: {}, bind: {}, uint8: [] }];
    const { chainId, market } = session.deployment;
    const lie = { step: 0, element: this.prng.below(LIE_ELEMENTS) };
    const settings: LiarSettings = { url: this.anvil.url, chainId, market, key, models, lie, maxOpenClaims: lies };
    const program = join(dirname(builtCommandLine()), "..", "deploy/devnet/liar.js");
    this.#liar = spawn(process.execPath, [program], {
      env: { ...process.env, LIAR: JSON.stringify(settings) },
      stdio: ["ignore", "ignore", "inherit"],
    });
    killAtExit(this.#liar);
  }

  async #result(milliseconds: number): Promise<StoryResult> {
    const history = (await this.look())!;
    if (this.#lookFailure !== undefined) throw new Error("the story cannot be judged", { cause: this.#lookFailure });
    const honest = HONEST.map((name) => [name, this.#parties[name]] as const);
    const gains: StoryResult["gains"] = {};
    for (const [name, party] of honest) gains[name] = gainOf(this.#before[name], await wealthOf(party));
    const accounts = honest.map(([, { address }]) => address);
    const calls: Record<string, number> = {};
    for (const { counts } of Object.values(this.proxies))
      for (const [what, count] of counts) calls[what] = (calls[what] ?? 0) + count;
    const output = { worker: this.processes.worker.output, watcher: this.processes.watcher.output };
    return {
      ...judge(history, this.liar, this.#honestJobs),
      ...(await transactionsOf(this.anvil, this.#fromBlock, accounts)),
      gains,
      errors: errorsIn(output.worker + output.watcher),
      lives: this.lifeLog.lives,
      ended: this.#ended,
      seconds: Math.round(milliseconds / 1_000),
      calls,
      output,
    };
  }

  async #close(): Promise<void> {
    this.#liar?.kill("SIGKILL");
    for (const close of this.#more) await close();
    await Promise.all(HONEST.map((name) => this.processes[name].end()));
    await Promise.all(HONEST.map((name) => this.proxies[name].close()));
    this.#pool.close();
    await this.anvil.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A node that is always some blocks behind. */
async function lag(pool: NetworkPool, staleBlocks: number): Promise<FaultyProxy> {
  const proxy = await FaultyProxy.start(pool, staleBlocks);
  proxy.faults = { staleRate: 1, staleBlocks };
  return proxy;
}

/** Counts a log's error lines and the reasons that ended the process, by message and reason. */
function errorsIn(output: string): Record<string, number> {
  const counts: Record<string, number> = {};
  const count = (what: string): void => void (counts[what.slice(0, 200)] = (counts[what.slice(0, 200)] ?? 0) + 1);
  for (const line of output.split("\n")) {
    if (line.startsWith("refute: ")) count(line);
    const { level = 0, msg, code, reason } = parsed(line);
    if (level >= 50) count([msg, code, reason].filter((part) => part !== undefined).join(": "));
  }
  return counts;
}

type LogLine = { level?: number; msg?: string; code?: string; reason?: string };

/** Parses a log line. Returns an empty object for other text, or for a line cut off by a kill. */
function parsed(line: string): LogLine {
  try {
    return line.startsWith("{") ? (JSON.parse(line) as LogLine) : {};
  } catch {
    return {};
  }
}
