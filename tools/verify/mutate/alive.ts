/** The active mutant's state, shared by the runner and the tests in one process. */
type Alive = {
  id: number;
  /** Titles of suites whose set-up executes the mutant: their worlds must be made with the mutant. */
  fresh: ReadonlySet<string>;
  /** Whether chains opened under the mutant are kept for later mutants. */
  keep: boolean;
  /** Worlds made with the mutant, by their makers. */
  worlds: Map<unknown, unknown>;
  /** The coinbase that holds the mutant's id: see Mutants.sol. */
  coinbase: () => `0x${string}`;
};

const BASE = 0x4d757461740000000000n;

/** The coinbase that holds a mutant's id: see Mutants.sol. */
export const coinbaseOf = (id: number): `0x${string}` => `0x${(BASE + BigInt(id)).toString(16).padStart(40, "0")}`;

// The runner's and the tests' copies of the module share a single state.
const place = globalThis as unknown as { refuteMutant?: Alive };
export const alive = (place.refuteMutant ??= {
  id: 0,
  fresh: new Set(),
  keep: false,
  worlds: new Map(),
  coinbase(): `0x${string}` {
    return coinbaseOf(this.id);
  },
});
