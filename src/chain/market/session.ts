import type { Address, LocalAccount } from "viem";
import type { TransactionSender } from "../call.ts";
import { connect, type Endpoint } from "../connect.ts";
import { NoBaseFeeError } from "../errors.ts";
import { translateError } from "../translateError.ts";
import { readDeployment } from "./deployment.ts";
import { chooseForgotten, jobOf, REMEMBERED_BLOCKS, removeJobs, type Forget } from "./forget.ts";
import { ForgottenInputs, forgetInputs, withoutInput } from "./forgottenInputs.ts";
import { findFirstBlock, type FirstBlockMemory } from "./firstBlock.ts";
import { emptyHistory, protocolAbi, takeEvent, type History } from "./history.ts";
import { DisputeGame } from "../clients/disputeGame.ts";
import { Erc20 } from "../clients/erc20.ts";
import { JobMarket } from "../clients/jobMarket.ts";
import { Provisioning } from "../clients/provisioning.ts";
import { StakeVault } from "../clients/stakeVault.ts";
import { inTurn } from "../../base/inTurn.ts";
import { LogStore, type SyncResult } from "../logStore.ts";
import type { RpcFailure } from "../nodes.ts";
import type { ResumePoint } from "./resume.ts";
import type { Patience } from "../resendTimes.ts";
import { Sender } from "../sender.ts";
import type { Wallet } from "../wallet.ts";
import { WalletSender } from "../walletSender.ts";
import type { Reader } from "./reader.ts";

/** A deployment, a node to read it from, and an account to act with. */
export type Session = Reader & {
  sender: TransactionSender;
  /** The deployment's contracts, as the account uses them. */
  market: JobMarket;
  game: DisputeGame;
  vault: StakeVault;
  provisioning: Provisioning;
  asset: Erc20;
};

/** The options that identify a session. */
export type SessionOptions = {
  endpoint: Endpoint;
  chainId: number;
  /** The market's address: the other contracts are read from it. */
  market: Address;
  /** A local key, or a wallet that signs and sends by itself. */
  account: LocalAccount | Wallet;
  /** The block of the deployment, or any block before. Without a possible value, the session asks the chain. */
  fromBlock?: bigint;
  /** Keeps what the chain answered. */
  firstBlock?: FirstBlockMemory | undefined;
  /** How long a transaction is waited for. */
  patience?: Partial<Patience>;
  /** Called for each request to a node that had no answer. */
  onRpcFailure?: (failure: RpcFailure) => void;
};

/**
 * Connects to a chain without an account, checks it, and reads the deployment.
 * @throws WrongChainError, NotDeployedError, RpcUnavailableError
 */
export async function openReader({
  endpoint,
  chainId,
  market,
  fromBlock = 0n,
  firstBlock,
  onRpcFailure,
}: Omit<SessionOptions, "account" | "patience">): Promise<Reader> {
  const publicClient = await connect(endpoint, chainId, onRpcFailure);
  return readerOf(publicClient, market, fromBlock, firstBlock);
}

async function readerOf(
  publicClient: Reader["publicClient"],
  market: Address,
  fromBlock: bigint,
  memory?: FirstBlockMemory,
): Promise<Reader> {
  const deployment = await readDeployment(publicClient, market);
  const first = await findFirstBlock(publicClient, market, fromBlock, memory, deployment.asset);
  return { publicClient, deployment, ...first };
}

/**
 * The same with an account to act with.
 * @throws WrongChainError, NotDeployedError, NoBaseFeeError, RpcUnavailableError
 */
export async function openSession({ account, patience, ...options }: SessionOptions): Promise<Session> {
  const reader = await openReader(options);
  const { publicClient } = reader;
  const { baseFeePerGas } = await publicClient.getBlock({ blockTag: "latest" }).catch((error: unknown) => {
    throw translateError(error, "reading the head");
  });
  if (baseFeePerGas === null) throw new NoBaseFeeError();
  const sender =
    account.type === "wallet"
      ? new WalletSender(publicClient, account, patience)
      : new Sender(publicClient, account, patience);
  return sessionOf(reader, sender);
}

/**
 * Opens a session about another market on the same chain, with the same account. Both sessions share one sender, to
 * prevent conflicting nonces.
 * @throws NotDeployedError, RpcUnavailableError
 */
export async function sessionBeside(
  { publicClient, sender, fromBlock }: Pick<Session, "publicClient" | "sender" | "fromBlock">,
  market: Address,
): Promise<Session> {
  return sessionOf(await readerOf(publicClient, market, fromBlock), sender);
}

