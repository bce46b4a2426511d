import { useMemo, useState } from "preact/hooks";
import type { GameRecord } from "../../src/chain/market/history.ts";
import { Outcome, ZERO_HASH } from "../../src/chain/structs.ts";
import { descentOf } from "../explorer/descent.ts";
import { DescentView } from "../explorer/descentView.tsx";
import { LastSumView } from "../explorer/lastSumView.tsx";
import { movesOf } from "../explorer/moves.ts";
import { counted, grouped, short, shown } from "../format.ts";
import type { Route } from "../route.ts";
import { ChainView } from "./chainView.tsx";
import type { Played, StepView, Worth } from "./messages.ts";
import type { Engine } from "./useEngine.ts";

/** Steps that can be chosen, at most: a list of all would be slow to open. */
const MAX_STEPS = 2_000;

type Props = {
  route: Route;
  steps: readonly StepView[];
  worth: Worth;
  played: Played | undefined;
  isBusy: boolean;
  engine: Pick<Engine, "lie" | "players">;
  /** Called when a dispute on a chain begins, and when it ends. */
  onPlaying: (isPlaying: boolean) => void;
};

/** Lets somebody change one number of an execution, and shows how a watcher finds it, here or on a chain. */
export function LieView({ route, steps, worth, played, isBusy, engine, onPlaying }: Props) {
  const [step, setStep] = useState(worth.step);
  const [chosen, setElement] = useState(worth.elements[worth.step] ?? 0);
  const choose = (chosenStep: number): void => {
    setStep(chosenStep);
    setElement(worth.elements[chosenStep] ?? 0);
  };
  const count = steps[step]?.count ?? 1;
  const element = Math.min(chosen, count - 1);
  const lie = (event: Event): void => {
    event.preventDefault();
    engine.lie({ step, element });
  };
  return (
    <section class="stack">
      <div class="stack-tight">
        <h2>Be the cheat</h2>
        <p class="soft">
          Change one number. The worker goes on from it and claims the root; the watcher, who has the exact tensors,
          finds the number by the moves that it would make on a chain. Both play in this page, by the code of the
          command line, without clocks and money.
        </p>
      </div>
      <form class="row" onSubmit={lie}>
        <label class="field">
          <span>Step</span>
          <select name="lie-step" value={step} onChange={(event) => choose(Number(event.currentTarget.value))}>
            {steps.slice(0, MAX_STEPS).map(({ operator }, k) => (
              <option key={k} value={k}>
                {k}: {shown(operator, 40)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Number, below {grouped(count)}</span>
          <input
            name="lie-element"
            type="number"
            min={0}
            max={count - 1}
            value={chosen}
            onInput={(event) => setElement(Number(event.currentTarget.value))}
          />
        </label>
        <button class="button main lie" type="submit" disabled={isBusy}>
          Change it
        </button>
      </form>
      {played !== undefined && <PlayedView played={played} />}
      <ChainView
        route={route}
        players={() => engine.players({ step, element })}
        isBusy={isBusy}
        onPlaying={onPlaying}
      />
    </section>
  );
}

function PlayedView({ played }: { played: Played }) {
  const { step, element, claimed, exact, sum, roots } = played;
  const game = useMemo(() => gameOf(played), [played]);
  const rows = useMemo(() => descentOf(game, sum?.elementBytes), [game, sum]);
  return (
    <div class="stack">
      <p>
        The roots differ: <code>{short(roots.claimed)}</code> is claimed, <code>{short(roots.own)}</code> is exact. The
        watcher finds the number in {counted(movesOf(game).length, "move")}.
      </p>
      <DescentView rows={rows} />
      <LastSumView proved={{ step, element: BigInt(element), claimed, exact }} sum={sum} by="anybody, the chain too" />
      <ol class="moves">
        {movesOf(game).map(({ by, name, text }, k) => (
          <li key={k}>
            <strong>{name}</strong> <span class="soft">{by}</span> {text}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The dispute as if a chain had had it. */
function gameOf({ moves, step, element, claimed, exact }: Played): GameRecord {
  const { challenger } = moves[0]!.state;
  const key = { jobId: ZERO_HASH, worker: challenger, root: ZERO_HASH, collateral: 0n };
  const proved = { step, element: BigInt(element), claimed, exact };
  const closed = { outcome: Outcome.challengerWon, paid: 0n, transactionHash: ZERO_HASH, blockNumber: 0n };
  return { id: ZERO_HASH, claimId: ZERO_HASH, key, challenger, moves: [...moves], proved, closed };
}
