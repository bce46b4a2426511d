import { useState } from "preact/hooks";
import { shown } from "../format.ts";
import { Failure } from "../ui/states.tsx";
import type { InputFile, InputView } from "./messages.ts";

type Props = {
  inputs: readonly InputView[];
  isBusy: boolean;
  onRun: (seed: number, files: Readonly<Record<string, InputFile>>) => void;
};

/** Inputs that are asked for; of more, the others are drawn. */
const MAX_INPUTS = 12;

/** Asks for the inputs of an execution: a file for each, or a seed from which it is drawn. */
export function RunForm({ inputs, isBusy, onRun }: Props) {
  const [seed, setSeed] = useState(1);
  const [files, setFiles] = useState<Readonly<Record<string, File>>>({});
  const [error, setError] = useState<unknown>();
  const choose = (name: string, file: File | undefined): void => {
    const others = Object.entries(files).filter(([other]) => other !== name);
    setFiles(Object.fromEntries(file === undefined ? others : [...others, [name, file]]));
  };
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    try {
      const read = await Promise.all(Object.entries(files).map(readFile));
      onRun(seed, Object.fromEntries(read));
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <form class="stack" onSubmit={(event) => void run(event)}>
      <div class="stack-tight">
        <h2>Run it</h2>
        <p class="soft">
          Give a file for an input (.npy, .json, .pb; a picture where the shape is one): what is not given is drawn from
          the seed.
        </p>
      </div>
      <div class="columns">
        {inputs.slice(0, MAX_INPUTS).map(({ name, dtype, shape }) => (
          <label key={name} class="field">
            <span>
              {shown(name, 60)}: {dtype}[{shape}]
            </span>
            <input
              name="input-file"
              type="file"
              accept=".npy,.json,.pb,image/*"
              onChange={(event) => choose(name, event.currentTarget.files?.[0])}
            />
          </label>
        ))}
      </div>
      <div class="row end">
        <label class="field">
          <span>Seed</span>
          <input
            name="seed"
            type="number"
            min={0}
            value={seed}
            onInput={(event) => setSeed(Number(event.currentTarget.value))}
          />
        </label>
        <button class="button main run" type="submit" disabled={isBusy}>
          Run it exactly
        </button>
      </div>
      {error !== undefined && <Failure error={error} />}
    </form>
  );
}

async function readFile([input, file]: readonly [string, File]): Promise<[string, InputFile]> {
  try {
    return [input, { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }];
  } catch (cause) {
    throw new Error(`${file.name}: cannot be read any more: choose it again`, { cause });
  }
}
