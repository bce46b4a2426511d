import { useEffect, useMemo, useState } from "preact/hooks";
import { DescentView } from "../explorer/descentView.tsx";
import { grouped } from "../format.ts";
import { framesOf, type Recorded } from "./recorded.ts";
import RECORDED from "./recorded.json";

/** Milliseconds that a transaction is shown. */
const PAUSE_MS = 900;

const prefersStill = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A dispute that a chain had, transaction by transaction. Whoever wants no motion sees its end at once. */
export function Recording() {
  const recorded = RECORDED as Recorded;
  const frames = useMemo(() => framesOf(recorded), [recorded]);
  const last = frames.length - 1;
  const [at, setAt] = useState(() => (prefersStill() ? last : 0));
  const [isPlaying, setPlaying] = useState(at < last);
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => (at < last ? setAt(at + 1) : setPlaying(false)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, at]);
  const { rows, view, gas } = frames[at]!;
  const { sum, model, operator, steps, step, slashed } = recorded;
  const isOver = at === last;
  const press = (): void => {
    if (isOver) setAt(0);
    setPlaying(!isPlaying || isOver);
  };
  const total = recorded.gas.slice(0, at + 1).reduce((a, b) => a + b, 0);
  return (
    <section class="card stack recording" aria-label="A recorded dispute">
      <p class="soft small">
        Recorded: a worker changed one number while it computed a model ({model}) that reads whether a line of text is
        upright. Each bar is the coloured part of the bar above, seen closer.
      </p>
      <div class="recording-rows">
        <DescentView rows={rows} isQuiet />
      </div>
      <p class="recording-move">
        <strong>{view.by}</strong>: {view.text}
        <span class="soft number"> · {grouped(gas)} gas</span>
      </p>
      <p class={isOver ? "recording-end" : "recording-end unseen"} aria-hidden={!isOver}>
        The worker claimed <span class="wrong">{sum.claimed}</span>. The chain computed{" "}
        {sum.formula === undefined ? "" : `${sum.formula} = `}
        <strong>{sum.exact}</strong>: one number of step {step} of {steps} ({operator}). The worker lost {slashed}.
      </p>
      <div class="row">
        <button class="button" type="button" onClick={press}>
          {isOver ? "Play it again" : isPlaying ? "Pause" : "Go on"}
        </button>
        <span class="soft small number">
          transaction {at + 1} of {frames.length}, {grouped(total)} gas, both sides together
        </span>
      </div>
    </section>
  );
}
