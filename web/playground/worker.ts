import { installGlobals } from "../platform/globals.ts";
import type { Answer, Ask } from "./protocol.ts";
import { openModel, outputViews, runExactly, type Exact, type Opened } from "./engine.ts";
import { playDispute } from "./dispute.ts";
import { runPlainly } from "./plain.ts";

/** What of a worker's global object is used: the page's types know that of a window. */
type Scope = { postMessage: (answer: Answer) => void; onmessage: ((event: MessageEvent<Ask>) => void) | null };

installGlobals();
const scope = self as unknown as Scope;
/** Milliseconds between two reports. */
const PAUSE_MS = 50;

let bytes: Uint8Array | undefined;
let opened: Opened | undefined;
let exact: Exact | undefined;
let told = 0;

function progress(what: string, done: number, total: number): void {
  const now = performance.now();
  if (now - told < PAUSE_MS && done < total) return;
  told = now;
  scope.postMessage({ kind: "progress", what, done, total });
}

async function answer(ask: Ask): Promise<Answer> {
  if (ask.kind === "open") {
    bytes = ask.bytes;
    opened = openModel(ask.name, ask.bytes, ask.shapes, progress);
    return { kind: "opened", opened: opened.view };
  }
  const compiled = opened?.compiled;
  if (compiled === undefined || bytes === undefined) throw new Error("no model is open");
  if (ask.kind === "run") {
    const start = performance.now();
    exact = runExactly(compiled, ask.seed, progress);
    const milliseconds = performance.now() - start;
    const plain = await runPlainly(ask.engine, bytes, compiled, exact.inputs);
    const outputs = outputViews(exact, "outputs" in plain ? plain.outputs : undefined);
    return { kind: "ran", ran: { outputs, milliseconds, plain } };
  }
  if (exact === undefined) throw new Error("nothing was executed yet");
  return { kind: "played", played: playDispute(exact, ask, progress) };
}

scope.onmessage = ({ data }) => {
  answer(data).then(
    (given) => scope.postMessage("ran" === given.kind ? withoutBytes(given) : given),
    (error: unknown) =>
      scope.postMessage({ kind: "failed", message: error instanceof Error ? error.message : String(error) }),
  );
};

/** The page is told how the plain execution went, not its bytes. */
function withoutBytes(given: Answer & { kind: "ran" }): Answer {
  const { plain } = given.ran;
  const told = "milliseconds" in plain ? { milliseconds: plain.milliseconds } : plain;
  return { kind: "ran", ran: { ...given.ran, plain: told } };
}
