import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Ask, OpenedModel, Played, Ran } from "./protocol.ts";

/** What the page knows of a model, and what is being computed. */
export type EngineState = {
  model?: { name: string; bytes: Uint8Array };
  opened?: OpenedModel;
  ran?: Ran;
  played?: Played;
  /** What is under way; undefined if nothing is. */
  busy?: { what: string; done: number; total: number };
  error?: string;
};

export type Shapes = Readonly<Record<string, readonly number[]>>;

export type Engine = {
  state: EngineState;
  open: (name: string, bytes: Uint8Array, shapes?: Shapes) => void;
  run: (seed: number) => void;
  lie: (step: number, element: number) => void;
  /** Shows that something failed before the thread was asked. */
  fail: (message: string) => void;
  /** Ends what is under way, at once. What was known before remains. */
  cancel: () => void;
};

const STARTING = { what: "starting", done: 0, total: 1 };

/** The compiler and the executor in a thread of their own, so that the page stays usable. */
export function useEngine(): Engine {
  const [state, setState] = useState<EngineState>({});
  const thread = useRef<Worker | undefined>(undefined);

  const start = (): Worker => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Answer>) => setState((before) => taken(before, data));
    worker.onerror = ({ message }) => setState((before) => taken(before, { kind: "failed", message }));
    thread.current = worker;
    return worker;
  };
  const stop = (): void => {
    thread.current?.terminate();
    thread.current = undefined;
  };
  useEffect(() => stop, []);
  const ask = (asked: Ask): void => {
    setState((before) => without(before, "error", { busy: STARTING }));
    (thread.current ?? start()).postMessage(asked);
  };
  return {
    state,
    open: (name, bytes, shapes = {}) => {
      stop();
      setState({ model: { name, bytes } });
      ask({ kind: "open", name, bytes, shapes });
    },
    run: (seed) => ask({ kind: "run", seed, engine: new URL("./optional/ort.wasm.min.mjs", document.baseURI).href }),
    lie: (step, element) => ask({ kind: "lie", step, element }),
    fail: (error) => setState((before) => ({ ...before, error })),
    cancel: () => {
      // A thread cannot be interrupted but by its end: the model is opened again when it is asked for.
      stop();
      setState(({ model }) =>
        model === undefined ? {} : { model, error: "cancelled: open the model again to go on" },
      );
    },
  };
}

function taken(before: EngineState, answer: Answer): EngineState {
  switch (answer.kind) {
    case "progress":
      return { ...before, busy: answer };
    case "opened":
      return without(before, "busy", { opened: answer.opened });
    case "ran":
      return without({ ...before, ran: answer.ran }, "busy", {}, "played");
    case "played":
      return without(before, "busy", { played: answer.played });
    case "failed":
      return without(before, "busy", { error: answer.message });
  }
}

function without(
  state: EngineState,
  name: keyof EngineState,
  more: Partial<EngineState>,
  other?: keyof EngineState,
): EngineState {
  const kept = { ...state };
  delete kept[name];
  if (other !== undefined) delete kept[other];
  return { ...kept, ...more };
}
