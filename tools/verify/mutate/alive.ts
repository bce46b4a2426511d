/** What the runner and the tests of one process know of the mutant that is alive. */
type Alive = {
  id: number;
  /** Titles of the suites whose set-up passes the mutant, so that their worlds must be made with it. */
  fresh: ReadonlySet<string>;
  /** Whether chains that are opened now outlive the mutant. */
  keep: boolean;
  /** Worlds made with the mutant, by how they are made. */
  worlds: Map<unknown, unknown>;
  /** The coinbase that says the mutant's id: see Mutants.sol. */
  coinbase: () => `0x${string}`;
};

const BASE = 0x4d757461740000000000n;

/** The coinbase that says a mutant's id: see Mutants.sol. */
export const coinbaseOf = (id: number): `0x${string}` => `0x${(BASE + BigInt(id)).toString(16).padStart(40, "0")}`;

// Two copies of this module, the runner's and the tests', share one state.
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
