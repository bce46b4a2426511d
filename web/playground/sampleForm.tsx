import { useEffect, useRef, useState } from "preact/hooks";
import { DigitCanvas } from "./digitCanvas.tsx";
import type { InputFile, Ran } from "./messages.ts";
import { digitFile, irisFile, letterFile, likeliest, type Sample } from "./samples.ts";

type Props = {
  sample: Sample;
  isBusy: boolean;
  ran: Ran | undefined;
  onRun: (seed: number, files: Readonly<Record<string, InputFile>>) => void;
};

/** The flower that the iris sample begins with. */
const FLOWER: readonly (readonly [name: string, centimetres: number])[] = [
  ["Sepal length", 6.3],
  ["Sepal width", 2.9],
  ["Petal length", 5.6],
  ["Petal width", 1.8],
];
const TEXT = "the chain computes the num";

/** The input of a sample, as people give it; the sample is executed at once, and again when they ask for it. */
export function SampleForm({ sample, isBusy, ran, onRun }: Props) {
  const [file, setFile] = useState<InputFile | undefined>(() => fileOf(sample));
  const hasRun = useRef(false);
  useEffect(() => {
    if (file === undefined || hasRun.current) return;
    hasRun.current = true;
    onRun(1, { [sample.input]: file });
  }, [file]);
  const run = (event: Event): void => {
    event.preventDefault();
    if (file !== undefined) onRun(1, { [sample.input]: file });
  };
  const answer = ran?.outputs[0]?.elements.map(({ exact }) => exact);
  return (
    <form class="card stack" onSubmit={run}>
      <h2>{sample.title}</h2>
      {sample.name === "iris" && <Flower onLengths={(lengths) => setFile(irisFile(lengths))} />}
      {sample.name === "digit" && <DigitCanvas onPixels={(pixels) => setFile(digitFile(pixels))} />}
      {sample.name === "letter" && (
        <label class="field">
          <span>A text; the model sees its last 12 letters</span>
          <input name="text" defaultValue={TEXT} onInput={(event) => setFile(letterFile(event.currentTarget.value))} />
        </label>
      )}
      <div class="row">
        <button class="button main run" type="submit" disabled={isBusy || file === undefined}>
          Run it exactly
        </button>
        {answer !== undefined && (
          <p role="status">
            The model says:{" "}
            {likeliest(sample, answer).map(({ label, share }, k) => (
              <span key={label}>
                {k > 0 && ", "}
                {k === 0 ? <strong>{label}</strong> : label}: {(100 * share).toFixed(1)} %
              </span>
            ))}
          </p>
        )}
      </div>
    </form>
  );
}

/** A drawing begins with what the canvas draws. */
function fileOf({ name }: Sample): InputFile | undefined {
  if (name === "iris") return irisFile(FLOWER.map(([, length]) => length));
  return name === "letter" ? letterFile(TEXT) : undefined;
}

function Flower({ onLengths }: { onLengths: (lengths: number[]) => void }) {
  const [lengths, setLengths] = useState(FLOWER.map(([, length]) => length));
  const change = (at: number, length: number): void => {
    if (!Number.isFinite(length)) return;
    const changed = lengths.map((each, k) => (k === at ? length : each));
    setLengths(changed);
    onLengths(changed);
  };
  return (
    <div class="columns narrow">
      {FLOWER.map(([name], k) => (
        <label key={name} class="field">
          <span>{name}, cm</span>
          <input
            name="length"
            type="number"
            step="0.1"
            min="0"
            max="100"
            value={lengths[k]}
            onInput={(event) => change(k, event.currentTarget.valueAsNumber)}
          />
        </label>
      ))}
    </div>
  );
}