function sessionOf(reader: Reader, sender: TransactionSender): Session {
  const { publicClient, deployment } = reader;
  const access = { publicClient, sender };
  return {
    ...reader,
    ...access,
    market: new JobMarket(deployment.market, access),
    game: new DisputeGame(deployment.game, access),
    vault: new StakeVault(deployment.vault, access),
    provisioning: new Provisioning(deployment.provisioning, access),
    asset: new Erc20(deployment.asset, access),
  };
}

/** A market's known state at one block. */
export type Snapshot = {
  history: History;
  /** The head's time, unix seconds. */
  now: bigint;
  /** The head block. Reads in addition to the history use this block, to agree with the history. */
  blockNumber: bigint;
};

/** Keeps the events of a market on disk. */
export type Resume = (reader: Reader, store: LogStore<typeof protocolAbi>) => ResumePoint;

/** How far the reading goes back, besides doubling, for a claim whose job was not read. */
const FIRST_STEP_BACK = 1_000n;

/**
 * The time between two reads of old blocks: a block of L1, or a second here. Nodes lag by time, so a read after a
 * shorter time shows little more. A role's rounds, and a rollup's blocks, may be far closer together.
 */
const OVERLAP_REST = { ms: 1_000, seconds: 12n };

/** Blocks between two searches for jobs that may be forgotten. */
const TIDY_BLOCKS = 64n;

/**
 * Follows a market: each call brings the history up to the head. Overlapping calls run one after the other.
 * @param forget Chooses the forgettable part of a job some time after the job's last event. Without this function,
 *   everything is remembered.
 * @param resume Keeps the events on disk (`resumeFrom`): a restart reads only new events.
 */
export function followMarket(reader: Reader, forget?: Forget, resume?: Resume): () => Promise<Snapshot> {
  const { deployment, publicClient } = reader;
  const begin = (fromBlock: bigint) => {
    const addresses = [deployment.market, deployment.game];
    const store = new LogStore(publicClient, addresses, protocolAbi, fromBlock, OVERLAP_REST);
    const point = resume?.({ ...reader, fromBlock }, store);
    return { fromBlock, store, point, forgotten: forget && new ForgottenInputs(store, forget) };
  };
  let { fromBlock, store, point, forgotten } = begin(reader.fromBlock);
  let history = emptyHistory();
  let taken = 0;
  let tidied = fromBlock;
  const take = ({ head, rewoundTo }: SyncResult): void => {
    // Records are changed in place, so what a reorganisation took back can only be left out by starting again.
    if (rewoundTo !== undefined) [history, taken, tidied] = [emptyHistory(), 0, fromBlock];
    for (; taken < store.events.length; taken++) takeEvent(history, store.events[taken]!);
    const old = head.number - REMEMBERED_BLOCKS;
    const below = old < store.keptFrom ? old : store.keptFrom;
    if (forget === undefined || below < tidied + TIDY_BLOCKS) return;
    tidy(store, history, forget, below, head.timestamp);
    [taken, tidied] = [store.events.length, below];
  };
  const bringUp = async (): Promise<SyncResult["head"]> => {
    const result = await store.sync(async (read) => {
      take(read);
      await point?.saveOnTheWay();
    });
    take(result);
    return result.head;
  };
  const follow = async (): Promise<Snapshot> => {
    await point?.load();
    let head = await bringUp();
    // A claim whose job was not read: the jobs are further back than somebody said.
    while (history.unread.size > 0 && reader.isProven !== true && fromBlock > 0n) {
      const back = 2n * (head.number - fromBlock) + FIRST_STEP_BACK;
      ({ fromBlock, store, point, forgotten } = begin(back < head.number ? head.number - back : 0n));
      [history, taken, tidied] = [emptyHistory(), 0, fromBlock];
      // Before the reading: a store with events takes no saved events.
      await point?.load();
      head = await bringUp();
    }
    if (await forgotten?.bringBack(history, head)) head = await bringUp();
    await point?.saveAtHead(head.timestamp);
    return { history, now: head.timestamp, blockNumber: head.number };
  };
  const turn = inTurn();
  return () => turn(follow);
}

/** Forgets what may be forgotten of jobs without an event from block `below` on. */
function tidy(store: LogStore<typeof protocolAbi>, history: History, forget: Forget, below: bigint, now: bigint): void {
  const recent = new Set(store.events.flatMap((event) => (event.blockNumber >= below ? [jobOf(history, event)] : [])));
  const chosen = chooseForgotten(history, forget, now, ({ id }) => !recent.has(id));
  store.drop(below, (event) => {
    const id = jobOf(history, event);
    // The event concerns an unknown job, or a job forgotten before.
    if (id === undefined || !history.jobs.has(id) || chosen.all.has(id)) return undefined;
    return chosen.inputs.has(id) ? withoutInput(event) : event;
  });
  for (const id of chosen.inputs) forgetInputs(history, id);
  removeJobs(history, chosen.all);
}
