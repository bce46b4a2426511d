import type { Address, Hex } from "viem";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { disputeGameAbi } from "../abi/disputeGame.ts";
import { jobMarketAbi } from "../abi/jobMarket.ts";
import type { ChainEvent } from "../logReader.ts";
import { unpackState, type GameState } from "./state.ts";
import { claimKeyOf } from "./ids.ts";
import type { Claim, ClaimKey, Job, Move, Outcome, ProgramFacts, Terms } from "../structs.ts";

/** The events of the market and its games. */
export const protocolAbi: readonly [...typeof jobMarketAbi, ...typeof disputeGameAbi] = [
  ...jobMarketAbi,
  ...disputeGameAbi,
];
export type ProtocolEvent = ChainEvent<typeof protocolAbi>;

export type InputParts = Map<number, Map<number, Hex>>;

/** A job, read from its events. */
export type JobRecord = {
  id: Hex;
  job: Job;
  /** The job's terms. Most jobs have none. */
  terms: Terms | undefined;
  program: ProgramFacts;
  inputRoots: readonly Hex[];
  /** The transaction that posted it: its end may say where the inputs lie (`referencesIn`). */
  postedIn: Hex;
  /** The published parts of the inputs: by the input's number, then by the part's. */
  parts: InputParts;
  /** All known jobs with the same program, items and inputs, including this job: see `sourcesOf`. */
  alike: readonly JobRecord[];
  claims: ClaimRecord[];
  /** The job may be claimed: all inputs are available, and no worker holds the job. */
  open: boolean;
  /** Who has claimed it and not submitted yet, and until when it may (unix seconds). */
  holder: { worker: Address; until: bigint } | undefined;
  /** Who had claimed it and was too late. */
  late: Set<Address>;
  /** The worker and the worker's commitment, while the result stays sealed. */
  sealed: { worker: Address; seal: Hex } | undefined;
  /** Whose seal was not opened in time: it has lost its whole collateral. */
  broken: Address | undefined;
  /** Cancelled or expired; no claim will come. */
  closed: boolean;
};

/** A claim, read from its events. */
export type ClaimRecord = {
  id: Hex;
  jobId: Hex;
  claim: Claim;
  windowEnd: bigint;
  /**
   * The nodes below the claim's root that the submission brought: as many as a reveal shows. The root if the submission
   * brought none.
   */
  nodes: Hex;
  games: GameRecord[];
  finalised: boolean;
  refuted: boolean;
  /** The requester took it in its window: it is over, and never becomes final. */
  accepted: boolean;
  /** A proof ended it: the claim never becomes final. The outputs are right if the key is sound. */
  proven?: { keyHash: Hex; outputs: readonly Hex[] };
  /** The outputs delivered, by number. */
  delivered: Map<number, Hex>;
  /** The transactions that first delivered them. */
  deliveredIn: Map<number, Hex>;
  /** The outputs whose callback succeeded. */
  calledBack: Set<number>;
  paid: boolean;
  /** The fee went back to the requester: nobody is paid for a delivery. */
  reclaimed: boolean;
};

type Ends = Pick<ClaimRecord, "finalised" | "refuted" | "accepted" | "proven">;

/** Whether a claim has its result for good: final, accepted by the requester, or proven. */
export const stands = ({ finalised, accepted, proven }: Omit<Ends, "refuted">): boolean =>
  finalised || accepted || proven !== undefined;

/** Whether a claim can be disputed, or becomes final only by a transaction that was not sent yet. */
export const isOpen = (claim: Ends): boolean => !claim.refuted && !stands(claim);

/** An accepted move: the sent data and the resulting state. */
export type MoveRecord = { move: Move; state: GameState; data: Hex; transactionHash: Hex };

/** A game, read from its events. */
export type GameRecord = {
  id: Hex;
  claimId: Hex;
  /** The fields that name the claim in calls. */
  key: ClaimKey;
  challenger: Address;
  moves: MoveRecord[];
  proved?: { step: number; element: bigint; claimed: bigint; exact: bigint };
  closed?: { outcome: Outcome; paid: bigint; transactionHash: Hex; blockNumber: bigint };
};

/** All that happened on a market, by id. */
export type History = {
  jobs: Map<Hex, JobRecord>;
  claims: Map<Hex, ClaimRecord>;
  games: Map<Hex, GameRecord>;
  /** By the job's id: bytes that come with a post are logged before the job itself. */
  parts: Map<Hex, InputParts>;
  /** Jobs of the same program, items and inputs, by `questionOf`. */
  alike: Map<string, JobRecord[]>;
  /** Open claims on jobs that were not read, with the ends of their windows: nobody here can judge them. */
  unread: Map<Hex, bigint>;
};

/** Returns the history of an unused market. */
export const emptyHistory = (): History => ({
  jobs: new Map(),
  claims: new Map(),
  games: new Map(),
  parts: new Map(),
  alike: new Map(),
  unread: new Map(),
});

/** Names a job's question. Jobs with equal names have equal input bytes, in the same parts. */
export const questionOf = ({ programRoot, inputsRoot, items }: Job): string => [programRoot, inputsRoot, items].join();

