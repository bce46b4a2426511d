import { useLayoutEffect, useState } from "preact/hooks";
import { routeHash } from "../route.ts";
import { Busy } from "../ui/busy.tsx";
import { FileDrop } from "../ui/fileDrop.tsx";
import { Failure } from "../ui/states.tsx";
import { useTitle } from "../ui/useTitle.ts";
import { LieView } from "./lieView.tsx";
import { ReportView } from "./reportView.tsx";
import { RunForm } from "./runForm.tsx";
import { RunView } from "./runView.tsx";
import { SampleForm } from "./sampleForm.tsx";
import { sampleNamed, SAMPLES, type Sample } from "./samples.ts";
import { useEngine } from "./useEngine.ts";
import type { PageProps } from "../pageProps.ts";

/** Try a model: compile it, execute it exactly, and change a number of it. */
export function PlaygroundPage({ route }: PageProps) {
  const engine = useEngine();
  const { model, opened, ran, played, busy, error } = engine.state;
  const [isOnChain, setOnChain] = useState(false);
  const sample = sampleNamed(route.path[1]);
  useTitle(sample?.title ?? "Try a model");
  // Before anything is drawn: answers of another model are none of this sample's.
  useLayoutEffect(() => {
    if (sample !== undefined) engine.load(`${sample.name}.onnx`, fetched(`./samples/${sample.name}.onnx`));
  }, [sample]);
  const drop = (file: File): void => {
    // The place of a sample is left, else the same sample could not be opened again.
    if (sample !== undefined) location.hash = routeHash(["playground"], route.query);
    engine.load(file.name, bytesOf(file));
  };
  const isCancelled = error?.startsWith("cancelled") === true;
  const root = opened?.report.program?.programRoot;
  // A dispute on a chain is played between the thread's answers: nothing else is asked of it until it ends.
  const isLocked = busy !== undefined || isOnChain;
  return (
    <div class="stack">
      <div class="stack-tight">
        <h1>Try a model</h1>
        <p class="soft">It is compiled and executed in this page, and sent nowhere. Take one of these, or your own.</p>
      </div>
      <Samples current={sample} />
      <FileDrop
        name="model"
        accept=".onnx"
        label="ONNX file"
        onFile={drop}
        isSlim={model !== undefined || busy !== undefined}
      >
        <strong>Drop an ONNX file here</strong>, or
      </FileDrop>
      {busy !== undefined && <Busy busy={busy} onCancel={engine.cancel} />}
      {error !== undefined && (
        <Failure
          error={error}
          onRetry={isCancelled && model ? () => engine.open(model.name, model.bytes) : undefined}
        />
      )}
      {model !== undefined && opened !== undefined && sample === undefined && (
        <ReportView
          name={model.name}
          opened={opened}
          onShapes={(shapes) => engine.open(model.name, model.bytes, shapes)}
        />
      )}
      {opened?.report.served === true && sample !== undefined && (
        <SampleForm key={root} sample={sample} ran={ran} isBusy={isLocked} onRun={engine.run} />
      )}
      {opened?.report.served === true && sample === undefined && (
        <RunForm key={root} inputs={opened.taken} isBusy={isLocked} onRun={engine.run} />
      )}
      {ran !== undefined && <RunView ran={ran} />}
      {ran !== undefined && opened !== undefined && (
        <LieView
          key={root}
          worth={ran.worth}
          route={route}
          steps={opened.steps}
          played={played}
          isBusy={isLocked}
          engine={engine}
          onPlaying={setOnChain}
        />
      )}
      {model !== undefined && opened !== undefined && sample !== undefined && (
        <details>
          <summary>The model and its program, step by step</summary>
          <ReportView
            name={model.name}
            opened={opened}
            onShapes={(shapes) => engine.open(model.name, model.bytes, shapes)}
          />
        </details>
      )}
    </div>
  );
}

/** A file of this page. */
async function fetched(path: string): Promise<Uint8Array> {
  const response = await fetch(new URL(path, document.baseURI), { credentials: "omit" });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

const bytesOf = async (file: File): Promise<Uint8Array> => new Uint8Array(await file.arrayBuffer());

/** The models that the page brings along. */
function Samples({ current }: { current: Sample | undefined }) {
  return (
    <nav class="columns samples" aria-label="Models to try">
      {SAMPLES.map(({ name, title, about }) => (
        <a
          key={name}
          class="card"
          href={routeHash(["playground", name])}
          {...(current?.name === name && { "aria-current": "page" as const })}
        >
          <strong>{title}</strong>
          <span class="soft small">{about}</span>
        </a>
      ))}
    </nav>
  );
}
