import { challengerMove } from "../../src/dispute/challengerMove.ts";
import { workerMove } from "../../src/dispute/workerMove.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { installGlobals } from "../platform/globals.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { Answer, Ask, Opening } from "./messages.ts";
import { drawInputs, openModel, outputViews, runExactly, worthChanging, type Exact, type Opened } from "./engine.ts";
import { changedSides, openingOf, playDispute, type Sides } from "./dispute.ts";
import { decodePicture } from "./decodePicture.ts";
import { exactly, type Exactly } from "./execute.ts";
import { givenInputs } from "./inputs.ts";
import { runPlainly } from "./plain.ts";

/** What of a worker's global object is used: the page's types know that of a window. */
type Scope = { postMessage: (answer: Answer) => void; onmessage: ((event: MessageEvent<Ask>) => void) | null };

installGlobals();
const scope = self as unknown as Scope;

/** Milliseconds between two reports. */
const PAUSE_MS = 50;

let bytes: Uint8Array | undefined;
let opened: Opened | undefined;
let how: Promise<Exactly> | undefined;
let exact: Exact | undefined;

/** A dispute that is played on a chain: this thread says what both sides do, the page sends it. */
let onChain: (Opening & { sides: Sides; arityBits: number }) | undefined;
let told = 0;

function progress(what: string, done: number, total: number): void {
  const now = performance.now();
  if (now - told < PAUSE_MS && done < total) return;
  told = now;
  scope.postMessage({ kind: "progress", what, done, total });
}

/** What executes the model: made once, and again if making failed. */
async function executorOf(compiled: CompiledModel): Promise<Exactly> {
  if (how === undefined) progress("making kernels", 0, 1);
  how ??= exactly(compiled);
  try {
    return await how;
  } catch (error) {
    how = undefined;
    throw error;
  }
}

async function answer(ask: Ask): Promise<Answer> {
  if (ask.kind === "close") {
    await (await how)?.close();
    return { kind: "closed" };
  }
  if (ask.kind === "open") {
    bytes = ask.bytes;
    opened = openModel(ask.name, ask.bytes, ask.shapes, progress);
    return { kind: "opened", opened: opened.view };
  }
  if (ask.kind === "check") {
    // What makes tokens of texts is fetched only here.
    const { checkReceipt } = await import("../text/checkReceipt.ts");
    return { kind: "checked", checked: await checkReceipt(ask, progress) };
  }
  if (ask.kind === "workerMove" || ask.kind === "watcherMove") return moveOf(ask);
  const compiled = opened?.compiled;
  if (compiled === undefined || bytes === undefined) throw new Error("no model is open");
  if (ask.kind === "run") {
    const inputs = drawInputs(compiled, await givenInputs(compiled, ask.files, decodePicture), ask.seed);
    const executor = await executorOf(compiled);
    const start = performance.now();
    exact = await runExactly(compiled, executor, inputs, progress);
    const milliseconds = performance.now() - start;
    const plain = await runPlainly(ask.engine, bytes, compiled, exact.inputs);
    const outputs = outputViews(exact, "outputs" in plain ? plain.outputs : undefined);
    return { kind: "ran", ran: { by: executor.by, outputs, milliseconds, plain, worth: worthChanging(exact) } };
  }
  if (exact === undefined) throw new Error("nothing was executed yet");
  if (ask.kind === "lie") return { kind: "played", played: await playDispute(exact, ask, progress) };
  const { arityBits } = ask;
  const sides = await changedSides(exact, ask, progress);
  const opening = openingOf(sides, arityBits);
  onChain = { ...opening, sides, arityBits };
  const { program, inputs } = exact;
  return { kind: "prepare", prepared: { ...opening, description: describeProgram(program), inputs } };
}

function moveOf(ask: Ask & { kind: "workerMove" | "watcherMove" }): Answer {
  if (onChain === undefined) throw new Error("no dispute is played");
  const { sides, nodes, arityBits } = onChain;
  return ask.kind === "workerMove"
    ? { kind: "workerMove", move: workerMove(sides.worker, ask.state, arityBits, ask.now) }
    : { kind: "watcherMove", move: challengerMove(sides.watcher, nodes, ask.moves, arityBits, ask.now) };
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
