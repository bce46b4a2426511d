import { randomBytes } from "node:crypto";
import { bytesToHex, isAddressEqual, type Address, type Hex } from "viem";
import type { z } from "zod/v4";
import { PledgeStatus, type SignedClaim, type Ticket } from "../../chain/structs.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { isZeros } from "../../program/merkle/tensor.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import type { ProgramInput } from "../../program/types.ts";
import { answerOfBytes } from "./answerRun.ts";
import { CLOCK_SKEW } from "./answerService.ts";
import { requireClaimable } from "./claimable.ts";
import {
  EndpointError,
  REFUSALS,
  RefusedError,
  TicketTermsError,
  WrongAnswerError,
  type TicketRefusal,
} from "./errors.ts";
import type { HeldClaim, PayerLedger } from "./payerLedger.ts";
import { answerSchema, infoSchema, refusalSchema, takenSchema, ticketBody } from "./messageSchemas.ts";
import { claimOfBody, type AnswerBody, type Info } from "./messages.ts";
import { loadFindSigner, type FindSigner } from "./signatures.ts";
import type { TicketSession } from "./ticketSession.ts";
import { readTokens, TOKEN_STREAM, type OnToken } from "./tokenStream.ts";
import { digestOf, oddsOf, typedData, type AnswerRequest } from "./typedData.ts";

/** The maximum price that a payer accepts. */
export type PayerLimits = { face: bigint; oneIn: number };

export type PayerOptions = {
  at: TicketSession;
  ledger: PayerLedger;
  /** The worker's endpoint. */
  url: string;
  limits: PayerLimits;
  /** How long an answer is waited for. */
  timeoutMs?: number;
  clock?: () => number;
};

/** An answer that the worker is bound to. */
export type Answered = {
  digest: Hex;
  claim: SignedClaim;
  signature: Hex;
  outputs: readonly Uint8Array[];
};

const TIMEOUT_MS = 120_000;

/** Lifetime of a cached pledge, milliseconds. */
const FRESH_MS = 10_000;

/** Asks one worker for answers, keeps the worker's promises, and pays with tickets. */
export class Payer {
  readonly #options: PayerOptions;
  readonly #clock: () => number;
  readonly #info: Info;
  readonly #findSigner: FindSigner;
  #pledgedAt = -Infinity;
  #covered = Infinity;

