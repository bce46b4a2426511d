/** The runner's input. */
export type Plan = {
  /** Tests, in the order in which they are to run. */
  files: readonly string[];
  mutants: readonly number[];
  /** Maximum number of tests tried on a mutant. */
  tries: number;
  /** The tests that killed other mutants, once per killed mutant. */
  killers: readonly string[];
  /** Whether a mutant is tried on all tests, because the contracts do not report the executing tests. */
  all: boolean;
  /** The file for the runner's `Reach`; read if present. */
  reach: string;
};

/** Which tests execute which mutants. */
export type Reach = {
  tests: Readonly<Record<string, { ids: readonly number[]; milliseconds: number }>>;
  /** The mutants executed by suites' set-ups; `titles` are the suites' tests. */
  suites: readonly { title: string; titles: readonly string[]; ids: readonly number[] }[];
  /** Tests that fail without a mutant, because they measure gas or size: they do not count. */
  failing: readonly string[];
};

/** A line of the runner's output. */
export type Report =
  | { kind: "fails"; title: string; message: string }
  | { kind: "begins"; id: number }
  /** killer: the test that failed. tests: how many execute the mutant. */
  | { kind: "ends"; id: number; tests: number; milliseconds: number; killer?: string | undefined };
