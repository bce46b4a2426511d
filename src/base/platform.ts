import { endianness } from "node:os";
import { errorWithCode } from "./errors.ts";

/** This machine, operating system or Node cannot compute what the protocol defines, or nobody has tried whether. */
export class CannotRunHereError extends errorWithCode("CANNOT_RUN_HERE") {}

/** Where a process runs. */
export type Platform = {
  /** Node's version, from `process.versions.node`. */
  node: string;
  /** `process.platform`: `linux`, `darwin`, `win32` and others. */
  system: string;
  /** `process.arch`: `x64`, `arm64` and others. */
  architecture: string;
  endianness: "LE" | "BE";
  /** Whether WebAssembly can be compiled at all. `--jitless` turns it off. */
  webAssembly: boolean;
  /** Whether WebAssembly has vectors of 128 bits: on x64 they need SSE 4.1. */
  vectors: boolean;
};

/** A module of WebAssembly with a function that gives a vector of 16 zeros. */
const VECTOR_MODULE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0],
  ...[1, 5, 1, 96, 0, 1, 123],
  ...[3, 2, 1, 0],
  ...[10, 8, 1, 6, 0, 65, 0, 253, 15, 11],
);

/**
 * The first Node versions whose addons accept views of shared memory (nodejs/node#59071): matrix products are computed
 * in shared memory. The lines between lack the feature, and all later lines have it. `engines` in package.json lists
 * the same versions.
 */
export const FIRST_VERSIONS: readonly (readonly [line: number, minor: number])[] = [
  [22, 21],
  [24, 9],
];

/** The systems on which all tests pass. */
const TRIED = ["linux x64"];
/** The systems for which onnxruntime-node has a library. */
const BUILT = [...TRIED, "linux arm64", "darwin arm64", "win32 x64", "win32 arm64"];

/** Where this process runs. */
export const thisPlatform = (): Platform => ({
  node: process.versions.node,
  system: process.platform,
  architecture: process.arch,
  endianness: endianness(),
  webAssembly: typeof WebAssembly === "object",
  vectors: typeof WebAssembly === "object" && WebAssembly.validate(VECTOR_MODULE),
});

/** Refuses a platform on which no command works. @throws CannotRunHereError */
export function requirePlatform(platform: Platform): void {
  const { node, system, architecture, endianness, webAssembly, vectors } = platform;
  if (!isNewEnough(node))
    throw new CannotRunHereError(
      `Node ${node} cannot run Refute: its addons do not take shared memory; use Node 22.21 or newer of the line 22, ` +
        "or 24.9 or newer",
    );
  if (endianness !== "LE")
    throw new CannotRunHereError("tensors are little-endian, this machine is big-endian; use another machine");
  if (!webAssembly)
    throw new CannotRunHereError("this Node has no WebAssembly; run it without --jitless (also in NODE_OPTIONS)");
  if (!vectors)
    throw new CannotRunHereError(
      "WebAssembly has no vectors of 128 bits (SIMD) on this processor, or Node's options turn them off; on x64 they " +
        "need SSE 4.1: use a newer processor",
    );
  if (!BUILT.includes(`${system} ${architecture}`))
    throw new CannotRunHereError(
      `onnxruntime-node has no library for ${system} ${architecture}; it has one for ${BUILT.join(", ")}`,
    );
}

/**
 * Refuses a platform on which nobody has tested whether executions produce the right bits, for users who stake money on
 * executions.
 * @param how The words that explain how to run on the platform anyway.
 * @throws CannotRunHereError
 */
export function requireTriedPlatform({ system, architecture }: Platform, how: string): void {
  const name = `${system} ${architecture}`;
  if (!TRIED.includes(name))
    throw new CannotRunHereError(
      `${name} is not tried: a wrong execution would cost stake or a bond; use ${TRIED.join(" or ")}, or ${how}`,
    );
}

/**
 * Explains why a module could not be loaded.
 * @returns undefined if no native addon was the cause
 */
export function addonFailure(cause: unknown): CannotRunHereError | undefined {
  const { code, message } = cause as { code?: string; message?: string };
  const isAddon =
    code === "ERR_DLOPEN_FAILED" || (code === "MODULE_NOT_FOUND" && message?.includes("onnxruntime_binding") === true);
  if (!isAddon) return undefined;
  const [line] = message!.split("\n");
  return new CannotRunHereError(
    `onnxruntime cannot be loaded: ${line}; it needs a system with glibc 2.28 or newer on Linux, and a complete ` +
      "install of the package onnxruntime-node",
    { cause },
  );
}

function isNewEnough(version: string): boolean {
  const [line = 0, minor = 0] = version.split(".").map(Number);
  const [newest] = FIRST_VERSIONS.at(-1)!;
  return line > newest || FIRST_VERSIONS.some(([first, min]) => line === first && minor >= min);
}