  private constructor(options: PayerOptions, info: Info, findSigner: FindSigner) {
    [this.#options, this.#info, this.#findSigner] = [options, info, findSigner];
    this.#clock = options.clock ?? (() => Date.now() / 1_000);
  }

  /**
   * Reads the worker's terms.
   * @throws TicketTermsError if the worker asks for more than the limits, or belongs to another deployment;
   *   EndpointError; MissingPackageError
   */
  static async open(options: PayerOptions): Promise<Payer> {
    const findSigner = await loadFindSigner();
    const info = await call(options, "/v1/info", undefined, infoSchema);
    const { at, limits } = options;
    if (info.chainId !== at.at.chainId || !isAddressEqual(info.tickets as Address, at.at.tickets))
      throw new TicketTermsError(`${options.url} serves tickets at ${info.tickets} of chain ${info.chainId}`);
    if (BigInt(info.face) > limits.face || info.oneIn < limits.oneIn)
      throw new TicketTermsError(
        `the worker asks for a face of ${info.face} once in ${info.oneIn} times, more than the limits allow`,
      );
    return new Payer(options, info, findSigner);
  }

  get worker(): Address {
    return this.#info.worker as Address;
  }

  get #now(): bigint {
    return BigInt(Math.floor(this.#clock()));
  }

  get info(): Info {
    return this.#info;
  }

  /**
   * Asks for an answer and checks everything except the outputs' values. The method pays nothing: see {@link pay}.
   * @param isDrawn True if the payer must execute the answer locally before paying: see `judgeAnswer`.
   * @param onToken Called with each token of a decoder before the worker signs, if the worker sends them. Nothing
   *   covers these tokens.
   * @throws WrongAnswerError, RefusedError, EndpointError, TicketTermsError, JobProgramError
   */
  async ask(program: KnownProgram, inputs: RunInputs, isDrawn = false, onToken?: OnToken): Promise<Answered> {
    const { at, ledger } = this.#options;
    const { model } = program;
    requireClaimable(at.session.deployment.parameters, program, inputs.length.items);
    await this.#needPledge();
    const { claimLifetime } = at;
    const first: AnswerRequest = {
      worker: this.worker,
      programRoot: model.programRoot,
      inputsRoot: inputs.roots.length === 0 ? `0x${"0".repeat(64)}` : inputs.list.root,
      ...inputs.length,
      time: this.#now,
      nonce: bytesToHex(randomBytes(32)),
    };
    // An older answer could be refuted for a short time only.
    const request = ledger.asks({ request: first, inputs: inputs.bytes }, first.time - BigInt(claimLifetime) / 2n);
    return this.#send(program, request, inputs.bytes, { isDrawn, isFirst: request === first, onToken });
  }

  /**
   * Takes lost answers: the worker may have signed such an answer, and keeps a place for the answer until the payment.
   * Nothing is executed.
   * @param age Least seconds since the first sending.
   * @returns the answers, to be judged and paid
   * @throws WrongAnswerError
   */
  async lost(program: KnownProgram, age = 0): Promise<(Answered & { inputs: RunInputs })[]> {
    const { at, ledger } = this.#options;
    const since = this.#now - BigInt(at.claimLifetime);
    const found = ledger.lost(this.worker, program.model.programRoot, since, this.#now - BigInt(age));
    const answers: (Answered & { inputs: RunInputs })[] = [];
    for (const { request, inputs: bytes } of found) {
      const inputs = new RunInputs(program.model.program.inputs, request, bytes);
      // Meanwhile another request may have the nonce.
      const { nonce } = ledger.asks({ request, inputs: bytes }, since);
      if (nonce !== request.nonce) ledger.unanswered(nonce, true);
      else
        try {
          answers.push({ ...(await this.#send(program, request, bytes, { withInputs: false })), inputs });
        } catch (error) {
          if (!(error instanceof RefusedError || error instanceof EndpointError)) throw error;
        }
    }
    return answers;
  }

  /**
   * Sends a request, under the present time. Without inputs, the worker gives an earlier answer and executes nothing.
   */
  async #send(
    program: KnownProgram,
    request: AnswerRequest,
    inputs: readonly Uint8Array[],
    options: { isDrawn?: boolean; isFirst?: boolean; withInputs?: boolean; onToken?: OnToken | undefined },
  ): Promise<Answered> {
    const { at, ledger } = this.#options;
    const { nonce } = request;
    const { isDrawn = false, isFirst = false, withInputs = true, onToken } = options;
    let isHeld = false;
    let isRefused = false;
    try {
      const sent = { ...request, time: this.#now };
      const signature = await at.account.signTypedData(typedData(at.at, "Request", sent));
      const texts = inputs.map((bytes, k) => wireText(program.model.program.inputs[k]!, bytes));
      const question = {
        payer: at.account.address,
        request: { ...sent, time: String(sent.time) },
        signature,
        inputs: withInputs ? texts : [],
      };
      const body = await call(this.#options, "/v1/answers", question, answerSchema, onToken);
      const { claim, digest, outputs, nodes } = this.#checked(program, request, body);
      const fate = isDrawn ? "drawn" : "open";
      // SAFETY: each claim has its own number. A repeated claim tells the first draw's outcome, and earns no ticket.
      const signed = body.signature as Hex;
      if (!ledger.hold({ digest, claim, signature: signed, nodes, inputs, fate }, nonce))
        throw new WrongAnswerError("the worker's claim was given for another request before: nothing is paid");
      isHeld = true;
      return { digest, claim, signature: signed, outputs };
    } catch (error) {
      // A worker that is busy may have signed an answer to an earlier sending.
      const isBusy = error instanceof RefusedError && error.retryable;
      isRefused = error instanceof WrongAnswerError || (error instanceof RefusedError && (isFirst || !isBusy));
      throw error;
    } finally {
      if (!isHeld) ledger.unanswered(nonce, isRefused);
    }
  }

  /**
   * Pays an answer: signs a ticket, or takes an earlier signed ticket, and sends the ticket.
   * @throws RefusedError, EndpointError, TicketTermsError for a wrong answer, or for a drawn answer before judging
   */
  async pay(digest: Hex): Promise<void> {
    const { ledger } = this.#options;
    const held = ledger.find(digest);
    if (held === undefined) throw new TicketTermsError(`no answer with the claim ${digest} is known here`);
    // SAFETY: even after a crash, the payer pays no wrong answer, and no drawn answer before judging.
    if (held.fate !== "open")
      throw new TicketTermsError(`the answer with the claim ${digest} is ${held.fate}: it is not paid`);
    const { ticket, ticketSignature } =
      held.ticket === undefined ? await this.#ticketFor(held) : (held as Required<HeldClaim>);
    if (held.ticket === undefined) ledger.ticketed(digest, ticket, ticketSignature);
    // SAFETY: a ticket is on disk before sending: no other ticket is signed for the same answer.
    await ledger.flushed();
    await call(this.#options, "/v1/tickets", { ticket: ticketBody(ticket), signature: ticketSignature }, takenSchema);
    ledger.sent(digest);
  }

  /** Pays what the worker may not have been paid for: after a crash, before anything else is asked. */
  async payRest(): Promise<number> {
    const { ledger, at } = this.#options;
    const rest = ledger.unsent(this.worker).filter(({ fate }) => fate === "open");
    for (const { digest, claim } of rest)
      if (Number(claim.issued) + at.claimLifetime > this.#clock()) await this.pay(digest);
    return rest.length;
  }

  async #ticketFor({ digest, claim }: HeldClaim): Promise<{ ticket: Ticket; ticketSignature: Hex }> {
    const { at } = this.#options;
    const ticket: Ticket = {
      claim: digest,
      face: BigInt(this.#info.face),
      odds: oddsOf(this.#info.oneIn),
      // A winning ticket has time to go on chain even if the claim goes on chain last.
      expiry: claim.issued + 2n * BigInt(at.claimLifetime),
      nonce: bytesToHex(randomBytes(32)),
    };
    const ticketSignature = await at.account.signTypedData(typedData(at.at, "Ticket", ticket));
    return { ticket, ticketSignature };
  }

  /** Checks an answer's form, independent of the outputs' values. */
  #checked({ model }: KnownProgram, request: AnswerRequest, body: AnswerBody) {
    const { at } = this.#options;
    const claim = claimOfBody(body);
    const wrong = (what: string): WrongAnswerError =>
      new WrongAnswerError(`the worker's claim ${what}: nothing is paid`);
    if (!isAddressEqual(claim.worker, this.worker)) throw wrong(`is of another worker, ${claim.worker}`);
    if (!isAddressEqual(claim.payer, at.account.address)) throw wrong(`is for another payer, ${claim.payer}`);
    const { programRoot, inputsRoot, items, firstItem } = request;
    if (claim.programRoot !== programRoot) throw wrong("is about another program");
    if (claim.inputsRoot !== inputsRoot) throw wrong("is about other inputs");
    if (claim.items !== items || claim.firstItem !== firstItem) throw wrong("is about other items");
    // A lost answer was issued after the first sending.
    const [from, until] = [request.time - BigInt(CLOCK_SKEW), this.#now + BigInt(CLOCK_SKEW)];
    if (claim.issued < from || claim.issued > until)
      throw wrong(`says that it was issued at ${claim.issued}, more than ${CLOCK_SKEW} s from the request or from now`);
    const digest = digestOf(at.at, "SignedClaim", claim);
    const signer = this.#findSigner(digest, body.signature as Hex);
    if (signer === undefined || !isAddressEqual(signer, this.worker)) throw wrong("is not signed by the worker");
    const answer = answerOfBytes(
      model.program,
      items,
      body.outputs.map((text) => Buffer.from(text, "base64")),
    );
    if (answer === undefined) throw wrong("comes with outputs of another size");
    if (answer.root !== claim.root) throw wrong("has another root than its outputs");
    return { claim, digest, outputs: answer.outputs, nodes: answer.nodes };
  }

  /** Number of answers that may be unpaid, by the worker's terms and by the deposit; at least one. */
  get places(): number {
    return Math.max(1, Math.min(this.#info.unpaid, this.#covered));
  }

  async #needPledge(): Promise<void> {
    if (performance.now() - this.#pledgedAt < FRESH_MS) return;
    const { pledges, tickets, account } = this.#options.at;
    const [{ status }, { free }] = await Promise.all([
      pledges.pledgeOf(this.worker),
      tickets.depositOf(account.address, this.worker),
    ]);
    const face = BigInt(this.#info.face);
    this.#covered = face === 0n ? Infinity : Number(free / face);
    if (status !== PledgeStatus.active)
      throw new TicketTermsError(`the worker ${this.worker} has no pledge: nothing would back its answers`);
    this.#pledgedAt = performance.now();
  }
}

/** An input as a message: an empty text for the index, and for carried state of zeros. */
const wireText = ({ source }: ProgramInput, bytes: Uint8Array): string =>
  source?.kind === "index" || (source?.kind === "carried" && isZeros(bytes))
    ? ""
    : Buffer.from(bytes).toString("base64");

async function call<Schema extends z.ZodType>(
  { url, timeoutMs = TIMEOUT_MS }: Pick<PayerOptions, "url" | "timeoutMs">,
  path: string,
  body: object | undefined,
  schema: Schema,
  onToken?: OnToken,
): Promise<z.infer<Schema>> {
  const where = new URL(path, url);
  let response: Response;
  let json: unknown;
  try {
    response = await fetch(where, {
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && {
        method: "POST",
        headers: { "content-type": "application/json", ...(onToken && { accept: TOKEN_STREAM }) },
        body: JSON.stringify(body),
      }),
    });
    const isStream = onToken !== undefined && response.headers.get("content-type") === TOKEN_STREAM;
    json = isStream ? await readTokens(response, onToken) : await response.json();
  } catch (cause) {
    throw new EndpointError(`${where.origin} does not answer: is it a worker's endpoint, and up?`, { cause });
  }
  if (!response.ok) {
    const refusal = refusalSchema.safeParse(json);
    const status = response.status;
    if (refusal.success && status in REFUSALS) throw new RefusedError(status as TicketRefusal, refusal.data.message);
    throw new EndpointError(`${where.origin} answers ${path} with status ${status}`);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new EndpointError(`${where.origin} answers ${path} with something else than an answer`);
  return parsed.data;
}
