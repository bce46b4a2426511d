import { useEffect, useRef, useState } from "preact/hooks";
import type { Players } from "./chainGame.ts";
import type { Answer, Ask, InputFile, OpenedModel, Played, Ran, Lie } from "./messages.ts";
import { endThread, startThread } from "./thread.ts";

/** What the page knows of a model, and what is being computed. */
type EngineState = {
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
  /** Opens a model once its bytes are there, unless another one is opened before. What was known is forgotten. */
  load: (name: string, bytes: Promise<Uint8Array>) => void;
  open: (name: string, bytes: Uint8Array, shapes?: Shapes) => void;
  /** @param files Of inputs by name; the others are drawn from the seed. */
  run: (seed: number, files: Readonly<Record<string, InputFile>>) => void;
  lie: (lie: Lie) => void;
  /** Both sides of a dispute about a changed number, as the thread plays them. */
  players: (lie: Lie) => Players;
  /** Ends what is under way, at once. What was known before remains. */
  cancel: () => void;
};

const LOADING = { what: "loading", done: 0, total: 1 };
const STARTING = { what: "starting", done: 0, total: 1 };

/** What the page waits for itself: it is not part of what is shown. */
type Awaited = Extract<Answer, { kind: "prepare" | "workerMove" | "watcherMove" }>;
type Waiting = { resolve: (answer: Awaited) => void; reject: (error: Error) => void };

/** The compiler and the executor in a thread of their own, so that the page stays usable. */
export function useEngine(): Engine {
  const [state, setState] = useState<EngineState>({});
  const thread = useRef<Worker | undefined>(undefined);
  const waiting = useRef<Waiting | undefined>(undefined);
  const loading = useRef<Promise<Uint8Array> | undefined>(undefined);

  const take = (answer: Answer): void => {
    const asking = waiting.current;
    const isFor = isAwaited(answer) || answer.kind === "failed";
    if (asking === undefined || !isFor) return setState((before) => taken(before, answer));
    waiting.current = undefined;
    setState((before) => without(before, "busy", {}));
    if (isAwaited(answer)) asking.resolve(answer);
    else asking.reject(new Error(answer.message));
  };
  const start = (): Worker => {
    thread.current = startThread(take);
    return thread.current;
  };
  const stop = (): void => {
    if (thread.current !== undefined) endThread(thread.current);
    thread.current = undefined;
    loading.current = undefined;
    waiting.current?.reject(new Error("cancelled"));
    waiting.current = undefined;
  };
  useEffect(() => stop, []);
  const ask = (asked: Ask): void => {
    setState((before) => without(before, "error", { busy: STARTING }));
    (thread.current ?? start()).postMessage(asked);
  };
  /** Asks for what the page itself waits for, one after the other. */
  const request = <K extends Awaited["kind"]>(asked: Ask & { kind: K }): Promise<Extract<Awaited, { kind: K }>> =>
    new Promise((resolve, reject) => {
      waiting.current = { resolve: resolve as (answer: Awaited) => void, reject };
      (thread.current ?? start()).postMessage(asked);
    });
  const open: Engine["open"] = (name, bytes, shapes = {}) => {
    stop();
    setState({ model: { name, bytes } });
    ask({ kind: "open", name, bytes, shapes });
  };
  return {
    state,
    load: (name, bytes) => {
      stop();
      loading.current = bytes;
      setState({ busy: LOADING });
      bytes.then(
        (loaded) => loading.current === bytes && open(name, loaded),
        (thrown: unknown) => loading.current === bytes && setState({ error: `${name}: ${messageOf(thrown)}` }),
      );
    },
    open,
    run: (seed, files) =>
      ask({ kind: "run", seed, files, engine: new URL("./optional/ort.wasm.min.mjs", document.baseURI).href }),
    lie: (lie) => ask({ kind: "lie", ...lie }),
    players: (lie) => ({
      prepare: async (arityBits) => (await request({ kind: "prepare", arityBits, ...lie })).prepared,
      workerMove: async (state, now) => (await request({ kind: "workerMove", state, now })).move,
      watcherMove: async (moves, now) => (await request({ kind: "watcherMove", moves, now })).move,
    }),
    cancel: () => {
      // A thread cannot be interrupted but by its end: the model is opened again when it is asked for.
      stop();
      setState(({ model }) =>
        model === undefined ? {} : { model, error: "cancelled: open the model again to go on" },
      );
    },
  };
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : "it cannot be read");

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
    default:
      // Nobody waits for it any more.
      return before;
  }
}

const isAwaited = (answer: Answer): answer is Awaited =>
  answer.kind === "prepare" || answer.kind === "workerMove" || answer.kind === "watcherMove";

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
