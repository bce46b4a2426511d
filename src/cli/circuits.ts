import type { Command } from "commander";
import type { Circuit } from "../circuits/circuit.ts";
import { compileCircuit, type ProgramCircuit } from "../circuits/compileCircuit.ts";
import { subjectOf } from "../circuits/circuitHash.ts";
import { FileError, readRegularFile } from "../base/regularFile.ts";
import { CircuitRefusalError, KeyFileError } from "../circuits/errors.ts";
import type { Curve } from "../circuits/groth16/curve.ts";
import { readKey, type KeyFile } from "../circuits/groth16/keyFile.ts";
import type { KeySubject } from "../circuits/groth16/keys.ts";
import { powersFault, readPowers, type Powers } from "../circuits/groth16/powers.ts";
import { logRows } from "../circuits/groth16/rows.ts";
import { domainOf } from "../circuits/report.ts";
import type { Domain } from "../circuits/words.ts";
import type { KnownProgram } from "../dispute/run/execution.ts";
import { NegativeVerdict, UsageError } from "./errors.ts";
import { requireName } from "./inputs.ts";
import { appendEntry, modelOptions, modelSpec, seedOption, type ModelOptions } from "./modelOptions.ts";
import { loadProgram } from "./models.ts";
import type { Output } from "./output.ts";
import { as, whole } from "./parse.ts";
import { parseRange } from "./commands/model/ranges.ts";

/** The flags that describe a circuit. */
export type CircuitOptions = ModelOptions & { range?: Record<string, { low: number; high: number }>; binades: number };

/** Powers of two between an input's largest magnitude and the smallest. */
const BINADES = 21;
const MAX_BINADES = 100;

/** Adds the flags that describe a circuit. */
export const circuitOptions = (command: Command): Command =>
  seedOption(
    modelOptions(
      command
        .option(
          "--range <input=least:largest>",
          "numbers of a float32 input (default: -1:1); repeat for more",
          appendEntry(parseRange),
        )
        .option(
          "--binades <n>",
          "powers of two between the largest magnitude of an input and the smallest, 0 apart",
          as(whole(1, MAX_BINADES), "--binades"),
          BINADES,
        ),
    ),
  );

type Loaded = ReturnType<typeof loadProgram>;

/** A program with the domains of its inputs, by the flags. @throws UsageError */
export function loadDomains(
  path: string,
  options: CircuitOptions,
  output: Output,
): KnownProgram & Pick<Loaded, "loaded"> & { domains: Domain[] } {
  const program = loadProgram(modelSpec(path, options), output);
  const names = program.model.inputs.map(({ name }) => name);
  const { range = {}, binades } = options;
  for (const name of Object.keys(range)) requireName(names, name);
  const domains = judged(path, () => names.map((name) => domainOf(range[name] ?? { low: -1, high: 1 }, binades)));
  return { ...program, domains };
}

/** A program, the program's circuit, and words for a key. @throws NegativeVerdict for a program without one */
export function loadCircuit(
  path: string,
  options: CircuitOptions,
  output: Output,
): ReturnType<typeof loadDomains> & { circuit: ProgramCircuit; subject: KeySubject } {
  const program = loadDomains(path, options, output);
  const circuit = judged(path, () => compileCircuit(program.model, program.domains));
  return { ...program, circuit, subject: subjectOf(program.model.programRoot, circuit) };
}

/**
 * Reads the key that `--key` names.
 * @param read `readBegunKey` to contribute.
 * @throws UsageError for a file without a key, or with a key by which anybody could prove anything
 */
export function loadKey(curve: Curve, path: string, read: typeof readKey = readKey): KeyFile {
  try {
    return read(curve, readRegularFile(path));
  } catch (cause) {
    if (cause instanceof KeyFileError) throw new UsageError(`--key ${path}: ${cause.message}`, { cause });
    if (cause instanceof FileError) throw new UsageError(`--key ${path}: the file ${cause.message}`, { cause });
    throw cause;
  }
}

/** Reads the powers for a circuit that `--powers` names. @throws UsageError */
export function loadPowers(curve: Curve, path: string, circuit: Circuit): Powers {
  const powers = readPowers(curve, path, logRows(circuit));
  const fault = powersFault(curve, powers);
  if (fault !== undefined) throw new UsageError(`--powers ${path}: ${fault}: give another file`);
  return powers;
}

/** @throws NegativeVerdict in the place of a refusal */
export function judged<T>(path: string, judge: () => T): T {
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof CircuitRefusalError)) throw error;
    throw new NegativeVerdict(`${path}: ${error.message}`, { cause: error });
  }
}
