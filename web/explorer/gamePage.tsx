import { useMemo } from "preact/hooks";
import type { Snapshot } from "../../src/chain/market/session.ts";
import type { ClaimRecord, GameRecord } from "../../src/chain/market/history.ts";
import { Side } from "../../src/chain/structs.ts";
import { clock, counted, grouped, short } from "../format.ts";
import { Hex } from "../ui/hex.tsx";
import { Table } from "../ui/table.tsx";
import { useTitle } from "../ui/useTitle.ts";
import type { Followed } from "./deployment.ts";
import { descentOf } from "./descent.ts";
import { DescentView } from "./descentView.tsx";
import { lastSumOf } from "./lastSum.ts";
import { LastSumView } from "./lastSumView.tsx";
import { clocksOf, movesOf } from "./moves.ts";
import { OnChain } from "./onChain.tsx";
import { gamePhase } from "./phases.ts";
import { Phase } from "./phase.tsx";
import { useCall, useGas } from "./useTransactions.ts";
import { verdictOf } from "./verdict.ts";

type Props = { followed: Followed; snapshot: Snapshot; claim: ClaimRecord; game: GameRecord };

/** One dispute, with its name. */
export function GamePage(props: Props) {
  const { game } = props;
  useTitle(`Dispute ${short(game.id)}`);
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
export function GameView({ followed, snapshot, claim, game }: Props) {
  const { reader, money } = followed;
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
      <p class="lead" role="status">
        {verdictOf(game, claim, snapshot.now, money, sum)}
      </p>
      <DescentView rows={rows} />
      {game.proved !== undefined && <LastSumView proved={game.proved} sum={sum} />}
      <Sides followed={followed} claim={claim} game={game} now={snapshot.now} />
      <h2>
        Moves{" "}
        <span class="soft small number">
          {known.length < moves.length && "at least "}
          {counted(moves.length, "transaction")}, {grouped(all)} gas{game.closed === undefined && " so far"}, both sides
          together
        </span>
      </h2>
      <Table
        label="Moves"
        columns={[["Move"], ["By"], ["What", "wrap"], ["Gas", "right"], ["Transaction"]]}
        rows={moves.map(({ name, by, text, transactionHash }, k) => ({
          key: k,
          cells: [
            name,
            <span class="soft">{by}</span>,
            text,
            gas.get(transactionHash)?.toLocaleString("en-US") ?? "…",
            <OnChain chainId={reader.deployment.chainId} kind="tx" value={transactionHash} />,
          ],
        }))}
      />
    </div>
  );
}

type SidesProps = { followed: Followed; claim: ClaimRecord; game: GameRecord; now: bigint };

/** Both clocks and both purses. */
function Sides({ followed: { reader, money }, claim, game, now }: SidesProps) {
  const { worker, challenger, turn } = clocksOf(game, now);
  const { bond, spent } = game.moves.at(-1)!.state;
  const drawn = game.moves[0]!.state.bond - bond;
  const { closed } = game;
  const { collateral } = claim.claim;
  const clockText = (side: Side): string =>
    turn === side ? "to move" : closed === undefined ? "time left" : "of its time was left at the end";
  return (
    <div class="sides">
      <section class={turn === Side.worker ? "side turn" : "side"} aria-label="Worker">
        <p class="row">
          <strong>Worker</strong> <Hex value={claim.claim.worker} />
        </p>
        <p class="clock">{clock(worker)}</p>
        <p class="soft small">{clockText(Side.worker)}</p>
        <p>
          {claim.refuted
            ? `lost ${money(collateral)}`
            : `${money(collateral)} ${closed === undefined ? "at stake" : "kept"}`}
        </p>
        <p class="soft small">{money(drawn)} drawn from the bond for its moves</p>
      </section>
      <section class={turn === Side.challenger ? "side turn" : "side"} aria-label="Challenger">
        <p class="row">
          <strong>Challenger</strong> <Hex value={game.challenger} />
        </p>
        <p class="clock">{clock(challenger)}</p>
        <p class="soft small">{clockText(Side.challenger)}</p>
        <p>
          {closed === undefined
            ? `${money(bond)} left of its bond of ${money(reader.deployment.bond)}`
            : closed.paid > 0n
              ? `got ${money(closed.paid)}, its bond included`
              : `lost its bond of ${money(reader.deployment.bond)}`}
        </p>
        <p class="soft small">{money(spent)} spent on its own moves</p>
      </section>
    </div>
  );
}
