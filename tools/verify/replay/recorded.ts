import { existsSync, globSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "../instrument/run.ts";
import { readRecording } from "./calls.ts";

/** Contracts without state, and the tests that call nothing else. */
export const STATELESS = /^contracts\/(verifier\/|merkle\/PositionalMerkle)/;
const TESTS = ["test/contracts/merkle/**/*.test.ts", "test/contracts/verifier/**/*.test.ts"];

/**
 * Records the tests' calls to contracts without state, on the unchanged contracts.
 * @param folder The recording's folder.
 * @param kept A recording's path; made if missing.
 * @returns The absolute path.
 * @throws Error if a test fails.
 */
export async function recorded(folder: string, kept?: string): Promise<string> {
  const output = resolve(kept ?? join(folder, "calls.jsonl"));
  if (kept !== undefined && existsSync(output)) return output;
  console.log("recording the calls of the verifier's tests");
  const lines: string[] = [];
  const files = [...new Set(TESTS.flatMap((glob) => globSync(glob).sort()))];
  const status = await run(
    ".",
    "node",
    ["tools/verify/replay/record.ts", output, ...files],
    (line) => void lines.push(line),
  );
  if (status !== 0) throw new Error(`the tests cannot be recorded:\n${lines.slice(-40).join("\n")}`);
  console.log(`${readRecording(output).calls.length} calls recorded`);
  return output;
}

/** The files that a recording needs built. */
export function filesOf(recording: string): string[] {
  const { chains, calls } = readRecording(recording);
  const contracts = [...chains.flat(), ...calls].map(({ contract }) => contract.split(":")[0]!);
  return [...new Set(contracts)];
}
