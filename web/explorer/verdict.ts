import { Level, Outcome, Side } from "../../src/chain/structs.ts";
import type { ClaimRecord, GameRecord } from "../../src/chain/market/history.ts";
import { clock, grouped, short } from "../format.ts";
import type { LastSum } from "./lastSum.ts";
import { clocksOf } from "./moves.ts";

/**
 * What became of a dispute, in a sentence or two: who was wrong, about what, and what it cost.
 * @param money An amount of the stake asset in words.
 * @param sum The number that was recomputed, if the call that proved it is known.
 */
export function verdictOf(
  game: GameRecord,
  { claim }: Pick<ClaimRecord, "claim">,
  now: bigint,
  money: (units: bigint) => string,
  sum?: Pick<LastSum, "claimed" | "exact">,
): string {
  const [worker, challenger] = [`Worker ${short(claim.worker)}`, `Challenger ${short(game.challenger)}`];
  const { closed, proved } = game;
  if (closed === undefined) return inDispute(game, now);
  if (closed.outcome === Outcome.settled)
    return "The claim was refuted in another dispute: this one was settled, and its challenger has its bond back.";
  if (closed.outcome === Outcome.workerWon)
    return `${challenger} gave up or let its time pass: the claim held, and the challenger lost its bond.`;
  const loss = `It lost ${money(claim.collateral)}.`;
  if (proved === undefined) return `${worker} gave up or let its time pass: the claim is refuted. ${loss}`;
  const [claimed, exact] = [sum?.claimed ?? `0x${proved.claimed.toString(16)}`, sum?.exact ?? hex(proved.exact)];
  const place = `number ${grouped(proved.element)} of step ${grouped(proved.step)}${itemText(game)}`;
  return `${worker} claimed ${claimed} for ${place}; the chain computed ${exact}. ${loss}`;
}

/** Which item of a run a dispute is about; nothing of a job that is no run. */
const itemText = ({ moves }: GameRecord): string =>
  moves.some(({ state }) => state.level === Level.run || state.level === Level.items)
    ? ` of item ${grouped(moves.at(-1)!.state.item)}`
    : "";

const hex = (word: bigint): string => `0x${word.toString(16)}`;

function inDispute(game: GameRecord, now: bigint): string {
  const { worker, challenger, turn } = clocksOf(game, now);
  const [side, left] = turn === Side.worker ? ["worker", worker] : ["challenger", challenger];
  return left > 0
    ? `In dispute: the ${side} is to move, and has ${clock(left)} left.`
    : `In dispute: the ${side} let its time pass, and has lost as soon as somebody says so.`;
}
