import { useRef, useState } from "preact/hooks";
import { grouped } from "../format.ts";
import { Failure } from "../ui/states.tsx";
import { LieView } from "./lieView.tsx";
import { ReportView } from "./reportView.tsx";
import { RunForm } from "./runForm.tsx";
import { RunView } from "./runView.tsx";
import { useEngine, type Engine } from "./useEngine.ts";
import type { PageProps } from "../pageProps.ts";

/** Try a model: compile it, execute it exactly, and change a number of it. */
export function PlaygroundPage({ route }: PageProps) {
  const engine = useEngine();
  const { model, opened, ran, played, busy, error } = engine.state;
  const [isOnChain, setOnChain] = useState(false);
  // A dispute on a chain is played between the thread's answers: nothing else is asked of it until it ends.
  const isLocked = busy !== undefined || isOnChain;
  return (
    <div class="stack">
      <div class="stack-tight">
        <h1>Try a model</h1>
        <p class="soft">It is compiled and executed in this page. The model is not sent anywhere.</p>
      </div>
      <Drop onFile={(name, bytes) => engine.open(name, bytes)} onFailure={engine.fail} />
      {busy !== undefined && <Busy busy={busy} onCancel={engine.cancel} />}
      {error !== undefined && <Failure error={error} onRetry={model && (() => engine.open(model.name, model.bytes))} />}
      {model !== undefined && opened !== undefined && (
        <ReportView
          name={model.name}
          opened={opened}
          onShapes={(shapes) => engine.open(model.name, model.bytes, shapes)}
        />
      )}
      {opened?.report.served === true && (
        <RunForm key={opened.report.program?.programRoot} inputs={opened.taken} isBusy={isLocked} onRun={engine.run} />
      )}
      {ran !== undefined && <RunView ran={ran} />}
      {ran !== undefined && opened !== undefined && (
        <LieView
          route={route}
          steps={opened.steps}
          played={played}
          isBusy={isLocked}
          engine={engine}
          onPlaying={setOnChain}
        />
      )}
    </div>
  );
}

type DropProps = { onFile: (name: string, bytes: Uint8Array) => void; onFailure: (message: string) => void };

function Drop({ onFile, onFailure }: DropProps) {
  const field = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const take = (file: File | undefined): void => {
    if (file === undefined) return;
    file.arrayBuffer().then(
      (buffer) => onFile(file.name, new Uint8Array(buffer)),
      (error: unknown) => onFailure(`${file.name}: ${error instanceof Error ? error.message : "it cannot be read"}`),
    );
  };
  return (
    <div
      class={isOver ? "state drop over" : "state drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files[0]);
      }}
    >
      <p>
        <strong>Drop an ONNX file here</strong>, or
      </p>
      <button class="button main" type="button" onClick={() => field.current?.click()}>
        Choose a file
      </button>
      <input
        ref={field}
        class="hidden"
        type="file"
        name="model"
        accept=".onnx"
        tabIndex={-1}
        aria-label="ONNX file"
        onChange={(event) => {
          take(event.currentTarget.files?.[0]);
          // The same file may be chosen again.
          event.currentTarget.value = "";
        }}
      />
    </div>
  );
}

function Busy({
  busy: { what, done, total },
  onCancel,
}: {
  busy: NonNullable<Engine["state"]["busy"]>;
  onCancel: () => void;
}) {
  return (
    <div class="row" role="status">
      <progress value={done} max={Math.max(total, 1)} />
      <span class="number">
        {what} {total > 1 && `${grouped(done)} of ${grouped(total)}`}
      </span>
      <button class="button" type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
