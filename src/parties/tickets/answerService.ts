import { randomBytes } from "node:crypto";
import { bytesToHex, isAddressEqual, type Address, type Hex } from "viem";
import { PledgeStatus, type SignedClaim } from "../../chain/structs.ts";
import { DatabaseAccessError } from "../../base/database/errors.ts";
import { workSeconds } from "../../chain/market/clock.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { MAX_ITEMS, runWork } from "../../program/run.ts";
import { programWork } from "../../program/work.ts";
import { JobProgramError } from "../requester/errors.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import { Batches } from "../../runs/batches.ts";
import { answerRun } from "./answerRun.ts";
import { ChainReads } from "./chainReads.ts";
import { requireClaimable } from "./claimable.ts";
import { RefusedError } from "./errors.ts";
import { KeptTexts } from "./keptTexts.ts";
import type { AnswerBody, Info, Payment, Question } from "./messages.ts";
import { requestOf, ticketOfBody } from "./messageSchemas.ts";
import { aboutOf, bodyOf, inputsOf, usedNonce } from "./questions.ts";
import type { Pace, ServiceOptions } from "./serviceOptions.ts";
import { tokenReader, type OnToken } from "./tokenStream.ts";
import type { GivenAnswer } from "./workerLedger.ts";
import { digestOf, drawOf, oddsOf, secretHashOf, typedData } from "./typedData.ts";

/** Maximum difference between a payer's and a worker's clock, seconds. */
export const CLOCK_SKEW = 60;

const MAX_WAITING = 128;

/** A request under way, and the number of repeated sendings that wait for the answer. */
type Running = { about: string; answer: Promise<AnswerBody>; repeats: number };
const MAX_REPEATS = 4;

/** Unpaid answers that a payer may hold by default. */
const MAX_UNPAID = 16;

/**
 * Seconds that count for an answer, in seconds that the answer took here. A defence executes the run once more with all
 * its hashes, and parts of the run for the moves of games.
 */
const DEFENCE_FACTOR = 8;

/**
 * Answers payers and takes the payers' tickets. Every possible refusal happens before execution, and every signature is
 * in the ledger before sending.
 */
