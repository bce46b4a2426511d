import { useMemo } from "preact/hooks";
import type { Snapshot } from "../../src/chain/market/session.ts";
import type { ClaimRecord, GameRecord } from "../../src/chain/market/history.ts";
import { Side } from "../../src/chain/structs.ts";
import { amount, clock, grouped, short } from "../format.ts";
import { Hex } from "../ui/hex.tsx";
import type { Followed } from "./deployment.ts";
import { descentOf } from "./descent.ts";
import { DescentView } from "./descentView.tsx";
import { lastSumOf } from "./lastSum.ts";
import { LastSumView } from "./lastSumView.tsx";
import { clocksOf, movesOf } from "./moves.ts";
import { gamePhase } from "./phases.ts";
import { Phase } from "./phase.tsx";
import { useCall, useGas } from "./useTransactions.ts";

type Props = { followed: Followed; snapshot: Snapshot; claim: ClaimRecord; game: GameRecord };

/** One dispute, with its name. */
export function GamePage(props: Props) {
  const { game } = props;
  return (
    <div class="stack">
      <div class="row">
        <h1>Dispute {short(game.id)}</h1>
        <Phase of={gamePhase(game)} />
      </div>
      <GameView {...props} />
    </div>
  );
}

/** One dispute: its descent, both sides, every move. */
export function GameView({ followed: { reader }, snapshot, claim, game }: Props) {
  const moves = movesOf(game);
  const gas = useGas(
    reader,
    moves.map(({ transactionHash }) => transactionHash),
  );
  const proof = useCall(reader, game.proved && game.closed?.transactionHash);
  const { proved } = game;
  const sum = useMemo(
    () => proof && proved && lastSumOf(proof, reader.deployment.game, proved),
    [proof, proved, reader],
  );
  const rows = useMemo(
    () => descentOf(game, sum?.elementBytes),
    [game, game.moves.length, game.closed, game.proved, sum],
  );
  const known = moves.flatMap(({ transactionHash }) => gas.get(transactionHash) ?? []);
  const all = known.reduce((a, b) => a + b, 0n);
  return (
    <div class="stack">
      <DescentView rows={rows} />
      {game.proved !== undefined && <LastSumView proved={game.proved} sum={sum} />}
      <Sides reader={reader} claim={claim} game={game} now={snapshot.now} />
      <h2>
        Moves{" "}
        <span class="soft small number">
          {known.length < moves.length && "at least "}
          {grouped(all)} gas so far, both sides together
        </span>
      </h2>
      <div class="table">
        <table>
          <thead>
            <tr>
              <th>Move</th>
              <th>By</th>
              <th>What</th>
              <th class="right">Gas</th>
              <th>Transaction</th>
            </tr>
          </thead>
          <tbody>
            {moves.map(({ name, by, text, transactionHash }, k) => (
              <tr key={k}>
                <td>{name}</td>
                <td class="soft">{by}</td>
                <td class="wrap">{text}</td>
                <td class="right">{gas.get(transactionHash)?.toLocaleString("en-US") ?? "…"}</td>
                <td>
                  <Hex value={transactionHash} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

type SidesProps = { reader: Followed["reader"]; claim: ClaimRecord; game: GameRecord; now: bigint };

/** Both clocks and both purses. */
function Sides({ reader, claim, game, now }: SidesProps) {
  const { worker, challenger, turn } = clocksOf(game, now);
  const { bond, spent } = game.moves.at(-1)!.state;
  const drawn = game.moves[0]!.state.bond - bond;
  return (
    <div class="sides">
      <section class={turn === Side.worker ? "side turn" : "side"} aria-label="Worker">
        <p class="row">
          <strong>Worker</strong> <Hex value={claim.claim.worker} />
        </p>
        <p class="clock">{clock(worker)}</p>
        <p class="soft small">{turn === Side.worker ? "to move" : "time left"}</p>
        <p>{amount(claim.claim.collateral)} at stake</p>
        <p class="soft small">{amount(drawn)} drawn from the bond for its moves</p>
      </section>
      <section class={turn === Side.challenger ? "side turn" : "side"} aria-label="Challenger">
        <p class="row">
          <strong>Challenger</strong> <Hex value={game.challenger} />
        </p>
        <p class="clock">{clock(challenger)}</p>
        <p class="soft small">{turn === Side.challenger ? "to move" : "time left"}</p>
        <p>
          {amount(bond)} left of its bond of {amount(reader.deployment.bond)}
        </p>
        <p class="soft small">
          {game.closed === undefined
            ? `${amount(spent)} spent on its own moves`
            : `${amount(game.closed.paid)} paid out at the end`}
        </p>
      </section>
    </div>
  );
}
