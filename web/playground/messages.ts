import type { Address, Hex } from "viem";
import type { ChallengerMove } from "../../src/dispute/challengerMove.ts";
import type { WorkerMove } from "../../src/dispute/workerMove.ts";
import type { CheckReport } from "../../src/examine/check/report.ts";
import type { MoveRecord } from "../../src/chain/market/history.ts";
import type { GameState } from "../../src/chain/market/state.ts";
import type { TensorInfo } from "../../src/program/compiled.ts";
import type { ProgramDescription } from "../../src/parties/requester/description.ts";
import type { LastSum } from "../explorer/lastSum.ts";
import type { Receipt } from "../../src/parties/gateway/receiptForm.ts";
import type { Exactly } from "./execute.ts";
import type { Pick } from "../../src/chain/structs.ts";

/** A node of a model's graph, as the page draws it. */
export type GraphNode = {
  name: string;
  operator: string;
  /** The numbers of the nodes whose results it reads. */
  reads: readonly number[];
  /** Why it is refused. */
  refusal: string | undefined;
};

/** A step of the compiled program. */
export type StepView = {
  operator: string;
  node: string;
  dtype: string;
  count: number;
  bytes: number;
  /** Of the proof of one of its numbers. */
  gas: number;
  isCheckpoint: boolean;
};

/** A graph input: what the model says of its shape, with `?` where it leaves it open. */
export type InputView = { name: string; dtype: string; shape: string };

/** A model that was opened, and compiled if it could be. */
export type OpenedModel = {
  report: CheckReport;
  inputs: readonly InputView[];
  graph: readonly GraphNode[];
  /** Empty if the model is refused, as is what follows. */
  steps: readonly StepView[];
  /** The inputs as the compiled program takes them. */
  taken: readonly InputView[];
  outputs: readonly TensorInfo[];
};

/** An output, exact and in plain onnxruntime. */
export type OutputView = {
  name: string;
  dtype: string;
  shape: readonly number[];
  /** All elements. */
  count: number;
  /** Of those that differ; undefined without a plain execution. */
  differing: number | undefined;
  /** How far the furthest of them is off, in last places; undefined where there is no such distance. */
  furthest: number | undefined;
  elements: readonly ElementView[];
};

/** One element, as a number and as its bits from the highest. */
export type ElementView = { index: number; exact: string; bits: string; plain?: { text: string; bits: string } };

/** An execution, and how it was made. `milliseconds` of the plain one are there if it could be made. */
export type Ran = {
  by: Exactly["by"];
  outputs: readonly OutputView[];
  milliseconds: number;
  plain: { milliseconds: number } | { why: string };
  worth: Worth;
};

/** Numbers worth changing: a step to begin with, and a number of each step, of which a zero says little. */
export type Worth = { step: number; elements: readonly number[] };

/** What was changed, and the dispute about it. */
export type Played = {
  moves: readonly MoveRecord[];
  step: number;
  element: number;
  /** The words of the element, and the sum written out. */
  claimed: bigint;
  exact: bigint;
  sum: LastSum | undefined;
  roots: { own: Hex; claimed: Hex };
};

/** A file that somebody gives as an input. */
export type InputFile = { name: string; bytes: Uint8Array };

/** What a job needs of an execution in which a number is changed, and how the dispute about it begins. */
export type Prepared = Opening & { description: ProgramDescription; inputs: readonly Uint8Array[] };

/** What the page asks of the worker. */
export type Ask =
  | { kind: "open"; name: string; bytes: Uint8Array; shapes: Readonly<Record<string, readonly number[]>> }
  | { kind: "run"; seed: number; files: Readonly<Record<string, InputFile>>; engine: string | undefined }
  | ({ kind: "lie" } & Lie)
  | ({ kind: "prepare"; arityBits: number } & Lie)
  | { kind: "workerMove"; state: GameState; now: bigint }
  | { kind: "watcherMove"; moves: readonly MoveRecord[]; now: bigint }
  | ({ kind: "check" } & ReceiptCheck)
  /** The thread's last task: its GPU is closed. */
  | { kind: "close" };

/** What the worker answers. */
export type Answer =
  | { kind: "progress"; what: string; done: number; total: number }
  | { kind: "opened"; opened: OpenedModel }
  | { kind: "ran"; ran: Ran }
  | { kind: "played"; played: Played }
  | { kind: "prepare"; prepared: Prepared }
  | { kind: "workerMove"; move: WorkerMove }
  | { kind: "watcherMove"; move: ChallengerMove }
  | { kind: "checked"; checked: CheckedReceipt }
  | { kind: "failed"; message: string }
  | { kind: "closed" };

/** A receipt of a text, and what it is compared with. */
export type ReceiptCheck = {
  receipt: Receipt;
  /** The body that was sent. */
  body: unknown;
  /** Files of the model and around it, in any order. */
  files: readonly InputFile[];
  /** Of the decoder: rows of its caches. */
  slots: number;
  /** Who signed each block; undefined for what is no signature. */
  signers: readonly (Address | undefined)[];
};

/** A receipt that fits its request, its files and its signatures, and was executed again. */
export type CheckedReceipt = {
  by: Exactly["by"];
  /** The first block whose worker lied; undefined if all are right. */
  lie: number | undefined;
  milliseconds: number;
};

/** Which number is changed. */
export type Lie = { step: number; element: number };

/** What the worker submits, and where the watcher opens a dispute about it. */
export type Opening = { nodes: Hex; pick: Pick };
