import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseEther, type Hex } from "viem";
import type { Execute } from "../../src/player/executeRun.ts";
import { deposit } from "../../src/market/ledger.ts";
import type { Arena } from "./arena.ts";
import { LiarWorker } from "./liarWorker.ts";
import { reference } from "../players/players.ts";
import { sumsInput } from "../programs/randomSums.ts";
import { Prng } from "../random/prng.ts";

/** Windows of the claims of a siege, seconds: the last one submitted has the shortest. */
const [SHORTEST, LONGEST] = [20_000, 40_000];
/** Room for four executions. */
const KEPT_BYTES = 5 * 2 ** 16;
const LIMIT_MS_A_CLAIM = 20_000;

/** A siege: the number of wrong claims, the bonds that the watcher can pay, and what the liar does in a game. */
export type SiegeTerms = { claims: number; bonds: bigint; liar: "concedes" | "defends" };

/** The result of a siege. */
export type SiegeOutcome = {
  refuted: number;
  /** Games that the watcher opened, by the claim's place in the order in which windows close. */
  opened: readonly number[];
  lost: number;
  executions: number;
  /** The maximum number of whole executions in memory at once, as far as garbage is collected. */
  held: number;
  /** What the watcher has gained, wei, in the ledger and the account, with the bond. */
  gain: bigint;
  /** The bonds that the watcher can pay at the end: bounties add to them. */
  purse: number;
};

/**
 * Submits wrong claims, starts one watcher, which sees them all at once, and waits until they are refuted.
 * @throws Error if not in time
 */
export async function besiege(arena: Arena, { claims: count, bonds, liar: how }: SiegeTerms): Promise<SiegeOutcome> {
  await arena.watcher.stop();
  const { chain } = arena.players;
  const liarKey = await arena.players.workerKey();
  const liar = await LiarWorker.create(arena, liarKey);
  const { collateral } = liar.session.deployment.parameters;
  await fund(arena, liarKey, BigInt(count) * collateral);
  const program = arena.chainOfSums;
  const lie = reference({ step: 4, element: 1 });
  /** By the end of the window. */
  const claims: Hex[] = [];
  const inputs = new Map<Hex, Uint8Array[]>();
  for (let k = 0; k < count; k++) {
    const window = LONGEST - Math.floor(((LONGEST - SHORTEST) * k) / count);
    const posted = await arena.post(program, [sumsInput(new Prng(k), program.model)], { window });
    await liar.submit(posted, await arena.execution(posted, lie));
    const { id } = await arena.claimOn(posted);
    claims.unshift(id);
    inputs.set(id, [...posted.inputs]);
  }
  liar.answer(({ claimId }) => {
    if (how === "concedes") return "concede";
    const posted = { program, inputs: inputs.get(claimId)! };
    return arena.execution(posted, lie);
  });
  const counting = new Counting(reference());
  const key = await chain.newAccount(parseEther("5"));
  const session = await chain.sessionOf(key);
  await deposit(session, bonds * session.deployment.bond);
  const wealth = async (): Promise<bigint> => {
    const { address } = session.sender;
    return (await arena.wealth(key)) + (await session.publicClient.getBalance({ address }));
  };
  const before = await wealth();
  const watcher = await arena.players.startWatcher(key, program, counting.execute, { keptBytes: KEPT_BYTES });
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
  const all = (await arena.history()).claims;
  const { credit } = await session.vault.accountOf(session.sender.address);
  return {
    refuted: claims.filter((id) => all.get(id)!.refuted).length,
    opened: watcher.inbox.all.flatMap((event) => (event.kind === "opened" ? [claims.indexOf(event.claimId)] : [])),
    lost: watcher.inbox.all.filter(({ kind }) => kind === "lost").length,
    executions: counting.count,
    held: counting.maxHeld,
    gain: (await wealth()) - before,
    purse: Number(credit / session.deployment.bond),
  };
}

/** Counts executions, and those whose tensors are still in memory. */
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
    // A tensor that was read is kept until the next turn of the event loop.
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
