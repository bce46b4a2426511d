import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isAddressEqual, numberToHex, parseEther, type Hex } from "viem";
import { executeReference } from "../../src/executor/reference.ts";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import type { JobTerms } from "../../src/parties/requester/postJob.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import type { Arena } from "./arena.ts";
import { LiarWorker } from "./liarWorker.ts";
import { reference } from "../players/players.ts";
import { carriedAnswers } from "../programs/answerPrograms.ts";
import { sumsInput } from "../programs/randomSums.ts";
import { runInputBytes, runProgram } from "../programs/runProgram.ts";
import { Prng } from "../random/prng.ts";
import { executedRun } from "../soak/executedRun.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** Windows of the claims of a siege, seconds: the last one submitted has the shortest. */
const [SHORTEST, LONGEST] = [20_000, 40_000];

/** Room for four executions. */
const KEPT_BYTES = 5 * 2 ** 16;
const LIMIT_MS_A_CLAIM = 20_000;

/** A byte of a tensor: the highest of its second word. */
const LIE_AT = 7;

/**
 * The terms of a siege: the number of wrong claims, the bonds that the watcher can pay, and the liar's behaviour in
 * games.
 */
export type SiegeTerms = { claims: number; bonds: bigint; liar: "concedes" | "defends" };

/** The result of a siege. */
type SiegeOutcome = {
  refuted: number;
  /** The number of items in all claims together. */
  items: number;
  /**
   * Games that the watcher opened, in the chain's order. Each is named by the claim's place in the order in which
   * windows close.
   */
  opened: readonly number[];
  lost: number;
  /** The number of executed items. */
  executions: number;
  /** The maximum number of whole executions in memory at once, after garbage collection. */
  held: number;
  /** The watcher's gain, wei, in the ledger and the account, with the bond. */
  gain: bigint;
  /** The bonds that the watcher can pay at the end: bounties add to them. */
  purse: number;
};

/** A wrong claim: the posted job and the liar's execution of the job. */
type SiegeJob = { program: KnownProgram; inputs: readonly Uint8Array[]; terms: Partial<JobTerms>; lie: RunExecution };

/** Items of the runs. */
const ITEMS = 2;

/** Claims about one item and about several, with traces and without, in turn. */
function siegeJob(k: number, sums: KnownProgram, runs: Record<ClaimForm, KnownProgram>): SiegeJob {
  const form: ClaimForm = k % 2 === 0 ? "trace" : "answer";
  const isRun = k % 4 >= 2;
  const known = isRun ? runs[form] : sums;
  const items = isRun ? ITEMS : 1;
  const inputs = isRun ? runInputBytes(ITEMS) : [sumsInput(new Prng(k), sums.model)];
  const given = new RunInputs(known.model.program.inputs, { items, firstItem: 0 }, inputs);
  const lie = executedRun({ known, inputs: given, form }, (item, own) =>
    executeReference(known.model, own, {
      onStep: (step, tensor) => {
        if (item === items >> 1 && step === (isRun ? 0 : 4)) tensor[LIE_AT]! ^= 0x3f;
      },
    }),
  );
  return { program: known, inputs, terms: { items, answer: form === "answer" }, lie };
}

/**
 * Submits wrong claims, starts one watcher that sees all claims at once, and waits for their refutation.
 * @throws Error if not in time
 */
export async function besiege(arena: Arena, { claims: count, bonds, liar: how }: SiegeTerms): Promise<SiegeOutcome> {
  await arena.watcher.stop();
  const { chain } = arena.players;
  const liarKey = await arena.players.workerKey();
  const liar = await LiarWorker.create(arena, liarKey);
  const { collateral } = liar.session.deployment.parameters;
  await fund(arena, liarKey, BigInt(count) * collateral);
  const runs = { trace: runProgram(), answer: carriedAnswers() };
  /** By the end of the window. */
  const claims: Hex[] = [];
  const lies = new Map<Hex, RunExecution>();
  let items = 0;
  for (let k = 0; k < count; k++) {
    const window = LONGEST - Math.floor(((LONGEST - SHORTEST) * k) / count);
    const { program, inputs, terms, lie } = siegeJob(k, arena.chainOfSums, runs);
    const posted = await arena.post(program, inputs, { window, salt: numberToHex(k, { size: 32 }), ...terms });
    await liar.submit(posted, lie);
    const { id } = await arena.claimOn(posted);
    claims.unshift(id);
    lies.set(id, lie);
    items += lie.items;
  }
  liar.answer(({ claimId }) => (how === "concedes" ? "concede" : lies.get(claimId)!));
  const counting = new Counting(reference());
  const key = await chain.newAccount(parseEther("5"));
  const session = await chain.sessionOf(key);
  await deposit(session, bonds * session.deployment.bond);
  const wealth = async (): Promise<bigint> => {
    const { address } = session.sender;
    return (await arena.wealth(key)) + (await session.publicClient.getBalance({ address }));
  };
  const before = await wealth();
  const known = [arena.chainOfSums, runs.trace, runs.answer];
  const options = { keptBytes: KEPT_BYTES, programs: ProgramLibrary.of(known) };
  const watcher = await arena.players.startWatcher(key, arena.chainOfSums, counting.execute, options);
  try {
    const isOver = (id: Hex, all: Awaited<ReturnType<Arena["history"]>>["claims"]): boolean => {
      const { refuted, games } = all.get(id)!;
      return refuted && games.every(({ closed }) => closed !== undefined);
    };
    await arena.until(
      "the death of all",
      ({ claims: all }) => claims.every((id) => isOver(id, all)) || undefined,
      LIMIT_MS_A_CLAIM * count,
    );
  } finally {
    await watcher.stop();
    await liar.stop();
  }
  const { claims: all, games } = await arena.history();
  const own = [...games.values()].filter(({ challenger }) => isAddressEqual(challenger, session.sender.address));
  const { credit } = await session.vault.accountOf(session.sender.address);
  return {
    refuted: claims.filter((id) => all.get(id)!.refuted).length,
    items,
    opened: own.map(({ claimId }) => claims.indexOf(claimId)),
    lost: watcher.inbox.all.filter(({ kind }) => kind === "lost").length,
    executions: counting.count,
    held: counting.maxHeld,
    gain: (await wealth()) - before,
    purse: Number(credit / session.deployment.bond),
  };
}

/** Counts executions, and separately the executions whose tensors are still in memory. */
class Counting {
  count = 0;
  maxHeld = 0;
  readonly #alive: WeakRef<Uint8Array[]>[] = [];
  readonly #execute: Execute;

  constructor(execute: Execute) {
    this.#execute = execute;
  }

  readonly execute: Execute = async (...given) => {
    const tensors = await this.#execute(...given);
    this.count++;
    this.#alive.push(new WeakRef(tensors));
    // A tensor that was read stays in memory until the event loop's next turn.
    await setImmediate();
    collectGarbage();
    const held = this.#alive.filter((ref) => ref.deref() !== undefined);
    this.#alive.splice(0, Infinity, ...held);
    this.maxHeld = Math.max(this.maxHeld, held.length);
    return tensors;
  };
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Stakes more. */
async function fund({ players }: Arena, key: Hex, amount: bigint): Promise<void> {
  const rich = await players.chain.newSession(amount);
  await deposit(rich, amount, players.addressOf(key));
  await (await players.chain.sessionOf(key)).vault.stake(amount);
}
