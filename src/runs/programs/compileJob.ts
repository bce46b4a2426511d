import type { Hash } from "../../program/merkle/hash.ts";
import type { Cached } from "./programCache.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";

/** A request to a compiling process. */
export type CompileJob = {
  spec: ModelSpec;
  /** Where the compilation is stored; if that fails, the next one. */
  folders: readonly string[];
  /** The root that the program must have; any if absent. */
  expectedRoot?: Hash | undefined;
  /** The process ends itself if it holds more bytes. */
  maxBytes: number;
};

/** The compiling process's answer. */
export type CompileAnswer =
  | { kind: "done"; cached: Cached; folder: string; unwritable?: string }
  | { kind: "other root"; root: Hash }
  | { kind: "refused"; code: string; reason: string };