export class AnswerService {
  readonly #options: ServiceOptions;
  readonly #clock: () => number;
  /** The process's claim number: numbers grow from each start to the next, even after a restored backup. */
  #number: bigint;
  #waiting = 0;
  readonly #batches: Batches;
  /** Answers under way by payer, reserved ones included. */
  readonly #asking = new Map<string, number>();
  /** Requests under way, by payer and nonce. */
  readonly #running = new Map<string, Running>();
  /** Measured seconds an item, by program: the slowest of the latest answers. */
  readonly #measured = new Map<string, number>();
  readonly #reads = new ChainReads();
  readonly #texts = new KeptTexts();
  #stops = false;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#batches = new Batches(options.execute);
    this.#clock = options.clock ?? (() => Date.now() / 1_000);
    this.#number = BigInt(Date.now()) << 20n;
  }

  /** Returns the facts that payers need. */
  get info(): Info {
    const { at, price, programs, maxBodyBytes } = this.#options;
    return {
      worker: at.account.address,
      chainId: at.at.chainId,
      tickets: at.at.tickets,
      face: String(price.face),
      oneIn: price.oneIn,
      claimLifetime: at.claimLifetime,
      maxBodyBytes,
      unpaid: this.#maxUnpaid,
      programs: [...programs.roots],
    };
  }

  /** From now on every request is refused. @returns once the answers under way are given */
  async stop(): Promise<void> {
    this.#stops = true;
    await Promise.allSettled([...this.#running.values()].map(({ answer }) => answer));
  }

  /**
   * Checks the part of a question that comes before the inputs, without reading the chain.
   * @throws RefusedError if the request is not for this worker and time, or not signed by the payer
   */
  checkHead({ payer, request, signature }: Omit<Question, "inputs">): void {
    const { at } = this.#options;
    const { worker, time } = request;
    if (!isAddressEqual(worker as Address, at.account.address))
      throw new RefusedError(400, `this is the worker ${at.account.address}, not ${worker}`);
    if (Math.abs(Number(time) - this.#clock()) > CLOCK_SKEW)
      throw new RefusedError(400, `the request's time is more than ${CLOCK_SKEW} s from this machine's: set the clock`);
    this.#needSigner(payer as Address, digestOf(at.at, "Request", requestOf({ request })), signature as Hex);
  }

  /**
   * Executes and signs an answer. The same request with the same nonce and a new time gets the same answer until the
   * payment: nothing is executed or signed twice.
   * @param onToken Called with each token of a decoder, before the answer is signed.
   * @throws RefusedError
   */
  async answer(question: Question, onToken?: OnToken): Promise<AnswerBody> {
    if (this.#stops) throw new RefusedError(503, "the worker stops: ask again later");
    this.checkHead(question);
    const payer = question.payer.toLowerCase() as Address;
    const nonce = question.request.nonce.toLowerCase() as Hex;
    const name = `${payer} ${nonce}`;
    const same = this.#running.get(name);
    if (same !== undefined) return this.#awaited(same, question);
    const given = this.#kept(() => this.#options.ledger.given(nonce));
    if (given !== undefined) return this.#again(given, question);
    const answer = this.#answerNew(question, payer, nonce, onToken);
    this.#running.set(name, { about: aboutOf(question.payer, question.request), answer, repeats: 0 });
    return answer.finally(() => this.#running.delete(name));
  }

  /** Waits for the answer under way for the same request. */
  async #awaited(same: Running, question: Question): Promise<AnswerBody> {
    if (same.about !== aboutOf(question.payer, question.request)) throw usedNonce();
    if (same.repeats >= MAX_REPEATS) throw new RefusedError(429, "this request waits already: wait for its answer");
    same.repeats++;
    try {
      return await same.answer;
    } finally {
      same.repeats--;
    }
  }

  /** Gives a signed, unpaid answer again: the connection of the first sending may be lost. */
  #again(given: GivenAnswer | "nothing", question: Question): AnswerBody {
    if (given === "nothing" || aboutOf(given.claim.payer, given.claim) !== aboutOf(question.payer, question.request))
      throw usedNonce();
    return bodyOf(given);
  }

  async #answerNew(question: Question, payer: Address, nonce: Hex, onToken?: OnToken): Promise<AnswerBody> {
    const { ledger, maxWaiting = MAX_WAITING } = this.#options;
    if (this.#waiting >= maxWaiting)
      throw new RefusedError(503, `${maxWaiting} answers wait to be executed: ask again later`);
    const asking = this.#asking.get(payer) ?? 0;
    if (asking >= this.#maxUnpaid)
      throw new RefusedError(429, `${asking} answers to this payer are under way: wait for them`);
    this.#asking.set(payer, asking + 1);
    this.#waiting++;
    try {
      const { program, inputs, slowest, free } = await this.#checked(question);
      // Nothing else happens between this and the reservation: others ask at the same time.
      const seconds = this.#secondsOf(program.model.programRoot, question.request.items, slowest);
      this.#needTime(seconds);
      this.#needRoom(payer, free);
      const isNew = this.#kept(() =>
        ledger.reserve({
          nonce,
          payer,
          time: BigInt(question.request.time),
          seconds,
          inputsRoot: question.request.inputsRoot.toLowerCase() as Hex,
          inputs: inputs.bytes,
        }),
      );
      if (!isNew) throw usedNonce();
      try {
        return await this.#sign(question, nonce, { program, inputs, slowest, onToken });
      } catch (error) {
        ledger.release(nonce);
        throw error;
      }
    } finally {
      const left = this.#asking.get(payer)! - 1;
      if (left === 0) this.#asking.delete(payer);
      else this.#asking.set(payer, left);
      this.#waiting--;
    }
  }

  /**
   * Takes the ticket for an answer. The same one may come again.
   * @throws RefusedError
   */
  async pay(payment: Payment): Promise<void> {
    const { at, ledger, price } = this.#options;
    const ticket = ticketOfBody(payment);
    const answer = ledger.find(ticket.claim);
    if (answer === undefined) throw new RefusedError(404, `no answer has the claim ${ticket.claim}`);
    if (answer.state !== "signed") return;
    // SAFETY: a ticket that cannot be cashed pays nothing, and makes no room.
    if (Number(answer.claim.issued) + at.claimLifetime <= this.#clock())
      throw new RefusedError(402, "the claim cannot be put on chain any more: its ticket comes too late");
    if (ticket.face < price.face) throw new RefusedError(402, `the face is ${ticket.face}, not ${price.face}`);
    // SAFETY: a face that the deposit does not cover would win nothing. The other unpaid answers stay covered too.
    if (ticket.face > price.face) {
      const isCounted = answer.claim.issued > this.#since;
      await this.#freeDeposit(
        answer.payer,
        () => this.#neededFor(answer.payer, isCounted ? -1 : 0) - price.face + ticket.face,
      );
    }
    if (ticket.odds < oddsOf(price.oneIn))
      throw new RefusedError(402, `the ticket wins less often than once in ${price.oneIn} times`);
    const needed = answer.claim.issued + BigInt(at.claimLifetime);
    if (ticket.expiry < needed) throw new RefusedError(402, `the ticket expires before ${needed}`);
    const signature = payment.signature as Hex;
    const digest = digestOf(at.at, "Ticket", ticket);
    this.#needSigner(answer.payer, digest, signature);
    const wins = drawOf(answer.secret, digest) < ticket.odds;
    this.#kept(() => ledger.paid(ticket.claim, ticket, signature, wins));
  }

  /** All that can be refused. */
  async #checked(question: Question) {
    const { at, programs } = this.#options;
    const { programRoot, items, firstItem, inputsRoot } = question.request;
    const payer = question.payer as Address;
    const program = await programs.load(programRoot as Hex);
    if (program === undefined) {
      // After a start models are still compiled: which programs they are is known later.
      if (programs.pending.length > 0) throw new RefusedError(503, "models are compiled still: ask again later");
      throw new RefusedError(404, `program ${programRoot} is not served here`);
    }
    const { parameters } = at.session.deployment;
    if (items > MAX_ITEMS) throw new RefusedError(400, `${items} items: a claim has up to ${MAX_ITEMS}`);
    try {
      requireClaimable(parameters, program, items);
    } catch (error) {
      if (error instanceof JobProgramError) throw new RefusedError(400, error.message, { cause: error });
      throw error;
    }
    this.#needRoom(payer, 2n ** 256n);
    await this.#needPledge();
    const free = await this.#freeDeposit(payer, () => this.#neededFor(payer));
    // Hashing takes longest: it comes last, for somebody who can pay.
    const inputs = inputsOf(program, question, { items, firstItem });
    const root = inputs.roots.length === 0 ? `0x${"0".repeat(64)}` : inputs.list.root;
    if (root !== inputsRoot.toLowerCase())
      throw new RefusedError(400, `the inputs have the root ${root}, not ${inputsRoot}`);
    return { program, inputs, slowest: this.#slowest(program, items), free };
  }

  get #maxUnpaid(): number {
    return this.#options.maxUnpaid ?? MAX_UNPAID;
  }

  /** The deposit that one more answer needs: each winner, each unpaid answer and the new one can take a face. */
  #neededFor(payer: Address, more = 0): bigint {
    const { ledger, price } = this.#options;
    return ledger.owed(payer) + BigInt(ledger.unpaid(payer, this.#since) + 1 + more) * price.face;
  }

  /**
   * SAFETY: a payer that vanishes keeps its unpaid answers, so that they are few, and each has a face of the deposit.
   * @param free The payer's deposit.
   */
  #needRoom(payer: Address, free: bigint): void {
    // Answers that cannot be put on chain any more keep their places until they are forgotten.
    const unpaid = this.#options.ledger.unpaid(payer, 0n);
    if (unpaid >= this.#maxUnpaid)
      throw new RefusedError(429, `${unpaid} answers that were given to this payer are not paid: send a ticket first`);
    const needed = this.#neededFor(payer);
    if (free < needed) throw poor(free, needed);
  }

  #slowest({ model }: KnownProgram, items: number): number {
    return workSeconds(runWork(items, programWork(model.program)), this.#options.at.session.deployment.parameters.rate);
  }

  /** Seconds that count for a run: as measured here, but no more than the slowest execution takes. */
  #secondsOf(programRoot: string, items: number, slowest: number): number {
    const measured = this.#measured.get(programRoot.toLowerCase());
    return measured === undefined ? slowest : Math.min(slowest, DEFENCE_FACTOR * measured * items);
  }

  /** Returns how much of a program may be sold. */
  paceOf(program: KnownProgram): Pace {
    const { at } = this.#options;
    const { programRoot } = program.model;
    const secondsAnItem = this.#secondsOf(programRoot, 1, this.#slowest(program, 1_000) / 1_000);
    const measured = this.#measured.get(programRoot.toLowerCase());
    const bound = (30 * at.session.deployment.parameters.baseClock) / at.claimLifetime / secondsAnItem;
    return { secondsAnItem, itemsAMinute: Math.min(bound, 60 / (measured ?? 0)), isMeasured: measured !== undefined };
  }

  /** SAFETY: all claims that are out can be disputed at once, and each must be executed within a clock. */
  #needTime(seconds: number): void {
    const { at, ledger } = this.#options;
    const { baseClock } = at.session.deployment.parameters;
    if (ledger.liveSeconds(this.#since) + seconds > (baseClock + 2 * seconds) / 2)
      throw new RefusedError(503, "too many answers are out that could be disputed at once: ask again later");
  }

  /** Claims that were issued before this time cannot be put on chain any more. */
  get #since(): bigint {
    return BigInt(Math.floor(this.#clock()) - this.#options.at.claimLifetime);
  }

  async #sign(
    question: Question,
    nonce: Hex,
    of: { program: KnownProgram; inputs: RunInputs; slowest: number; onToken: OnToken | undefined },
  ): Promise<AnswerBody> {
    const { at, ledger, programs } = this.#options;
    const { program, inputs, slowest, onToken } = of;
    const onItem = onToken && tokenReader(program, onToken);
    const isText = programs.specOf(program.model.programRoot)?.decoder !== undefined;
    const kept = isText ? { texts: this.#texts, owner: question.payer.toLowerCase() } : undefined;
    const { result, milliseconds } = await this.#batches.run(program.model, (execute) =>
      answerRun(program, inputs, execute, onItem, kept),
    );
    const { outputs, root, nodes, isWhole } = result;
    const { items: count } = inputs.length;
    // SAFETY: a defence executes all items, also those that a kept text spared.
    const seconds = isWhole
      ? Math.min(slowest, this.#measure(program, count, milliseconds))
      : this.#secondsOf(program.model.programRoot, count, slowest);
    const secret = bytesToHex(randomBytes(32));
    const { programRoot, inputsRoot, items, firstItem } = requestOf(question);
    const claim: SignedClaim = {
      worker: at.account.address,
      payer: question.payer as Address,
      ...{ programRoot, inputsRoot, items, firstItem },
      number: this.#number++,
      issued: BigInt(Math.floor(this.#clock())),
      root,
      secretHash: secretHashOf(secret),
    };
    const signature = await at.account.signTypedData(typedData(at.at, "SignedClaim", claim));
    const digest = digestOf(at.at, "SignedClaim", claim);
    // SAFETY: the ledger keeps all outgoing data on disk before sending.
    this.#kept(() => ledger.signed(nonce, { digest, claim, signature, secret, nodes }, seconds, outputs));
    return bodyOf({ claim, signature, outputs });
  }

  async #needPledge(): Promise<void> {
    const { at } = this.#options;
    const { status } = await this.#reads.fresh("pledge", () => at.pledges.pledgeOf(at.account.address));
    if (status !== PledgeStatus.active) throw new RefusedError(503, "this worker has no pledge that backs its claims");
  }

  /**
   * Keeps what an answer took: the slower of this answer and of earlier answers; earlier times fade.
   * @returns seconds that count for the answer
   */
  #measure(program: KnownProgram, items: number, milliseconds: number): number {
    const root = program.model.programRoot.toLowerCase();
    const known = this.#measured.get(root);
    this.#measured.set(root, Math.max(milliseconds / 1_000 / items, 0.9 * (known ?? 0)));
    if (known === undefined) this.#options.onPace?.(root as Hex, this.paceOf(program));
    return (DEFENCE_FACTOR * milliseconds) / 1_000;
  }

  /** @returns the payer's deposit @throws RefusedError for less than needed */
  async #freeDeposit(payer: Address, needed: () => bigint): Promise<bigint> {
    const { at } = this.#options;
    const read = () => at.tickets.depositOf(payer, at.account.address);
    let { free } = await this.#reads.fresh(payer, read);
    // Somebody who just deposited is not sent away.
    if (free < needed()) ({ free } = await this.#reads.fresh(payer, read, 1_000));
    if (free < needed()) throw poor(free, needed());
    return free;
  }

  #needSigner(expected: Address, digest: Hex, signature: Hex): void {
    const signer = this.#options.findSigner(digest, signature);
    if (signer === undefined || !isAddressEqual(signer, expected))
      throw new RefusedError(401, `the signature is not that of ${expected}`);
  }

  /** Does what needs the disk. @throws RefusedError if it cannot be written */
  #kept<T>(action: () => T): T {
    try {
      return action();
    } catch (cause) {
      if (!(cause instanceof DatabaseAccessError)) throw cause;
      throw new RefusedError(503, "the worker cannot keep what it signs: ask again later", { cause });
    }
  }
}

const poor = (free: bigint, needed: bigint): RefusedError =>
  new RefusedError(402, `the payer's deposit for this worker is ${free}, at least ${needed} is needed`);