/** Brings a history up to the next event: the same events in the chain's order give the same history. */
export function takeEvent({ jobs, claims, games, parts, alike, unread }: History, event: ProtocolEvent): void {
  switch (event.eventName) {
    case "JobPosted": {
      const { jobId, job, program, inputRoots } = event.args;
      const published = getOrAdd(parts, jobId, (): InputParts => new Map());
      const same = getOrAdd(alike, questionOf(job), (): JobRecord[] => []);
      const record: JobRecord = {
        id: jobId,
        job,
        terms: undefined,
        program,
        inputRoots,
        postedIn: event.transactionHash,
        parts: published,
        alike: same,
        claims: [],
        open: false,
        holder: undefined,
        sealed: undefined,
        broken: undefined,
        late: new Set(),
        closed: false,
      };
      same.push(record);
      jobs.set(jobId, record);
      break;
    }
    case "TermsPosted":
      update(jobs, event.args.jobId, { terms: event.args.terms });
      break;
    case "InputPublished": {
      const { jobId, input, part, data } = event.args;
      const ofJob = getOrAdd(parts, jobId, (): InputParts => new Map());
      getOrAdd(ofJob, Number(input), () => new Map<number, Hex>()).set(Number(part), data);
      break;
    }
    case "JobOpened":
      update(jobs, event.args.jobId, { open: true, holder: undefined });
      break;
    case "JobClaimed": {
      const { jobId, worker, until } = event.args;
      update(jobs, jobId, { open: false, holder: { worker, until } });
      break;
    }
    case "JobExpired":
      jobs.get(event.args.jobId)?.late.add(event.args.worker);
      break;
    case "JobClosed":
      update(jobs, event.args.jobId, { open: false, holder: undefined, sealed: undefined, closed: true });
      break;
    case "ClaimSubmitted": {
      const { jobId, claimId, worker, root, collateral, windowEnd, nodes } = event.args;
      const job = jobs.get(jobId);
      if (job === undefined) {
        unread.set(claimId, windowEnd);
        break;
      }
      // If nobody has shown the claim's nodes, only the root is known.
      const shown = nodes === "0x" ? root : nodes;
      const claim = newClaim(claimId, jobId, { job: job.job, worker, root, collateral }, windowEnd, shown);
      job.claims.push(claim);
      job.holder = undefined;
      job.sealed = undefined;
      claims.set(claimId, claim);
      break;
    }
    case "ClaimSealed": {
      const { jobId, worker, seal } = event.args;
      update(jobs, jobId, { holder: undefined, sealed: { worker, seal } });
      break;
    }
    case "SealBroken":
      update(jobs, event.args.jobId, { broken: event.args.worker });
      break;
    case "ClaimAccepted":
      unread.delete(event.args.claimId);
      update(claims, event.args.claimId, { accepted: true });
      break;
    case "ClaimProven": {
      const { claimId, keyHash, outputs } = event.args;
      unread.delete(claimId);
      update(claims, claimId, { proven: { keyHash, outputs } });
      break;
    }
    case "ClaimFinalised":
      unread.delete(event.args.claimId);
      update(claims, event.args.claimId, { finalised: true });
      break;
    case "ClaimRefuted":
      unread.delete(event.args.claimId);
      update(claims, event.args.claimId, { refuted: true });
      break;
    case "FeeReleased":
      update(claims, event.args.claimId, { paid: true });
      break;
    case "FeeReturned":
      update(claims, event.args.claimId, { reclaimed: true });
      break;
    case "OutputDelivered": {
      const claim = claims.get(event.args.claimId);
      claim?.delivered.set(Number(event.args.output), event.args.data);
      claim?.deliveredIn.set(Number(event.args.output), event.transactionHash);
      break;
    }
    case "CallbackMade":
      jobs.get(event.args.jobId)?.claims.at(-1)?.calledBack.add(Number(event.args.output));
      break;
    case "Picked":
    case "Moved": {
      const { gameId } = event.args;
      const data = event.eventName === "Moved" ? event.args.data : "0x";
      const state = unpackState(event.args.state);
      const { claimId, move } = state;
      const claim = claims.get(claimId);
      if (claim === undefined) break;
      const game = getOrAdd(games, gameId, () => {
        const key = claimKeyOf(claim.jobId, claim.claim);
        const opened: GameRecord = { id: gameId, claimId, key, challenger: state.challenger, moves: [] };
        claim.games.push(opened);
        return opened;
      });
      game.moves.push({ move, state, data, transactionHash: event.transactionHash });
      break;
    }
    case "Proved": {
      const { step, element, claimed, exact } = event.args;
      update(games, event.args.gameId, { proved: { step, element, claimed, exact } });
      break;
    }
    case "GameClosed": {
      const { paid } = event.args;
      const outcome = event.args.outcome as Outcome;
      const { transactionHash, blockNumber } = event;
      update(games, event.args.gameId, { closed: { outcome, paid, transactionHash, blockNumber } });
      break;
    }
    default:
  }
}

function newClaim(id: Hex, jobId: Hex, claim: Claim, windowEnd: bigint, nodes: Hex): ClaimRecord {
  const open = { finalised: false, refuted: false, accepted: false, paid: false, reclaimed: false };
  const outputs = { delivered: new Map(), deliveredIn: new Map(), calledBack: new Set<number>() };
  return { id, jobId, claim, windowEnd, nodes, games: [], ...outputs, ...open };
}

function update<T extends object>(records: Map<Hex, T>, id: Hex, change: Partial<T>): void {
  const record = records.get(id);
  if (record !== undefined) Object.assign(record, change);
}

/** The state that a game is in: that of its latest move. */
export const stateOf = (game: GameRecord): GameState => game.moves.at(-1)!.state;
